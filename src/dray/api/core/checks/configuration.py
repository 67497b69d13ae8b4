"""Config maps and secrets."""

import json
from collections.abc import Iterator, Mapping

from dray.api.checks import CheckContext
from dray.api.core.checks.naming import config_key_path_faults
from dray.api.core.configmap import ConfigMap
from dray.api.core.secret import Secret
from dray.errors import FieldError, forbidden, invalid, required, too_long
from dray.values.fieldpath import METADATA, ROOT, FieldPath, key
from dray.values.names import byte_length

__all__ = [
    "check_config_map",
    "check_config_map_update",
    "check_secret",
    "check_secret_update",
]

_MAX_BYTES = 1024 * 1024
_DATA = ROOT / "data"
_BINARY_DATA = ROOT / "binaryData"
_IMMUTABLE = "field is immutable when `immutable` is set"
_REQUIRED_KEYS = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_JSON_KEYS = (".dockercfg", ".dockerconfigjson")
_ACCOUNT_TYPE = "kubernetes.io/service-account-token"
_ACCOUNT_ANNOTATION = "kubernetes.io/service-account.name"


def check_config_map(new: ConfigMap, old: ConfigMap | None, context: CheckContext) -> list[FieldError]:
    """Keys that can be file names, each once; not too much altogether."""
    return list(_config_map_faults(new))


def _config_map_faults(config: ConfigMap) -> Iterator[FieldError]:
    size = 0
    for name, text in config.data.items():
        yield from config_key_path_faults(name, _DATA / key(name))
        if name in config.binary_data:
            yield invalid(_DATA / key(name), name, "duplicate of key present in binaryData")
        size += byte_length(text)
    for name, content in config.binary_data.items():
        yield from config_key_path_faults(name, _BINARY_DATA / key(name))
        size += len(content)
    if size > _MAX_BYTES:
        yield too_long(ROOT / key(""), _MAX_BYTES, hint="split the data over several config maps")


def check_config_map_update(new: ConfigMap, old: ConfigMap | None, context: CheckContext) -> list[FieldError]:
    """Immutable for ever."""
    if old is None or not old.immutable:
        return []
    return list(_immutable_faults(new, old, {"data": _DATA, "binary_data": _BINARY_DATA}))


def _immutable_faults(
    new: ConfigMap | Secret, old: ConfigMap | Secret, paths: Mapping[str, FieldPath]
) -> Iterator[FieldError]:
    if not new.immutable:
        yield forbidden(ROOT / "immutable", _IMMUTABLE, hint="delete the object and create it anew")
    for name, path in paths.items():
        if getattr(new, name) != getattr(old, name):
            yield forbidden(path, _IMMUTABLE, hint="delete the object and create it anew")


def check_secret(new: Secret, old: Secret | None, context: CheckContext) -> list[FieldError]:
    """Keys that can be file names, those the type demands among them; not too much altogether."""
    return [*_secret_size_faults(new), *_secret_type_faults(new)]


def _secret_size_faults(secret: Secret) -> Iterator[FieldError]:
    for name in secret.data:
        yield from config_key_path_faults(name, _DATA / key(name))
    if sum(map(len, secret.data.values())) > _MAX_BYTES:
        yield too_long(_DATA, _MAX_BYTES)


def _secret_type_faults(secret: Secret) -> Iterator[FieldError]:
    if secret.type == _ACCOUNT_TYPE:
        if not secret.metadata.annotations.get(_ACCOUNT_ANNOTATION):
            yield required(METADATA / "annotations" / key(_ACCOUNT_ANNOTATION))
    elif secret.type == "kubernetes.io/basic-auth" and not secret.data.keys() & {"username", "password"}:
        yield required(_DATA / key("username"))
        yield required(_DATA / key("password"))
    for name in _REQUIRED_KEYS.get(secret.type, ()):
        if name not in secret.data:
            yield required(_DATA / key(name))
        elif name in _JSON_KEYS and not _is_json_object(secret.data[name]):
            yield invalid(_DATA / key(name), "<secret contents redacted>", "must be a JSON object")


def _is_json_object(content: bytes) -> bool:
    try:
        return isinstance(json.loads(content), dict)
    except ValueError:
        return False


def check_secret_update(new: Secret, old: Secret | None, context: CheckContext) -> list[FieldError]:
    """The type for ever, the data if it was declared so."""
    if old is None:
        return []
    faults: list[FieldError] = []
    if new.type != old.type:
        faults.append(invalid(ROOT / "type", new.type, "field is immutable"))
    if old.immutable:
        faults += _immutable_faults(new, old, {"data": _DATA})
    return faults
