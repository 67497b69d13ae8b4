import pytest

from dray.cel.judge import judge_derived_attribute, judge_selector


def test_a_sound_expression_has_a_cost_and_no_fault() -> None:
    verdict = judge_selector('device.attributes["d"].x > 1')
    assert (verdict.fault, verdict.cost, verdict.hint) == (None, 5, None)


def test_a_costly_expression_is_no_fault_of_the_language() -> None:
    verdict = judge_selector("[1,2,3,4,5,6,7,8,9,10].all(x, " * 7 + "true" + ")" * 7)
    assert verdict.fault is None
    assert verdict.cost > 1_000_000


def test_five_loops_stay_below_the_limit() -> None:
    verdict = judge_selector("[1,2,3,4,5,6,7,8,9,10].all(x, " * 5 + "true" + ")" * 5)
    assert verdict.cost < 1_000_000


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("device.nam", "device has the fields driver, attributes, capacity, allowMultipleAllocations"),
        ("device.drivr == 'x'", "did you mean device.driver?"),
        ("device.attribute['d'].x", "did you mean device.attributes?"),
        ("attributes['d'].x", "did you mean device.attributes?"),
        ("devise.driver == 'x'", "did you mean device?"),
        ("request.name == 'x'", "the only variable here is device"),
        ("isSemvr('1.0.0')", "did you mean isSemver?"),
        ("device.capacity['d'].m >= quantity('1')", 'use .compareTo(quantity("...")) >= 0'),
        ("device.capacity['d'].m > quantity('1')", 'use .isGreaterThan(quantity("..."))'),
        ("device.attributes['d'].v < semver('1.0.0')", 'use .isLessThan(semver("..."))'),
        ("device.capacity['d'].m.sign() == 1", "sign is a function: sign(quantity)"),
        ("has(device.attributes['d'])", 'has() takes a field, as in has(device.attributes["domain"].name)'),
        ("device.capacity['d'].m", 'compare it, as in .isGreaterThan(quantity("10Gi"))'),
        ("device.driver", "a selector answers yes or no: compare the value with something"),
        ("1 +", None),
    ],
)
def test_a_fault_comes_with_advice(expression: str, hint: str | None) -> None:
    verdict = judge_selector(expression)
    assert verdict.fault is not None
    assert verdict.hint == hint


def test_derived_attributes_have_rules_of_their_own() -> None:
    assert judge_derived_attribute("device.driver").fault is None
    fault = judge_derived_attribute("1.5").fault
    assert fault is not None
    assert fault.startswith("must evaluate to a primitive scalar")
