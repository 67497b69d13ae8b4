"""Bodies as they go out: compact for programs, indented for people, YAML where it was asked for."""

import msgspec
import yaml

from dray.server.faults import NotAcceptable
from dray.server.http import HttpCall, Reply
from dray.server.negotiation import JSON, Taken, choose_form
from dray.server.options import Query

__all__ = ["print_body", "print_failure"]

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
        return Reply(200, _print_yaml(body), form.media_type)
    if _is_for_people(query, call):
        return Reply(200, msgspec.json.format(body, indent=2))
    return Reply(200, body + b"\n")


def print_failure(reply: Reply, call: HttpCall) -> Reply:
    """The same refusal in YAML, if the client takes that sooner than JSON."""
    accept = call.header(b"accept")
    if "yaml" not in accept or reply.media_type != JSON:
        return reply
    try:
        form = choose_form(accept)
    except NotAcceptable:
        return reply
    if form.is_yaml:
        reply.body, reply.media_type = _print_yaml(reply.body), form.media_type
    return reply


def _print_yaml(body: bytes) -> bytes:
    text = yaml.dump(msgspec.json.decode(body), default_flow_style=False, allow_unicode=True, Dumper=_Dumper)
    return bytes(text.encode())


def _is_for_people(query: Query, call: HttpCall) -> bool:
    asked = query.get("pretty")
    if asked is not None:
        return asked[0] not in ("false", "0")
    return call.headers.get(b"user-agent", b"").startswith(_PEOPLE)
