import json

import pytest

from dray.api.resource.claim import ResourceClaim
from dray.api.strict import MAX_STRICT_FAULTS, StrictReader

READER = StrictReader(ResourceClaim)


def faults(text: str) -> list[str]:
    return [str(fault) for fault in READER.find_faults(text.encode())]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("{}", []),
        ('{"metadata": {"labels": {"a": "b"}}}', []),
        ('{"Metadata": {}}', ['unknown field "Metadata"']),
        ('{"metadata": {}, "metadata": {}}', ['duplicate field "metadata"']),
        ('{"bogus": 1, "bogus": 2}', ['unknown field "bogus"']),
        ('{"bogus": {"a": 1, "a": 2}}', ['unknown field "bogus"']),
        ('{"metadata": {"labels": {"a.b/c": "1", "a.b/c": "1"}}}', ['duplicate field "metadata.labels.a.b/c"']),
        ('{"metadata": {"labels": {"a": "1", "a": "1", "a": "1"}}}', ['duplicate field "metadata.labels.a"']),
        (
            '{"metadata": {"x": 1}, "spec": {"y": 1}, "metadata": {"z": 1}}',
            [
                'unknown field "metadata.x"',
                'unknown field "spec.y"',
                'duplicate field "metadata"',
                'unknown field "metadata.z"',
            ],
        ),
        (
            '{"spec": {"devices": {"requests": [{}, {"exactly": {"selectors": [{"cel": {"x": 1}}]}}]}}}',
            ['unknown field "spec.devices.requests[1].exactly.selectors[0].cel.x"'],
        ),
        ('{"metadata": {"a\\nb": 1}}', ['unknown field "metadata.a\\nb"']),
    ],
)
def test_faults_come_in_the_order_of_the_text(text: str, want: list[str]) -> None:
    assert faults(text) == want


def test_raw_json_is_not_looked_into() -> None:
    text = '{"spec": {"devices": {"config": [{"opaque": {"parameters": {"a": 1, "a": 2, "b": {"c": 3}}}}]}}}'
    assert faults(text) == []


@pytest.mark.parametrize("number", ["1e999", "-1e400", "9" * 400, "1e-999"])
def test_numbers_of_raw_json_may_be_of_any_size(number: str) -> None:
    parameters = f'{{"a": {number}}}'
    assert faults(f'{{"spec": {{"devices": {{"config": [{{"opaque": {{"parameters": {parameters}}}}}]}}}}}}') == []


@pytest.mark.parametrize("label", ['say \\":hi\\":', "\\u0022: x", "ends with a backslash \\\\", "1.0", "é"])
def test_values_that_look_like_keys_are_no_faults(label: str) -> None:
    assert faults(f'{{"metadata": {{"labels": {{"a": "{label}", "{label}": "b"}}}}}}') == []


@pytest.mark.parametrize("label", ['\\":', "\\u0022:"])
def test_a_repeated_key_is_found_beside_quotes_in_values(label: str) -> None:
    text = f'{{"metadata": {{"annotations": {{"a": "{label}", "a": "{label}{label}"}}}}}}'
    assert faults(text) == ['duplicate field "metadata.annotations.a"']


def test_counting_stops_somewhere() -> None:
    assert len(faults(json.dumps({f"field{number}": 1 for number in range(300)}))) == MAX_STRICT_FAULTS


def test_a_misspelt_field_comes_with_a_hint() -> None:
    (fault,) = READER.find_faults(b'{"spec": {"devices": {"request": []}}}')
    assert fault.hint == "did you mean requests?"
    (fault,) = READER.find_faults(b'{"Spec": {}}')
    assert fault.hint == "did you mean spec?"
