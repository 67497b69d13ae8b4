import pytest

from dray.authoring.expressionslips import mend_slips


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('device.driver = "a.b"', 'device.driver == "a.b"'),
        ('device.driver === "a.b"', 'device.driver == "a.b"'),
        ('device.driver <> "a.b"', 'device.driver != "a.b"'),
        ("a and b OR not c", "a && b || !c"),
        ("a & b | c", "a && b || c"),
        ("x == True || y == FALSE", "x == true || y == false"),
        ('driver == "a.b"', 'device.driver == "a.b"'),
        ('Device.attributes["a.b"].c', 'device.attributes["a.b"].c'),
        ("device.attributes[a-1.b].c == 'x'", "device.attributes['a-1.b'].c == 'x'"),
        ("device.driver == a-1.b", 'device.driver == "a-1.b"'),
        ("device.driver == \u201ca.b\u201d", 'device.driver == "a.b"'),
    ],
)
def test_words_of_other_languages_are_mended_once(text: str, want: str) -> None:
    mended, messages = mend_slips(text)
    assert mended == want
    assert messages
    assert mend_slips(mended) == (want, [])


@pytest.mark.parametrize(
    "text",
    [
        'device.driver == "and = or"',
        'device.attributes["a.b"].driver == "c"',
        '["a"].exists(driver, driver == device.driver)',
        "device.attributes['a.b'].ready && !(device.capacity['a.b'].x.isLessThan(quantity('1')))",
        'device.attributes["a.b"].x <= 3',
    ],
)
def test_sound_expression_is_left_alone(text: str) -> None:
    assert mend_slips(text) == (text, [])
