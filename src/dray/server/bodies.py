"""Request bodies as JSON text, whatever form they were sent in."""

from typing import Final, NamedTuple

from dray.api.codec import summarise_body
from dray.api.jsonsyntax import mend_json_text
from dray.errors import BadRequest
from dray.server.faults import UnsupportedMediaType
from dray.server.negotiation import JSON, YAML, read_media_type
from dray.server.protobuf import PROTOBUF, decode_protobuf
from dray.server.yamlbodies import YamlFault, explain_repeated, read_yaml

__all__ = ["Body", "read_body"]

_ACCEPTED: Final = (
    "the body of the request was in an unknown format - accepted media types include: "
    "application/json, application/yaml, application/vnd.kubernetes.protobuf"
)


class Body(NamedTuple):
    """What was sent, as JSON text."""

    text: bytes
    repeated: tuple[str, ...] = ()
    """What is said of each key that stood twice in YAML; in JSON it still does."""

    @property
    def strict_faults(self) -> tuple[str, ...]:
        """The same as one fault of strict decoding."""
        return (explain_repeated(self.repeated),) if self.repeated else ()


def read_body(body: bytes, content_type: str, expected: str) -> Body:
    """The body as JSON text; `expected` is the kind it should hold.

    Raises `UnsupportedMediaType`, or BadRequest for what is not what it says it is.
    """
    media = read_media_type(content_type)
    if media in (JSON, "", "*/*"):
        return Body(mend_json_text(body))
    if media == YAML:
        try:
            read = read_yaml(body)
        except YamlFault as fault:
            told = f"the object provided is unrecognized (must be of type {expected}): {fault}"
            raise BadRequest(f"{told} ({summarise_body(body)})") from fault
        return Body(read.json, read.repeated)
    if media == PROTOBUF:
        return Body(decode_protobuf(body, expected))
    raise UnsupportedMediaType(_ACCEPTED)
