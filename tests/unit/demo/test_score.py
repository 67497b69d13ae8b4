from dray.demo.score import Result, render_score

RESULTS = [Result(f"{number}", f"case {number}", facts=3) for number in range(11)]


def test_score_stands_beside_that_of_kubernetes() -> None:
    assert render_score([*RESULTS, Result("12", "the last", problem="it did not")]) == (
        "Kubernetes 1.30  ############............  6 of 12\n"
        "Kubernetes 1.31  ##################......  9 of 12\n"
        "Kubernetes 1.33  ######################.. 11 of 12, as planned\n"
        "dray             ######################.. 11 of 12\n"
    )


def test_all_twelve_fill_the_bar() -> None:
    last = render_score([*RESULTS, Result("12", "the last", facts=1)]).splitlines()[-1]
    assert last == "dray             ######################## 12 of 12"
