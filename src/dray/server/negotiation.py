"""What a client takes and what it sends: media types."""

from enum import Enum
from functools import lru_cache
from typing import Final

from msgspec import Struct

from dray.server.faults import NotAcceptable

__all__ = ["AGGREGATED", "JSON", "YAML", "Shape", "Taken", "choose_discovery", "choose_form", "read_media_type"]

JSON: Final = "application/json"
YAML: Final = "application/yaml"
AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
"""What tells clients that they got the aggregated form of discovery: letter by letter."""

_OBJECTS: Final = (
    "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, "
    "application/vnd.kubernetes.protobuf;stream=watch"
)


class Shape(Enum):
    """In what shape objects are answered."""

    OBJECT = "object"
    TABLE = "Table"
    METADATA = "PartialObjectMetadata"


class Taken(Struct, frozen=True):
    """The form of an answer."""

    shape: Shape = Shape.OBJECT
    is_yaml: bool = False

    @property
    def media_type(self) -> str:
        """For the Content-Type header."""
        return YAML if self.is_yaml else JSON


_PLAIN: Final = Taken()


def _parse(text: str) -> list[tuple[str, dict[str, str]]]:
    entries: list[tuple[str, dict[str, str]]] = []
    for entry in text.split(","):
        media, *parameters = (part.strip() for part in entry.split(";"))
        named = dict(part.partition("=")[::2] for part in parameters)
        entries.append((media.lower(), named))
    return entries


@lru_cache(maxsize=256)
def choose_form(accept: str) -> Taken:
    """The first form of an Accept header that there is. Raises `NotAcceptable`."""
    if not accept:
        return _PLAIN
    for media, parameters in _parse(accept):
        if media not in (JSON, YAML, "*/*", "application/*"):
            continue
        shape = _choose_shape(parameters)
        if shape is not None:
            return Taken(shape, media == YAML)
    raise NotAcceptable(f"406: Not Acceptable\n\nAvailable representations: {_OBJECTS}")


def _choose_shape(parameters: dict[str, str]) -> Shape | None:
    wanted = parameters.get("as", "")
    if not wanted:
        return Shape.OBJECT
    if parameters.get("g") != "meta.k8s.io" or parameters.get("v") not in ("v1", "v1beta1"):
        return None
    wanted = wanted.removesuffix("List")
    return next((shape for shape in (Shape.TABLE, Shape.METADATA) if shape.value == wanted), None)


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
