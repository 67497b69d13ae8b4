import pytest
import typer

from dray.cli.targets import Target, parse_targets


@pytest.mark.parametrize(
    ("words", "want"),
    [
        (["pods"], [Target("pods")]),
        (["pods,nodes"], [Target("pods"), Target("nodes")]),
        (["pod", "a", "b"], [Target("pod", ("a", "b"))]),
        (["pod/a", "node/b"], [Target("pod", ("a",)), Target("node", ("b",))]),
    ],
)
def test_what_is_meant(words: list[str], want: list[Target]) -> None:
    assert parse_targets(words) == want


@pytest.mark.parametrize("words", [["pod/a", "b"], ["pod/"], ["/a"], ["a/b/c"], [","]])
def test_what_cannot_be_told_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as left:
        parse_targets(words)
    assert left.value.exit_code == 2
    assert "try:" in capsys.readouterr().err
