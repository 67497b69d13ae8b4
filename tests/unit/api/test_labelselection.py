from dray.api.labelselection import selects
from dray.api.meta import LabelSelector, LabelSelectorRequirement


def test_all_conditions_must_hold() -> None:
    requirement = LabelSelectorRequirement(key="tier", operator="In", values=("front", "back"))
    selector = LabelSelector(match_labels={"app": "a"}, match_expressions=(requirement,))
    assert selects(selector, {"app": "a", "tier": "back"})
    assert not selects(selector, {"app": "a"})
    assert not selects(selector, {"app": "b", "tier": "back"})


def test_an_empty_selector_selects_everything_and_an_absent_one_nothing() -> None:
    assert selects(LabelSelector(), {})
    assert not selects(None, {"app": "a"})
