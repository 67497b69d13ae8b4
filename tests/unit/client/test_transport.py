import pytest

from dray.client.transport import read_warnings


@pytest.mark.parametrize(
    ("headers", "want"),
    [
        ([], []),
        (['299 - "v1beta1 is deprecated"'], ["v1beta1 is deprecated"]),
        (['299 - "says \\"no\\" and \\\\"', '299 - "again"'], ['says "no" and \\', "again"]),
        (['299 - "one", 299 proxy.example "two"'], ["one", "two"]),
        (['110 proxy.example "stale"', "nonsense", '299 - "unended'], []),
    ],
)
def test_warnings_are_read_as_kubectl_prints_them(headers: list[str], want: list[str]) -> None:
    assert list(read_warnings(headers)) == want
