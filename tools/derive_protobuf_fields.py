"""Write what the server knows of Kubernetes' protobuf: `python tools/derive_protobuf_fields.py FIELDS`.

FIELDS is `protobuf-fields.json` of the recordings: the number, JSON name and type of every field of every message.
Written is `src/dray/server/protobuf_fields.json`, with the messages that request bodies of served kinds consist of and
of those the fields that dray's types have.

The file says `{"kinds": {apiVersion: {kind: message}}, "messages": {message: {number: [JSON name, type]}}}`. A type is
a scalar, a message, or one of the `FORMS` that are no object in JSON; `[]` before it is a list, `{}` a map from texts.
A field without a name has its fields beside those of its message.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dray.api.authentication.kinds import TOKEN_REQUEST
from dray.api.codec import get_codec
from dray.api.meta import DeleteOptions
from dray.api.policy.kinds import EVICTION
from dray.api.registry import SERVED, AnyKind
from dray.api.schemas import package_of_group
from dray.api.shapes import ListShape, MapShape, ObjectShape, Shape, get_shape

TARGET = Path(__file__).resolve().parent.parent / "src" / "dray" / "server" / "protobuf_fields.json"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"
FORMS = {
    f"{META}.Time": "time",
    f"{META}.MicroTime": "micro-time",
    f"{META}.FieldsV1": "json",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "json",
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.api.authentication.v1.ExtraValue": "strings",
    "io.k8s.api.authentication.v1.AttestationValue": "strings",
    "io.k8s.api.authorization.v1.ExtraValue": "strings",
}
SCALARS = {"bool", "bytes", "int32", "int64", "string"}
INLINE = "<inline>"

Fields = dict[str, list[str]]


def served_kinds() -> Iterator[AnyKind]:
    yield from SERVED
    yield from (EVICTION, TOKEN_REQUEST)


class Derivation:
    """Walks messages and the types that hold them side by side."""

    def __init__(self, packages: dict[str, dict[str, dict[str, list[str]]]]) -> None:
        self._packages = packages
        self.messages: dict[str, Fields] = {}

    def add(self, package: str, name: str, shape: ObjectShape) -> str:
        """Note a message and all that it holds; returns its name in the file."""
        known = shorten(f"{package}.{name}")
        if known not in self.messages:
            self.messages[known] = {}
            self.messages[known] = dict(self._fields(package, name, shape))
        return known

    def _fields(self, package: str, name: str, shape: ObjectShape) -> Iterator[tuple[str, list[str]]]:
        for number, (json_name, type_name) in self._packages[package][name].items():
            if json_name == INLINE:
                yield number, ["", self.add(*self._locate(package, type_name), shape)]
            elif (field := shape.fields.get(json_name)) is not None:
                yield number, [json_name, self._type(package, type_name, field.shape)]

    def _type(self, package: str, type_name: str, shape: Shape) -> str:
        if type_name in SCALARS:
            return type_name
        if type_name.startswith("[]"):
            assert isinstance(shape, ListShape), (type_name, shape)
            return "[]" + self._type(package, type_name[2:], shape.item)
        if type_name.startswith("map<string,"):
            assert isinstance(shape, MapShape), (type_name, shape)
            return "{}" + self._type(package, type_name.removeprefix("map<string,")[:-1], shape.value)
        home, bare = self._locate(package, type_name)
        if (form := FORMS.get(f"{home}.{bare}")) is not None:
            return form
        assert isinstance(shape, ObjectShape), (type_name, shape)
        return self.add(home, bare, shape)

    def _locate(self, package: str, type_name: str) -> tuple[str, str]:
        home, _, bare = type_name.rpartition(".")
        return home or package, bare


def shorten(name: str) -> str:
    """`core.v1.Pod` for `io.k8s.api.core.v1.Pod`."""
    return ".".join(name.split(".")[-3:])


def derive(packages: dict[str, Any]) -> dict[str, Any]:
    derivation = Derivation(packages)
    kinds: dict[str, dict[str, str]] = {}
    for kind in served_kinds():
        for version in kind.versions:
            package = f"io.k8s.api.{package_of_group(kind.group)}.{version.name}"
            shape = get_shape(get_codec(kind, version.name).wire_struct)
            of_version = kinds.setdefault(kind.api_version(version.name), {})
            of_version[kind.name] = derivation.add(package, kind.name, shape)
    options = derivation.add(META, DeleteOptions.__name__, get_shape(DeleteOptions))
    kinds[""] = {DeleteOptions.__name__: options}
    return {"kinds": kinds, "messages": derivation.messages}


def render(derived: dict[str, Any]) -> str:
    """JSON with one line a message, so that a change shows where it is."""
    parts = []
    for part, members in derived.items():
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(members[name])}" for name in sorted(members))
        parts.append(f" {json.dumps(part)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the field numbers that the server reads protobuf by.")
    parser.add_argument("fields", type=Path, help="protobuf-fields.json of the recordings")
    packages = json.loads(parser.parse_args().fields.read_text(encoding="utf-8"))["packages"]
    TARGET.write_text(render(derive(packages)), encoding="utf-8")


if __name__ == "__main__":
    main()
