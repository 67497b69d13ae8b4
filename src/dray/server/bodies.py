"""Request bodies as JSON text, whatever form they were sent in."""

from typing import Final

import msgspec

from dray.api.meta import DeleteOptions
from dray.api.yamltext import YamlError, parse_yaml_documents
from dray.errors import BadRequest
from dray.server.faults import UnsupportedMediaType
from dray.server.negotiation import JSON, YAML, read_media_type
from dray.server.protobuf import PROTOBUF, decode_protobuf

__all__ = ["read_body", "read_delete_options"]

_ACCEPTED: Final = (
    "the body of the request was in an unknown format - accepted media types include: "
    "application/json, application/yaml, application/vnd.kubernetes.protobuf"
)


def read_body(body: bytes, content_type: str, expected: str) -> bytes:
    """The body as JSON text; `expected` is the kind it should hold.

    Raises `UnsupportedMediaType`, or BadRequest for what is not what it says it is.
    """
    media = read_media_type(content_type)
    if media in (JSON, "", "*/*"):
        return _mend_text(body)
    if media == YAML:
        return _read_yaml(body)
    if media == PROTOBUF:
        return decode_protobuf(body, expected)
    raise UnsupportedMediaType(_ACCEPTED)


def _mend_text(body: bytes) -> bytes:
    """What is not UTF-8 becomes the replacement character, as in Go."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return body.decode(errors="replace").encode()
    return body


def _read_yaml(body: bytes) -> bytes:
    try:
        documents = list(parse_yaml_documents(body.decode()))
    except (YamlError, UnicodeDecodeError) as fault:
        raise BadRequest(f"error converting YAML to JSON: {fault}") from fault
    return documents[0].json if documents else b"null"


_DELETE_OPTIONS: Final = msgspec.json.Decoder(DeleteOptions)


def read_delete_options(text: bytes) -> DeleteOptions:
    """The body of a deletion. Raises BadRequest."""
    try:
        return _DELETE_OPTIONS.decode(text)
    except msgspec.DecodeError as fault:
        raise BadRequest(f"the object provided is unrecognized (must be of type DeleteOptions): {fault}") from fault
