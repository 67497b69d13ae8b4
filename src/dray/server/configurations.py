"""Bodies of server-side apply: YAML, which most clients write as JSON."""

from typing import Any, Final, NamedTuple

import msgspec

from dray.api.jsonsyntax import name_json_kind
from dray.errors import BadRequest
from dray.merge.typed import JsonObject
from dray.server.yamlbodies import YamlFault, explain_repeated, read_yaml

__all__ = ["Configuration", "read_configuration"]

_FROM_YAML: Final = "error converting YAML to JSON: "


class Configuration(NamedTuple):
    """What is applied."""

    value: JsonObject
    faults: tuple[str, ...] = ()
    """What is said of each key that is there twice; the last one counts."""

    @property
    def is_typed(self) -> bool:
        """Whether it says what it is, as it has to before anything else is looked at."""
        return bool(self.value.get("apiVersion")) and bool(self.value.get("kind"))

    @property
    def strict_fault(self) -> str:
        """The same, as strict decoding says it."""
        return f"{_FROM_YAML}{explain_repeated(self.faults)}"


def read_configuration(body: bytes) -> Configuration:
    """Read a configuration. Raises BadRequest for what is none."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _read_yaml(body)
    # YAML finds what is there twice, in ten times the time: what is lost by parsing shows whether it has to look.
    is_whole = msgspec.json.encode(value).count(b'":') == msgspec.json.format(body, indent=-1).count(b'":')
    if is_whole and isinstance(value, dict) and b"\\u0022" not in body:
        return Configuration(value)
    return _read_yaml(body)


def _read_yaml(body: bytes) -> Configuration:
    try:
        read = read_yaml(body)
    except YamlFault as fault:
        looks_like_json = body.lstrip().startswith(b"{")
        prefix = f"error decoding patch: {_FROM_YAML}" if looks_like_json else "error encoding patch: "
        raise BadRequest(f"{prefix}{fault}") from fault
    value: Any = msgspec.json.decode(read.json)
    if value is not None and not isinstance(value, dict):
        found = name_json_kind(read.json)
        raise BadRequest(
            "error decoding patch: error unmarshaling JSON: while decoding JSON: "
            f"json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        )
    return Configuration(value or {}, read.repeated)
