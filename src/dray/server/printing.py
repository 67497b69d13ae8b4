"""Bodies as they go out: compact for programs, indented for people, YAML where it was asked for."""

import msgspec
import yaml

from dray.server.http import HttpCall, Reply
from dray.server.negotiation import Taken
from dray.server.options import Query

__all__ = ["print_body"]

_PEOPLE = (b"curl/", b"Wget/", b"Mozilla/5.0")
"""How the programs begin that show JSON to people as it comes."""
_TEXT_TAG = "tag:yaml.org,2002:str"


class _Dumper(yaml.CSafeDumper):
    """Quotes as Go's YAML does."""


def _print_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """A text, in double quotes wherever it would be read as something else."""
    is_plain = dumper.resolve(yaml.ScalarNode, text, (True, False)) == _TEXT_TAG  # type: ignore[no-untyped-call]  # untyped upstream
    style = "|" if "\n" in text else None if is_plain else '"'
    return dumper.represent_scalar(_TEXT_TAG, text, style=style)


_Dumper.add_representer(str, _print_text)


def print_body(body: bytes, form: Taken, query: Query, call: HttpCall) -> Reply:
    """The answer with a JSON text, or what that says in YAML."""
    if form.is_yaml:
        text = yaml.dump(msgspec.json.decode(body), default_flow_style=False, allow_unicode=True, Dumper=_Dumper)
        return Reply(200, text.encode(), form.media_type)
    if _is_for_people(query, call):
        return Reply(200, msgspec.json.format(body, indent=2))
    return Reply(200, body + b"\n")


def _is_for_people(query: Query, call: HttpCall) -> bool:
    asked = query.get("pretty")
    if asked is not None:
        return asked[0] not in ("false", "0")
    return call.headers.get(b"user-agent", b"").startswith(_PEOPLE)
