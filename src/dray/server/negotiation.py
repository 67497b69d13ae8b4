"""What a client takes and what it sends: media types."""

from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from dray.server.faults import NotAcceptable

__all__ = ["AGGREGATED", "JSON", "YAML", "Shape", "Taken", "choose_discovery", "choose_form", "read_media_type"]

JSON: Final = "application/json"
YAML: Final = "application/yaml"
AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""What tells clients that they got the aggregated form of discovery: letter by letter."""

_MEDIA: Final = (JSON, YAML, "application/vnd.kubernetes.protobuf")
"""What Kubernetes has its objects in, and says it has; protobuf is read here, but not written."""
_STREAMED: Final = (*_MEDIA, f"{JSON};stream=watch", f"{_MEDIA[-1]};stream=watch")


class Shape(Enum):
    """In what shape objects are answered."""

    OBJECT = "object"
    TABLE = "Table"
    METADATA = "PartialObjectMetadata"
    METADATA_LIST = "PartialObjectMetadataList"


class Taken(Struct, frozen=True):
    """The form of an answer; shapes other than objects are of a version of their own."""

    shape: Shape = Shape.OBJECT
    is_yaml: bool = False
    meta_version: str = "meta.k8s.io/v1"

    @property
    def media_type(self) -> str:
        """For the Content-Type header."""
        return YAML if self.is_yaml else JSON


_PLAIN: Final = Taken()


class _Clause(NamedTuple):
    media: str
    parameters: dict[str, str]

    @property
    def rank(self) -> tuple[float, bool]:
        """What stands first is what is wanted most; of equals, what is named comes before anything."""
        return -self._quality(), self.media in ("*/*", "application/*")

    def _quality(self) -> float:
        try:
            return float(self.parameters.get("q", "1"))
        except ValueError:
            return 1.0


def _parse(text: str) -> list[_Clause]:
    """The entries of an Accept header, the most wanted first."""
    clauses: list[_Clause] = []
    for entry in text.split(","):
        media, *parameters = (part.strip() for part in entry.split(";"))
        clauses.append(_Clause(media, dict(part.partition("=")[::2] for part in parameters)))
    return sorted(clauses, key=lambda clause: clause.rank)


@lru_cache(maxsize=256)
def choose_form(accept: str, *, is_collection: bool = False) -> Taken:
    """The first form of an Accept header that there is. Raises `NotAcceptable`.

    Refused in two ways, as by Kubernetes: media types that no answer has, and shapes that it has not.
    """
    if not accept:
        return _PLAIN
    clauses = _parse(accept)
    if not any(clause.media in (*_MEDIA, "*/*") for clause in clauses):
        shown = ", ".join(_STREAMED if is_collection else _MEDIA)
        raise NotAcceptable(f"406: Not Acceptable\n\nAvailable representations: {shown}", has_details=True)
    for clause in clauses:
        if clause.media in (JSON, YAML, "*/*", "application/*"):
            taken = _choose_shape(clause)
            if taken is not None:
                return taken
    is_protobuf_only = all(clause.media == _MEDIA[-1] for clause in clauses)
    shown = ", ".join((JSON, YAML) if is_protobuf_only else _MEDIA)
    raise NotAcceptable(f"only the following media types are accepted: {shown}")


def _choose_shape(clause: _Clause) -> Taken | None:
    named = clause.parameters
    is_yaml = clause.media == YAML
    if not named.get("as"):
        return Taken(is_yaml=is_yaml)
    if named.get("g") != "meta.k8s.io" or named.get("v") not in ("v1", "v1beta1"):
        return None
    shape = next((each for each in Shape if each is not Shape.OBJECT and each.value == named["as"]), None)
    return None if shape is None else Taken(shape, is_yaml, f"meta.k8s.io/{named['v']}")


@lru_cache(maxsize=64)
def choose_discovery(accept: str) -> bool:
    """Whether the aggregated form of discovery is what the client asks for first among what there is."""
    for media, parameters in _parse(accept):
        if media == JSON and parameters.get("as") == "APIGroupDiscoveryList":
            if parameters.get("g") == "apidiscovery.k8s.io" and parameters.get("v") == "v2":
                return True
        elif media in (JSON, "*/*", "application/*"):
            return False
    return False


@lru_cache(maxsize=64)
def read_media_type(content_type: str) -> str:
    """The bare media type of a Content-Type header, in lower case."""
    return content_type.partition(";")[0].strip().lower()
