"""Runs the tables beside it: objects, and who may do what once they are stored.

`given` has objects: roles in the short form `{role: name, rules: [...]}`, whole manifests otherwise. `users` are the
callers, `cases` the acts. `want` is yes, no, or the refusal (or the reason of a permission) word for word.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.server.permission.authorizer import Permissions
from dray.server.permission.bootstrap import plan_bootstrap
from dray.server.permission.denial import refuse
from dray.server.ports import AccessAttributes, User
from tests.unit.server.permission.still import StillView, read_manifest

Json = dict[str, Any]


def read_cases() -> Iterator[Any]:
    for file in sorted(Path(__file__).parent.glob("*.yaml")):
        table = yaml.safe_load(file.read_text(encoding="utf-8"))
        for number, case in enumerate(table["cases"]):
            case.setdefault("user", table.get("user"))
            name = case.get("name") or f"{case['user']} {case['do']} {case.get('resource', case.get('path'))} {number}"
            yield pytest.param(table, case, id=f"{file.stem}: {name}")


def view_of(table: Json) -> StillView:
    view = StillView()
    if table.get("bootstrap"):
        for write in plan_bootstrap(view):
            view.put(write.new)
    for manifest in table["given"]:
        view.put(read_manifest(manifest))
    return view


def user_of(table: Json, name: str) -> User:
    known = table["users"][name]
    extra = {key: tuple(values) for key, values in known.get("extra", {}).items()}
    return User(known["name"], groups=tuple(known.get("groups", ())), extra=extra)


def act_of(case: Json) -> AccessAttributes:
    resource, _, subresource = case.get("resource", "").partition("/")
    resource, _, group = resource.partition(".")
    return AccessAttributes(
        verb=case["do"],
        group=group,
        resource=resource,
        subresource=subresource,
        namespace=case.get("in", ""),
        name=case.get("name of", ""),
        path=case.get("path", ""),
        field_selector=case.get("selector", ""),
    )


@pytest.mark.parametrize(("table", "case"), list(read_cases()))
def test_decision(table: Json, case: Json) -> None:
    user, act = user_of(table, case["user"]), act_of(case)
    decision = Permissions(view_of(table)).decide(user, act)
    got = decision.reason if decision.is_allowed else str(refuse(user, act, decision))
    want = case["want"]
    if isinstance(want, bool):
        assert decision.is_allowed is want, got
    else:
        assert got == want
