"""The body of a deletion: options, which any group version may name as its own."""

from typing import Final

import msgspec

from dray.api.codec import read_type_meta
from dray.api.jsonsyntax import explain_json_syntax
from dray.api.mending import ValueFault, mend
from dray.api.meta import DeleteOptions
from dray.api.shapes import get_shape
from dray.errors import BadRequest
from dray.server.bodies import read_body

__all__ = ["read_delete_options"]

_KIND: Final = DeleteOptions.__name__
_SCHEME: Final = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"
"""What the API server calls its table of such kinds in messages."""
_GROUP: Final = "meta.k8s.io/v1"
_OTHERS: Final = {_GROUP: frozenset({"ListOptions"}), "v1": frozenset({"Status"})}
"""Kinds that the table has besides."""
_DECODER: Final = msgspec.json.Decoder(DeleteOptions)


def read_delete_options(body: bytes, content_type: str) -> DeleteOptions:
    """Read the options of a deletion. Raises BadRequest in the API server's words."""
    text = read_body(body, content_type, _KIND).text
    try:
        text = msgspec.json.format(text, indent=-1)
    except msgspec.DecodeError as fault:
        detail = explain_json_syntax(text) or str(fault)
        raise BadRequest(f"couldn't get version/kind; json parse error: {detail}") from fault
    if text == b"null":
        return DeleteOptions()
    _require_kind(text)
    try:
        return _DECODER.decode(mend(get_shape(DeleteOptions), text))
    except ValueFault as fault:
        raise BadRequest(str(fault)) from fault
    except msgspec.ValidationError as fault:
        raise BadRequest(f"json: {fault}") from fault


def _require_kind(text: bytes) -> None:
    meta = read_type_meta(text)
    if meta.fault:
        raise BadRequest(f"couldn't get version/kind; json parse error: {meta.fault}")
    version, kind = meta.api_version or _GROUP, meta.kind or _KIND
    if version.count("/") > 1:
        raise BadRequest(f"unexpected GroupVersion string: {version}")
    if kind == _KIND:
        return
    if kind in _OTHERS.get(version, ()):
        raise BadRequest(f"converting (v1.{kind}) to (v1.{_KIND}): unknown conversion")
    raise BadRequest(f'no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"')
