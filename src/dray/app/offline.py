"""What an API server would say of a new object, without a server.

Decode, fill in defaults, prepare, check, as on a create. What only a cluster knows, such as other objects, permissions
and the labels of namespaces, is taken to be in order. Unlike the server this does not stop at unknown fields: one
answer has every fault that can be found.
"""

import difflib
from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dray.api.checks import CheckContext
from dray.api.codec import get_codec
from dray.api.core.pod import Pod
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind, Registry
from dray.api.writing import plan_create
from dray.errors import ApiError, BadRequest, FieldError, FieldReason

__all__ = ["Finding", "Report", "check_offline", "complete_offline"]

DEFAULT_NAMESPACE = "default"
"""Where an object goes that names no namespace, as with kubectl."""

DEFAULT_SERVICE_ACCOUNT = "default"
"""The account that a Pod runs under if it names none."""

SUFFIX = "xxxxx"
"""Stands for the letters that a server adds to `generateName`."""


class Finding(Struct, frozen=True, rename="camel"):
    """One fault: the field (empty for the object as a whole), a stable reason, a message, and what to do about it."""

    field: str
    reason: str
    message: str
    hint: str | None = None


class Report(Struct, frozen=True, rename="camel"):
    """Which object, and everything that is wrong with it."""

    api_version: str
    kind: str
    namespace: str
    name: str
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """`ResourceClaim "ml/train-0"`, as far as it is known."""
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return " ".join(part for part in (self.kind or "object", f'"{name}"' if name else "") if part)


class _Metadata(Struct, rename="camel"):
    """Names as they stand there, which need not be text."""

    name: object = None
    generate_name: object = None
    namespace: object = None


class _Head(Struct, rename="camel"):
    """What an object says it is, whatever else is wrong with it."""

    api_version: str = ""
    kind: str = ""
    metadata: msgspec.Raw = msgspec.Raw(b"null")


def check_offline(text: bytes, registry: Registry, context: CheckContext) -> Report:
    """Every fault of one object, given as JSON text of any served version. Raises nothing for bad input."""
    try:
        head = msgspec.json.decode(text, type=_Head)
    except msgspec.DecodeError as fault:
        return _report(_Head(), [_explain_head(fault)])
    kind = registry.find_kind(head.api_version, head.kind)
    if kind is None:
        return _report(head, [explain_unknown(head.api_version, head.kind, registry)])
    try:
        return _check_kind(text, head, kind, context)
    except ApiError as fault:
        return _report(head, _find_unreadable(fault))


def _report(head: _Head, findings: Sequence[Finding], warnings: Sequence[str] = ()) -> Report:
    try:
        meta = msgspec.json.decode(head.metadata, type=_Metadata)
    except msgspec.ValidationError:
        meta = _Metadata()
    stem = _text(meta.generate_name)
    name = _text(meta.name) or (f"{stem}*" if stem else "")
    return Report(head.api_version, head.kind, _text(meta.namespace), name, tuple(findings), tuple(warnings))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _check_kind(text: bytes, head: _Head, kind: AnyKind, context: CheckContext) -> Report:
    version = head.api_version.rpartition("/")[2]
    codec = get_codec(kind, version)
    decoded = codec.decode(text)
    findings = [
        Finding(fault.path, f"{fault.problem.name.title()}Field", fault.problem, fault.hint)
        for fault in codec.find_strict_faults(text)
    ]
    planned = plan_create(kind, _settle(kind, decoded, DEFAULT_NAMESPACE), context)
    findings += map(_find, planned.faults)
    served = kind.find_version(version)
    deprecation = [served.deprecation] if served is not None and served.deprecation else []
    return _report(head, findings, [*deprecation, *planned.warnings])


def complete_offline(
    text: bytes, registry: Registry, context: CheckContext, namespace: str
) -> tuple[AnyKind, ApiObject] | None:
    """A new object as a server would store it, with its kind; None for kinds that are not known.

    It goes to `namespace` unless it names one. What is wrong with it is for `check_offline` to say. Raises BadRequest
    for what cannot be decoded.
    """
    head = msgspec.json.decode(text, type=_Head)
    kind = registry.find_kind(head.api_version, head.kind)
    if kind is None:
        return None
    decoded = get_codec(kind, head.api_version.rpartition("/")[2]).decode(text)
    return kind, plan_create(kind, _settle(kind, decoded, namespace), context).result


def _settle(kind: AnyKind, decoded: ApiObject, default: str) -> ApiObject:
    """Give the object what admission would, a place, a name, an account, and take what only a stored object has."""
    meta = decoded.metadata
    namespace = (meta.namespace or default) if kind.is_namespaced else ""
    name = meta.name or (f"{meta.generate_name}{SUFFIX}" if meta.generate_name else "")
    meta = replace(meta, namespace=namespace, name=name, resource_version="")
    settled = replace(decoded, metadata=meta)
    if isinstance(settled, Pod) and not settled.spec.service_account_name:
        settled = replace(settled, spec=replace(settled.spec, service_account_name=DEFAULT_SERVICE_ACCOUNT))
    return settled


def _explain_head(fault: msgspec.DecodeError) -> Finding:
    """Why not even version and kind could be read."""
    message, _, path = str(fault).partition(" - at `$.")
    if not isinstance(fault, msgspec.ValidationError):
        message = f"{message[:1].lower()}{message[1:]}"
    else:
        message = "Invalid value: must be text" if path else "an object is a map with apiVersion and kind"
    return Finding(path.removesuffix("`"), FieldReason.TYPE_INVALID, message)


def _find_unreadable(fault: ApiError) -> list[Finding]:
    """What keeps an object from being decoded: every field to blame, else the API server's own words."""
    faults = fault.faults if isinstance(fault, BadRequest) else ()
    return [_find(each) for each in faults] or [Finding("", fault.reason, fault.message)]


def _find(fault: FieldError) -> Finding:
    return Finding(str(fault.path), fault.reason, fault.body, fault.hint)


def explain_unknown(api_version: str, kind: str, registry: Registry) -> Finding:
    """Why no kind is found under these names, and which one may have been meant."""
    for field, text in (("apiVersion", api_version), ("kind", kind)):
        if not text:
            return Finding(field, FieldReason.REQUIRED, "Required value: every object says what it is")
    pairs = [(each.api_version(version.name), each.name) for each in registry for version in each.versions]
    served = [version for version, name in pairs if name == kind]
    neighbours = sorted({name for version, name in pairs if version == api_version})
    hint: str | None = None
    if served:
        closest = difflib.get_close_matches(api_version, served, n=1)
        hint = f"apiVersion: {closest[0] if closest else served[0]}"
    elif match := difflib.get_close_matches(kind, neighbours or sorted({name for _, name in pairs}), n=1):
        hint = f"kind: {match[0]}"
    return Finding("", "NotFound", f"no kind {kind} in {api_version} is known", hint)
