"""Names in this API group, as faults of a field.

Most names are checked by rules written in code. Those with `declared` in the name are checked by rules declared on the
field, which have wordings of their own; which field has which is upstream's choice.
"""

import re
from functools import lru_cache

from dray.errors import FieldError, invalid, required, too_long
from dray.values.fieldpath import FieldPath
from dray.values.names import (
    C_IDENTIFIER_MAX_LENGTH,
    DRIVER_NAME_MAX_LENGTH,
    LengthUnit,
    byte_length,
    c_identifier_faults,
    dns_label_faults,
    dns_subdomain_caseless_faults,
    dns_subdomain_faults,
    label_key_faults,
    label_value_faults,
    uuid_faults,
)

__all__ = [
    "check_class_name",
    "check_declared_class_name",
    "check_declared_driver_name",
    "check_declared_label",
    "check_declared_pool_name",
    "check_declared_subdomain",
    "check_driver_name",
    "check_fully_qualified_name",
    "check_label",
    "check_label_key",
    "check_label_value",
    "check_node_name",
    "check_pool_name",
    "check_qualified_name",
    "check_share_id",
    "check_subdomain_of_any_case",
    "shorten_key",
]

_MAX_POOL_NAME = 253
_MAX_SHOWN_KEY = DRIVER_NAME_MAX_LENGTH + 1 + C_IDENTIFIER_MAX_LENGTH
_UNQUALIFIED = "a fully qualified name must be a domain and a name separated by a slash"


_NOT_IN_LABEL = re.compile("[^a-z0-9]+")
_NOT_IN_SUBDOMAIN = re.compile("[^a-z0-9.]+")


def _faults(path: FieldPath, text: str, details: tuple[str, ...]) -> list[FieldError]:
    return [invalid(path, text, detail) for detail in details]


def _label_faults(path: FieldPath, text: str, details: tuple[str, ...]) -> list[FieldError]:
    hint = _suggest(text, _NOT_IN_LABEL) if details else None
    return [invalid(path, text, detail, hint=hint) for detail in details]


def _subdomain_faults(path: FieldPath, text: str, details: tuple[str, ...]) -> list[FieldError]:
    hint = _suggest(text, _NOT_IN_SUBDOMAIN) if details else None
    return [invalid(path, text, detail, hint=hint) for detail in details]


def _suggest(text: str, unwanted: re.Pattern[str]) -> str | None:
    """A name that the text may have been meant for: in lower case, with dashes for what names cannot have."""
    meant = unwanted.sub("-", text.lower()).strip("-.")
    return f"did you mean {meant}?" if meant and meant != text and not dns_subdomain_faults(meant) else None


def check_label(text: str, path: FieldPath) -> list[FieldError]:
    """Requests, devices and their like have DNS labels."""
    return _label_faults(path, text, dns_label_faults(text))


def check_declared_label(text: str, path: FieldPath) -> list[FieldError]:
    """Counters, their sets and compatibility groups have DNS labels."""
    return _label_faults(path, text, dns_label_faults(text, LengthUnit.BYTES))


def check_label_key(text: str, path: FieldPath) -> list[FieldError]:
    """Keys of taints and of node labels, and types of conditions."""
    return _faults(path, text, label_key_faults(text))


def check_label_value(text: str, path: FieldPath) -> list[FieldError]:
    """Values of taints and of node labels."""
    return _faults(path, text, label_value_faults(text))


def check_node_name(text: str, path: FieldPath) -> list[FieldError]:
    """Nodes are named by DNS subdomains."""
    return _subdomain_faults(path, text, dns_subdomain_faults(text))


def check_class_name(text: str, path: FieldPath) -> list[FieldError]:
    """An exact request names a class by a DNS subdomain. Whether the class exists is seen at allocation."""
    return _subdomain_faults(path, text, dns_subdomain_faults(text)) if text else [_class_required(path)]


def check_declared_class_name(text: str, path: FieldPath) -> list[FieldError]:
    """An alternative of a request names a class by a DNS subdomain."""
    return check_declared_subdomain(text, path) if text else [_class_required(path)]


def _class_required(path: FieldPath) -> FieldError:
    return required(path, hint="name a DeviceClass; `kubectl get deviceclasses` lists them")


def check_declared_subdomain(text: str, path: FieldPath) -> list[FieldError]:
    """A DNS subdomain, in the wording of declared rules."""
    return _subdomain_faults(path, text, dns_subdomain_faults(text, LengthUnit.BYTES))


def check_subdomain_of_any_case(text: str, path: FieldPath) -> list[FieldError]:
    """A DNS subdomain in letters of any case, which has to be given."""
    return _subdomain_faults(path, text, dns_subdomain_caseless_faults(text)) if text else [required(path)]


def check_driver_name(text: str, path: FieldPath) -> list[FieldError]:
    """Drivers are named by DNS subdomains of at most 63, in letters of any case."""
    if not text:
        return [required(path, hint="give the driver's name, such as gpu.example.com")]
    faults = _subdomain_faults(path, text, dns_subdomain_faults(text.lower()))
    if byte_length(text) > DRIVER_NAME_MAX_LENGTH:
        return [too_long(path, DRIVER_NAME_MAX_LENGTH), *faults]
    return faults


def check_declared_driver_name(text: str, path: FieldPath) -> list[FieldError]:
    """The same names in configuration and in allocation results."""
    faults = check_subdomain_of_any_case(text, path)
    if byte_length(text) > DRIVER_NAME_MAX_LENGTH:
        return [*faults, too_long(path, DRIVER_NAME_MAX_LENGTH, unit="characters")]
    return faults


def check_pool_name(text: str, path: FieldPath) -> list[FieldError]:
    """Pools are named by DNS subdomains joined by slashes, 253 together."""
    if not text:
        return [required(path, hint="give the pool's name, such as the node's for devices of a node")]
    faults = [too_long(path, _MAX_POOL_NAME)] if byte_length(text) > _MAX_POOL_NAME else []
    for segment in text.split("/"):
        faults += _faults(path, segment, dns_subdomain_faults(segment))
    return faults


def check_declared_pool_name(text: str, path: FieldPath) -> list[FieldError]:
    """The same names in allocation results and status requests; whether one must be given is the caller's business."""
    faults = [too_long(path, _MAX_POOL_NAME)] if byte_length(text) > _MAX_POOL_NAME else []
    for index, segment in enumerate(text.split("/")):
        details = dns_subdomain_faults(segment, LengthUnit.BYTES) if segment else ("must not be empty",)
        faults += [invalid(path, text, f"segment {index}: {detail}") for detail in details]
    return faults


def check_share_id(text: str, path: FieldPath) -> list[FieldError]:
    """Shares of a device are told apart by UUIDs."""
    return _faults(path, text, uuid_faults(text))


@lru_cache(maxsize=4096)
def _is_qualified_name(text: str) -> bool:
    """Whether a name is sound. Slices repeat the same few names for every device, so the answer is remembered."""
    domain, slash, name = text.rpartition("/")
    if "/" in domain:
        return True
    sound_domain = not slash or (len(domain) <= DRIVER_NAME_MAX_LENGTH and not dns_subdomain_faults(domain.lower()))
    return sound_domain and len(name) <= C_IDENTIFIER_MAX_LENGTH and not c_identifier_faults(name)


def check_qualified_name(text: str, path: FieldPath) -> list[FieldError]:
    """Attributes and capacities are named by C identifiers of at most 32, with or without a driver name before a slash.

    Faults are at `path`, that of the map. Upstream lets names with two slashes pass, and so do we.
    """
    if _is_qualified_name(text):
        return []
    domain, slash, name = text.rpartition("/")
    faults: list[FieldError] = []
    if slash:
        faults += check_driver_name(domain, path) if domain else [invalid(path, "", "the domain must not be empty")]
        if not name:
            return [*faults, invalid(path, "", "the name must not be empty")]
    return faults + _identifier_faults(name, path)


def check_fully_qualified_name(text: str, path: FieldPath) -> list[FieldError]:
    """References to attributes have a domain, in lower case, a slash, and a C identifier of at most 32."""
    parts = text.split("/")
    if len(parts) == 1:
        hint = f"put a domain before it, such as gpu.example.com/{text or 'model'}"
        return [*_identifier_faults(text, path), invalid(path, text, _UNQUALIFIED, hint=hint)]
    if len(parts) > 2:
        return []  # the same gap as in check_qualified_name
    domain, name = parts
    faults: list[FieldError] = []
    if not domain:
        faults.append(invalid(path, "", "prefix must not be empty"))
    elif byte_length(domain) > DRIVER_NAME_MAX_LENGTH:
        faults.append(too_long(path, DRIVER_NAME_MAX_LENGTH))
    if domain:
        faults += [invalid(path, domain, f"prefix: {each}") for each in dns_subdomain_faults(domain, LengthUnit.BYTES)]
    if not name:
        return [*faults, invalid(path, "", "name must not be empty")]
    return faults + _identifier_faults(name, path)


def _identifier_faults(name: str, path: FieldPath) -> list[FieldError]:
    faults = _faults(path, name, c_identifier_faults(name))
    if byte_length(name) > C_IDENTIFIER_MAX_LENGTH:
        return [too_long(path, C_IDENTIFIER_MAX_LENGTH), *faults]
    return faults


def shorten_key(text: str) -> str:
    """Cut the middle out of a key too long to be one, for the path of a fault."""
    if len(text) <= _MAX_SHOWN_KEY:
        return text
    room = _MAX_SHOWN_KEY - len("...")
    return f"{text[: (room + 1) // 2]}...{text[len(text) - room // 2 :]}"
