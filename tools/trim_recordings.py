"""Write `tests/golden/server/recorded.jsonl`: recorded requests and answers on kinds that dray serves, in one order.

    tools/trim_recordings.py FOLDER

FOLDER holds the recordings, a file for each topic. They come from one server, so an entry builds on entries of other
files; the order in which they make sense together stands here.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TARGET = Path("tests/golden/server/recorded.jsonl")

ORDER: tuple[tuple[str, str, str], ...] = (
    ("semantics", "create returns object", "missing kind ok"),
    ("errors", "create with resourceVersion set", "put missing object"),
    ("semantics", "missing namespace list", "put ok"),
    ("errors", "put stale", "put wrong uid"),
    ("semantics", "put without rv", "noop put keeps rv"),
    ("errors", "patch stale rv", "jsonpatch replace missing"),
    ("semantics", "jsonpatch test rv ok", "jsonpatch test rv ok"),
    ("errors", "jsonpatch add missing parent", "smp bad directive"),
    ("semantics", "smp data replace", "patch creationTimestamp ignored"),
    ("errors", "patch change name", "patch deletionTimestamp"),
    ("semantics", "dryRun create", "dryRun create"),
    ("errors", "dryRun bad", "dryRun bad"),
    ("fieldvalidation", "fieldValidation Strict", "case sensitivity"),
    ("semantics", "yaml body", "pretty"),
    ("errors", "bad query opt", "bad fm long"),
    ("semantics", "immutable secret type", "immutable secret type"),
    ("errors", "immutable change", "label invalid"),
    ("semantics", "finalizer create", "finalizer delete again"),
    ("errors", "finalizer add while deleting", "finalizer add while deleting"),
    ("semantics", "finalizer remove", "finalizer orphan unqualified ok"),
    ("errors", "finalizer bad name", "delete precondition rv"),
    ("semantics", "delete ok", "delete ok"),
    ("errors", "delete missing", "delete missing"),
    ("semantics", "delete dryrun", "delete dryrun"),
    ("errors", "delete bad opts", "delete both opts"),
    ("semantics", "deletecollection", "foreground"),
    ("errors", "ownerref bad", "pod create without SA"),
    ("namespaces", "namespace create", "namespace create"),
    ("errors", "pod create immediately", "pod create immediately"),
    ("pods", "defaults: pod", "system priority"),
    ("errors", "unknown SA", "priority set directly"),
    ("errors", "pod spec immutable", "pod spec immutable"),
    ("pods", "pod image change ok", "binding"),
    ("errors", "binding again", "binding missing pod"),
    ("pods", "bindings collection", "log"),
    ("errors", "log missing container", "exec plain GET"),
    ("pods", "resize patch", "pdb"),
    ("errors", "eviction blocked", "eviction blocked"),
    ("pods", "delete bound pod graceful", "force delete"),
    ("pods", "gone", "gone"),
    ("events", "event create core", "event patch count"),
    ("namespaces", "ns delete", "ns delete"),
    ("errors", "create in terminating ns", "ns delete collection"),
)


def entries(folder: Path) -> Iterator[dict[str, Any]]:
    for topic, first, last in ORDER:
        recorded = json.loads(folder.joinpath(f"{topic}.json").read_text(encoding="utf-8"))
        names = [each["name"] for each in recorded]
        for each in recorded[names.index(first) : names.index(last) + 1]:
            yield {"topic": topic, **each}


def main(folder: Path) -> None:
    lines = [json.dumps(each, separators=(",", ":")) for each in entries(folder)]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
