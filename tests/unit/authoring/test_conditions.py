import pytest

from dray.authoring.conditions import find_contradiction, list_conditions

M = 'device.capacity["a.b"].memory'
A = 'device.attributes["a.b"]'


def at_least(amount: str) -> str:
    return f'{M}.compareTo(quantity("{amount}")) >= 0'


@pytest.mark.parametrize(
    "texts",
    [
        [at_least("80Gi"), f'{M}.compareTo(quantity("40Gi")) < 0'],
        [f'{at_least("80Gi")} && {M}.isLessThan(quantity("80Gi"))'],
        [f'quantity("80Gi") < {M}', f'{M}.compareTo(quantity("80Gi")) == 0'],
        ['device.driver == "a.b"', 'device.driver == "c.d"'],
        [f'{A}.model == "x" && ({A}.model != "x")'],
        [f"{A}.ready", f"!{A}.ready"],
        [f"{A}.index > 4", f"{A}.index <= 4"],
    ],
)
def test_conditions_that_exclude_each_other_are_found(texts: list[str]) -> None:
    assert find_contradiction(each for text in texts for each in list_conditions(text)) is not None


@pytest.mark.parametrize(
    "texts",
    [
        [at_least("40Gi"), f'{M}.compareTo(quantity("80Gi")) <= 0'],
        [at_least("40Gi"), f'{M}.compareTo(quantity("40Gi")) <= 0'],
        [f'{A}.model == "x" || {A}.model == "y"', f'{A}.model == "y"'],
        [f"{A}.index >= 4", f"{A}.other < 4"],
        [f'{A}.model == "x" ? true : false', f'{A}.model == "y"'],
        ["", "nonsense ((", "&&"],
    ],
)
def test_nothing_is_claimed_that_cannot_be_told(texts: list[str]) -> None:
    assert find_contradiction(each for text in texts for each in list_conditions(text)) is None
