"""Reads traces of kubectl: what it asked, command by command, and what it was answered.

A trace shows codes and content types of all answers, and the whole answer where it is short. Left out is what cannot
be asked again as it stands: bodies in protobuf, watches (nothing says when they end), connections that are upgraded,
answers that depend on what a client has cached, later pages, and kinds that dray does not serve. Long bodies are cut
off in a trace; whoever reads it completes them.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

_COMMAND = re.compile(r"^### kubectl\[[\d.]+\] (?P<line>.*?)  rc=\d+$", re.MULTILINE)
_REQUEST = re.compile(r"^ ?\d+\. (?P<method>[A-Z]+) (?P<path>\S+)$", re.MULTILINE)
_HEADER = re.compile(r"(?P<name>accept|ctype|connection|if-modified-since)=(?P<value>.*?)(?= [a-z-]+=|$)", re.MULTILINE)
_ANSWER = re.compile(r"^    -> (?P<code>\d+) (?P<type>.*) \S+B$", re.MULTILINE)
_BODY = re.compile(r"^    (?P<which>req|resp): (?P<text>.*)$", re.MULTILINE)

_NOT_SERVED = ("/apis/apps/", "/apis/autoscaling/", "/apis/batch/", "/apis/metrics", "replicationcontrollers")
_MADE_BY_CONTROLLERS = ("/dep1-", "/pod1-", "/pod2", "/kube-root-ca.crt")
"""Objects of controllers that the replay has not."""


def read_traces(text: str, completed: Json) -> Iterator[Json]:
    """The exchanges that can be repeated, each named after its command; `completed` has bodies by method and path."""
    commands = list(_COMMAND.finditer(text))
    for number, command in enumerate(commands):
        end = commands[number + 1].start() if number + 1 < len(commands) else len(text)
        for exchange in _read_command(text[command.end() : end], completed):
            yield {"topic": "traces", "name": f"{number + 1} {command['line']}"} | exchange


def _read_command(text: str, completed: Json) -> Iterator[Json]:
    requests = list(_REQUEST.finditer(text))
    for number, request in enumerate(requests):
        end = requests[number + 1].start() if number + 1 < len(requests) else len(text)
        told = text[request.end() : end]
        headers = {each["name"]: each["value"] for each in _HEADER.finditer(told.partition("\n    ->")[0])}
        bodies = {each["which"]: each["text"] for each in _BODY.finditer(told)}
        answer = _ANSWER.search(told)
        whole = completed.get(f"{request['method']} {request['path'].partition('?')[0]}")
        sent = bodies.get("req")
        if whole is not None and sent is not None and _json(sent) is None:
            sent, headers["ctype"] = json.dumps(whole), "application/json"
        asked = _ask(request["method"], request["path"], headers, sent)
        if answer and asked and answer["code"] != "304":
            body = _json(bodies.get("resp"))
            short = body if isinstance(body, dict) and body.get("kind") == "Status" else None
            yield {"request": asked, "response": {"status": int(answer["code"]), "type": answer["type"], "body": short}}


def _ask(method: str, path: str, headers: dict[str, str], text: str | None) -> Json | None:
    skipped = (*_NOT_SERVED, *_MADE_BY_CONTROLLERS, "watch=true", "/openapi/v2", "follow=true", "continue=")
    body = _json(text)
    if any(part in path for part in skipped) or "connection" in headers or (text is not None and body is None):
        return None
    asked: Json = {"method": method, "path": path}
    if headers.get("accept", "-") != "-":
        asked["accept"] = headers["accept"]
    if body is not None:
        asked |= {"contentType": headers.get("ctype", "application/json"), "body": body}
    return asked


def _json(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return None
