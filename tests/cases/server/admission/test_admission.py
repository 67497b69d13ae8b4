"""Runs the tables beside it: a write, what is there when it comes, and what becomes of it.

`there` of the file and of the case are stored objects. The write is `create`, `update` (with the stored `old`) or
`delete`. `want` is a part of the object that passes; in texts `?` stands for any letter. `refused` is the answer to one
that does not pass: code, message, and causes if it tells any. `charged` is what quotas have in use afterwards.
"""

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import to_builtins
from msgspec.structs import replace

from dray.api.codec import decode, encode
from dray.api.registry import SERVED, AnyKind
from dray.api.writing import plan_create, plan_update, settle_namespace
from dray.errors import ApiError
from dray.server.admission.chain import admit, approve
from dray.server.admission.request import Act, AdmissionRequest, AnyRequest, Approved
from dray.server.ports import User
from tests.cases.api.resource.world import NOW, World
from tests.cases.server.admission.still import StillView

Json = dict[str, Any]
KINDS: dict[str, AnyKind] = {kind.name: kind for kind in SERVED if kind.plural != "events"}
NAMESPACE = "ml"


def read_cases() -> Iterator[Any]:
    for file in sorted(Path(__file__).parent.glob("*.yaml")):
        table = yaml.safe_load(file.read_text(encoding="utf-8"))
        for case in table["cases"]:
            yield pytest.param(table, case, id=f"{file.stem}: {case['name']}")


def read_object(manifest: Json) -> tuple[AnyKind, Any]:
    """As the server has it after decoding and defaulting."""
    kind = KINDS[manifest["kind"]]
    manifest = {"apiVersion": kind.api_version(kind.declared_version), **manifest}
    thing = decode(kind, kind.declared_version, json.dumps(manifest).encode())
    if kind.is_namespaced:
        thing = settle_namespace(kind, thing, thing.metadata.namespace or NAMESPACE)
    meta = thing.metadata
    thing = replace(thing, metadata=replace(meta, uid=meta.uid or f"uid-of-{meta.name}"))
    return kind, kind.default(thing, NOW)


def read_stored(manifest: Json) -> tuple[AnyKind, Any]:
    kind, thing = read_object(manifest)
    return kind, replace(
        thing, metadata=replace(thing.metadata, resource_version=thing.metadata.resource_version or "7")
    )


def ask(case: Json) -> AnyRequest:
    act = next(act for act in Act if act in case)
    kind, thing = read_object(case[act])
    meta = thing.metadata
    old = read_stored(case["old"])[1] if act is Act.UPDATE else thing if act is Act.DELETE else None
    if act is Act.UPDATE:
        thing = replace(thing, metadata=replace(meta, resource_version="7"))
    return AdmissionRequest(
        act=act,
        kind=kind,
        user=User(case.get("user", "ann"), groups=tuple(case.get("groups", ()))),
        now=NOW,
        namespace=meta.namespace,
        name="" if act is Act.CREATE else meta.name,
        subresource=case.get("subresource", ""),
        is_dry_run=case.get("dryRun", False),
        new=None if act is Act.DELETE else thing,
        old=old,
    )


def write(request: AnyRequest, view: StillView) -> tuple[Any, Approved]:
    """What the server does with a write, but for storing it."""
    new = admit(request, view).thing
    if new is None:
        return None, Approved()
    if request.old is None:
        planned = plan_create(request.kind, new, World({}))
    else:
        planned = plan_update(request.kind, new, request.old, World({}))
    stored = planned.require_valid()
    return stored, approve(request.with_new(stored), view)


def check_fits(want: Any, got: Any, path: str = "") -> None:
    """Each value that `want` has, `got` has too. None means that there is no such field."""
    if isinstance(want, dict):
        assert isinstance(got, dict), path
        for key, value in want.items():
            check_fits(value, got.get(key), f"{path}.{key}")
    elif isinstance(want, list):
        assert len(want) == len(got or []), f"{path}: {got}"
        for index, value in enumerate(want):
            check_fits(value, got[index], f"{path}[{index}]")
    elif isinstance(want, str) and "?" in want:
        assert fnmatchcase(got, want), f"{path}: {got}"
    else:
        assert want == got, f"{path}: {got}"


def check_charged(want: dict[str, dict[str, str]], approved: Approved) -> None:
    got = {
        quota.metadata.name: {name: str(amount) for name, amount in quota.status.used.items()}
        for quota in approved.quota_charges
    }
    assert got == want
    assert all(quota.metadata.resource_version == "7" for quota in approved.quota_charges)


@pytest.mark.parametrize(("table", "case"), list(read_cases()))
def test_write_becomes_what_it_should(table: Json, case: Json) -> None:
    stored = [read_stored(each) for each in [*table.get("there", []), *case.get("there", [])]]
    view = StillView(stored)
    request = ask(case)
    if "refused" in case:
        with pytest.raises(ApiError) as refusal:
            write(request, view)
        want = case["refused"]
        assert (refusal.value.code, refusal.value.message) == (want["code"], want["message"])
        causes = [to_builtins(cause) for cause in getattr(refusal.value, "causes", ())]
        assert causes == want.get("causes", [])
        return
    thing, approved = write(request, view)
    if thing is not None:
        check_fits(case.get("want", {}), json.loads(encode(request.kind, thing, request.kind.declared_version)))
    check_charged(case.get("charged", {}), approved)
