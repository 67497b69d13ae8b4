"""Bodies as they go out: compact for programs, indented for people, YAML where it was asked for."""

import msgspec
import yaml

from dray.server.http import HttpCall, Reply
from dray.server.negotiation import Taken
from dray.server.options import Query

__all__ = ["print_body"]

_PEOPLE = (b"curl/", b"Wget/", b"Mozilla/5.0")
"""How the programs begin that show JSON to people as it comes."""


def print_body(body: bytes, form: Taken, query: Query, call: HttpCall) -> Reply:
    """The answer with a JSON text, or what that says in YAML."""
    if form.is_yaml:
        text = yaml.dump(
            msgspec.json.decode(body), default_flow_style=False, allow_unicode=True, Dumper=yaml.CSafeDumper
        )
        return Reply(200, text.encode(), form.media_type)
    if _is_for_people(query, call):
        return Reply(200, msgspec.json.format(body, indent=2))
    return Reply(200, body + b"\n")


def _is_for_people(query: Query, call: HttpCall) -> bool:
    asked = query.get("pretty")
    if asked is not None:
        return asked[0] not in ("false", "0")
    return call.headers.get(b"user-agent", b"").startswith(_PEOPLE)
