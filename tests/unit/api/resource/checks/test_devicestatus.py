import pytest

from dray.api.resource.checks.devicestatus import _canonical_address


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("10.9.8.7/24", "10.9.8.7/24"),
        ("10.9.8.0/024", "10.9.8.0/24"),
        ("010.009.008.000/24", "10.9.8.0/24"),
        ("2001:DB8::1/64", "2001:db8::1/64"),
        ("2001:db8:0::1/64", "2001:db8::1/64"),
        ("::ffff:10.0.0.1/120", "10.0.0.1/24"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("::/0", "::/0"),
    ],
)
def test_address_is_read(text: str, want: str) -> None:
    assert _canonical_address(text) == want


@pytest.mark.parametrize(
    "text",
    ["", "/", "10.0.0.1", "10.0.0.1/", "10.0.0.1/33", "10.0.0/24", "10.0.0.256/24", "10.0.0.1/+8", "fe80::1%eth0/64",
     "::1/129", "a/8", "10.0.0.1/255.0.0.0", "10.0.0.1/8/8", "::ffff:10.0.0.1/64"],
)  # fmt: skip
def test_text_is_no_address(text: str) -> None:
    assert _canonical_address(text) is None
