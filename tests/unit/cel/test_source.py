from dray.cel.source import Place, Source, SourceFault, render_faults


def test_points_below_the_line() -> None:
    source = Source("a\nbc d")
    assert source.place(5) == Place(2, 3)
    assert render_faults(source, [SourceFault(source.place(5), "no d")]) == "ERROR: <input>:2:4: no d\n | bc d\n | ...^"


def test_sorts_faults_by_place() -> None:
    source = Source("abc")
    faults = [SourceFault(source.place(2), "c"), SourceFault(source.place(0), "a")]
    assert [line[-1] for line in render_faults(source, faults).split("\n") if line.startswith("ERROR")] == ["a", "c"]


def test_counts_faults_beyond_the_hundredth() -> None:
    source = Source("a")
    faults = [SourceFault(source.place(0), "x")] * 103
    lines = render_faults(source, faults).split("\n")
    assert sum(line.startswith("ERROR") for line in lines) == 100
    assert lines[-1] == "3 more errors were truncated"


def test_a_fault_of_no_place_quotes_nothing() -> None:
    source = Source("a")
    assert render_faults(source, [SourceFault(source.place(None), "too deep")]) == "ERROR: <input>:-1:0: too deep"


def test_wide_characters_are_followed_by_wide_dots() -> None:
    source = Source("é世x")
    assert render_faults(source, [SourceFault(source.place(2), "x")]).split("\n")[2] == " | \uff0e\uff0e^"
    assert render_faults(source, [SourceFault(source.place(1), "x")]).split("\n")[2] == " | \uff0e\uff3e"
