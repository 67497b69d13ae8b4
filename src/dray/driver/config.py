"""Configuration that claims and classes carry for a driver, decoded into the author's own types.

    class GpuConfig(DriverConfig):
        api_version = "gpu.example.com/v1"
        strategy: Literal["TimeSlicing", "Exclusive"] = "Exclusive"

Decoding is strict: a field that does not exist or comes twice, a wrong type, or a value that `__post_init__` refuses
(with ValueError) is an error that names the field, and the pod sees it.
"""

from typing import ClassVar

import msgspec

__all__ = ["DriverConfig"]


class DriverConfig(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Base of a driver's own configuration types: frozen, camelCase on the wire, unknown fields refused."""

    api_version: ClassVar[str]
    """`group/version` on the wire."""
    kind: ClassVar[str] = ""
    """`kind` on the wire. Empty means the name of the class."""
