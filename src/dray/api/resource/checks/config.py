"""Opaque configuration for drivers, and raw JSON in general."""

from collections.abc import Sequence

import msgspec

from dray.api.resource.checks.lists import fits
from dray.api.resource.checks.names import check_declared_driver_name
from dray.api.resource.checks.references import RequestNames, inspect_references
from dray.api.resource.checks.report import Report
from dray.api.resource.claim import DeviceClaimConfiguration
from dray.api.resource.request import OpaqueDeviceConfiguration
from dray.errors import FieldError, invalid, required, too_long
from dray.values.fieldpath import FieldPath

__all__ = ["MAX_CONFIGS", "check_raw_json", "inspect_claim_configs", "inspect_opaque"]

MAX_CONFIGS = 32
"""Configuration entries of one claim or class."""

_MAX_JSON_BYTES = 10 * 1024
_OMITTED = "<value omitted>"
_ANY_JSON = msgspec.json.Decoder()


def inspect_claim_configs(
    configs: Sequence[DeviceClaimConfiguration], names: RequestNames, path: FieldPath, report: Report
) -> None:
    """Every configuration of a claim is for requests that exist, and has contents."""
    if not configs or not fits(configs, MAX_CONFIGS, path, report.declare):
        return
    for index, config in enumerate(configs):
        inspect_references(config.requests, names, path / index / "requests", report)
        inspect_opaque(config.opaque, path / index / "opaque", report)


def inspect_opaque(
    opaque: OpaqueDeviceConfiguration | None, path: FieldPath, report: Report, *, is_stored: bool = False
) -> None:
    """Configuration has parameters for one driver. Stored ones may be longer than new ones: the limit came later."""
    if opaque is None:
        report.add(required(path, hint="add opaque, with driver and parameters"))
        return
    report.declare_all(check_declared_driver_name(opaque.driver, path / "driver"))
    report.add_all(check_raw_json(opaque.parameters, path / "parameters", is_stored=is_stored))


def check_raw_json(raw: msgspec.Raw, path: FieldPath, *, is_stored: bool = False) -> list[FieldError]:
    """Raw JSON is an object of at most 10 KiB, counted as it was sent."""
    text = bytes(raw)
    if not text or text == b"null":
        return [required(path, hint="give a JSON object; {} is one")]
    if len(text) > _MAX_JSON_BYTES and not is_stored:
        return [too_long(path, _MAX_JSON_BYTES, hint="keep the bulk in a ConfigMap and refer to it")]
    try:
        value = _ANY_JSON.decode(text)
    except msgspec.DecodeError as error:
        return [invalid(path, _OMITTED, f"error parsing data as JSON: {error}")]
    if isinstance(value, dict):
        return []
    return [invalid(path, _OMITTED, "must be a valid JSON object", hint="wrap the value in an object: {value: ...}")]
