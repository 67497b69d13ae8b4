"""Write the large types of core/v1 as readable Structs: `python tools/generate_core_types.py RECORDINGS`.

RECORDINGS is a folder with `openapi/*.json` (schemas of the API server) and `golden/api-server/protobuf-fields.json`
(the order of declaration). What these do not know (modules, words, pointers) stands in `core_types.yaml` beside this
file. The modules it writes are committed and are what everything else reads; running it again changes nothing. It also
writes `tests/unit/api/core/recorded_fields.json`, the names and types that a test compares every Struct with.
"""

import argparse
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "dray" / "api" / "core"
RECORDED_FIELDS = ROOT / "tests" / "unit" / "api" / "core" / "recorded_fields.json"
PREFIX = "io.k8s.api.core.v1."
HAND_WRITTEN = {
    "NodeSelector": "dray.api.core.nodeselector",
    "NodeSelectorTerm": "dray.api.core.nodeselector",
    "NodeSelectorRequirement": "dray.api.core.nodeselector",
    "LabelSelector": "dray.api.meta",
    "ObjectMeta": "dray.api.meta",
    "Condition": "dray.api.meta",
    "Quantity": "dray.values.quantity",
    "Time": "dray.values.times",
    "MicroTime": "dray.values.times",
    "ZERO": "dray.values.quantity",
}
"""Types that the generated ones refer to, by the module that has them."""
STRUCT_NAMES = ("ATOMIC", "REQUIRED", "SET", "ApiStruct", "Int32", "Int64", "IntOrString")
STRUCT_FUNCTIONS = ("always", "always_null", "list_map")
ZEROS = {"str": '""', "bool": "False", "Int32": "0", "Int64": "0"}
ZERO_FACTORIES = {
    "str": "str",
    "bool": "bool",
    "Int32": "int",
    "Int64": "int",
    "IntOrString": "int",
    "Quantity": "lambda: ZERO",
}
LINE_LENGTH = 120
KINDS_COMPARED = (
    *("authentication.v1.TokenRequest", "coordination.v1.Lease", "events.v1.Event", "policy.v1.Eviction"),
    *("policy.v1.PodDisruptionBudget", "scheduling.v1.PriorityClass"),
    *(f"rbac.v1.{kind}" for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")),
    *(f"core.v1.{kind}" for kind in ("Binding", "ConfigMap", "Event", "LimitRange", "Namespace", "Node", "Pod")),
    *(f"core.v1.{kind}" for kind in ("ResourceQuota", "Secret", "Service", "ServiceAccount")),
)
JsonObject = dict[str, Any]


@dataclass(frozen=True)
class Words:
    """What core_types.yaml says."""

    modules: Mapping[str, Any]
    by_name: Mapping[str, str]
    names: Mapping[str, str]
    pointers: frozenset[str]
    omitted: frozenset[str]
    nullable: frozenset[str]
    always: frozenset[str]

    def describe(self, module: str, owner: str, name: str) -> str:
        """The description of a field; every field must have one."""
        text = self.modules[module]["types"][owner].get("fields", {}).get(name) or self.by_name.get(name)
        if not text:
            raise SystemExit(f"core_types.yaml does not describe {owner}.{name}")
        return str(text)


def read_words() -> Words:
    table = yaml.safe_load((ROOT / "tools" / "core_types.yaml").read_text())
    sets = {name: frozenset(table[name].split()) for name in ("pointers", "omitted", "nullable", "always")}
    return Words(modules=table["modules"], by_name=table["by_name"], names=table["names"], **sets)


def read_schemas(recordings: Path) -> dict[str, JsonObject]:
    schemas: dict[str, JsonObject] = {}
    for path in sorted((recordings / "openapi").glob("*.json")):
        schemas |= json.loads(path.read_text())["schemas"]
    return schemas


def read_order(recordings: Path) -> dict[str, list[str]]:
    """The fields of every core type in the order of their numbers, inlined messages in place."""
    table = json.loads((recordings / "golden" / "api-server" / "protobuf-fields.json").read_text())
    messages = table["packages"]["io.k8s.api.core.v1"]

    def fields(message: str) -> Iterator[str]:
        for _, (name, kind) in sorted(messages[message].items(), key=lambda item: int(item[0])):
            if name == "<inline>":
                yield from fields(kind)
            else:
                yield name

    return {message: list(fields(message)) for message in messages}


def snake_case(name: str, names: Mapping[str, str]) -> str:
    """`podIPs` -> `pod_ips`, `setHostnameAsFQDN` -> `set_hostname_as_fqdn`."""
    if name in names:
        return names[name]
    words = re.findall(r"[A-Z]{2,}s(?![a-z])|[A-Z]{2,}(?=[A-Z][a-z]|$)|[A-Z]?[a-z0-9]+|[A-Z]+", name)
    return "_".join(word.lower() for word in words)


def camel_case(name: str) -> str:
    """What `rename="camel"` makes of a Python name."""
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def reference(prop: JsonObject) -> str | None:
    """The name of the type a property refers to, without its package."""
    target = prop.get("$ref") or next((each["$ref"] for each in prop.get("allOf", ())), None)
    return target.rsplit(".", 1)[-1] if target else None


def python_type(prop: JsonObject) -> str:
    """The Python type of a property, absence aside."""
    named = reference(prop)
    if named:
        return named
    match prop.get("type"):
        case "array":
            return f"tuple[{python_type(prop['items'])}, ...]"
        case "object":
            return f"Mapping[str, {python_type(prop['additionalProperties'])}]"
        case "integer":
            return "Int32" if prop.get("format") == "int32" else "Int64"
        case "boolean":
            return "bool"
        case "string" if prop.get("format") == "byte":
            return "bytes"
        case "string":
            return "str"
        case other:
            raise SystemExit(f"no Python type for {other}")


def list_facts(prop: JsonObject) -> list[str]:
    """How a list or map merges, as an expression of dray.api.struct."""
    merge_key, patch = prop.get("x-kubernetes-patch-merge-key"), prop.get("x-kubernetes-patch-strategy")
    parts: list[str] = []
    match prop.get("x-kubernetes-list-type"):
        case "map":
            keys = prop["x-kubernetes-list-map-keys"]
            if patch and merge_key != keys[0]:
                raise SystemExit(f"merge key {merge_key} is not the first of {keys}")
            quoted = ", ".join(f'"{each}"' for each in keys)
            parts.append(f"list_map({quoted})" if patch == "merge" else f'list_map({quoted}, patch="{patch or ""}")')
        case "atomic" | "set" as kind:
            parts.append(kind.upper())
            facts = {"patch": patch, "merge_key": merge_key}
            if patch:
                parts.append(json.dumps({name: fact for name, fact in facts.items() if fact}))
    if "x-kubernetes-map-type" in prop:
        parts.append(json.dumps({"map": prop["x-kubernetes-map-type"]}))
    return parts


def describe_meta(description: str, parts: list[str]) -> str:
    pieces = textwrap.wrap(description, LINE_LENGTH - 32, drop_whitespace=False) or [""]
    text = " ".join(json.dumps(piece, ensure_ascii=False) for piece in pieces)
    extra = f", extra={' | '.join(parts)}" if parts else ""
    return f"Meta(description={text}{extra})"


class FieldWriter:
    """Writes the fields of one type."""

    def __init__(self, words: Words, module: str, owner: str, schema: JsonObject) -> None:
        self.words, self.module, self.owner, self.schema = words, module, owner, schema

    def write(self, name: str) -> str:
        """The declaration of one field, on one line; the formatter breaks it."""
        prop = self.schema["properties"][name]
        kind, zero, absent = self._shape(name, prop)
        python_name = snake_case(name, self.words.names)
        wire_name = None if camel_case(python_name) == name else name
        parts = ["REQUIRED"] if name in self.schema.get("required", ()) else []
        parts += list_facts(prop)
        values = prop.get("enum") or prop.get("items", {}).get("enum")
        if values:
            parts.append(self._enum(values))
        if prop.get("default", {}) != {} and absent != "always":
            parts.append(repr({"default": prop["default"]}))
        meta = describe_meta(self.words.describe(self.module, self.owner, name), parts)
        return f"    {python_name}: Annotated[{kind}, {meta}] = {self._default(zero, absent, wire_name)}"

    def _enum(self, values: list[str]) -> str:
        if "SIGTERM" in values:
            return '{"enum": SIGNALS}'
        return '{"enum": (' + "".join(f'"{value}", ' for value in values) + ")}"

    def _shape(self, name: str, prop: JsonObject) -> tuple[str, str, str]:
        """The annotated type, its zero, and how absence is declared: plain, always or null."""
        kind, path = python_type(prop), f"{self.owner}.{name}"
        required = name in self.schema.get("required", ())
        if path in self.words.nullable or (kind in ("Time", "MicroTime") and path not in self.words.pointers):
            return f"{kind} | None", "None", "null"
        if path in self.words.pointers:
            return f"{kind} | None", "None", "plain"
        if kind in ZEROS:
            is_written = prop.get("default") in ("", 0, False) and path not in self.words.omitted
            return (kind, ZERO_FACTORIES[kind], "always") if is_written else (kind, ZEROS[kind], "plain")
        if kind.startswith("Mapping"):
            return kind, "{}", "plain"
        if kind.startswith("tuple"):
            # A plain `tuple` would be taken for the empty default and left out.
            return (kind, "lambda: ()", "always") if required else (kind, "()", "plain")
        if required or "default" in prop or path in self.words.always:
            return kind, ZERO_FACTORIES.get(kind, kind), "always"
        return f"{kind} | None", "None", "plain"

    def _default(self, zero: str, absent: str, wire_name: str | None) -> str:
        named = f', name="{wire_name}"' if wire_name else ""
        if absent == "always":
            return f"always({zero}{named})"
        if absent == "null":
            return f"always_null({named[2:]})"
        if wire_name and zero == "{}":
            return f"field(default_factory=dict{named})"
        return f"field(default={zero}{named})" if wire_name else zero


def write_type(words: Words, module: str, name: str, schema: JsonObject, order: list[str]) -> str:
    entry = words.modules[module]["types"][name]
    doc = entry["doc"]
    closing = "\n    " if "\n" in doc else ""
    lines = [f"class {name}(ApiStruct):", f'    """{textwrap.indent(doc, "    ").lstrip()}{closing}"""', ""]
    extensions = {key: schema[key] for key in schema if key in ("x-kubernetes-map-type", "x-kubernetes-unions")}
    if extensions:
        lines += [f"    schema_extensions: ClassVar[Mapping[str, object]] = {extensions!r}", ""]
    missing = set(schema["properties"]) - set(order)
    if missing:
        raise SystemExit(f"{name} has fields of unknown order: {sorted(missing)}")
    writer = FieldWriter(words, module, name, schema)
    lines += [writer.write(field) for field in order if field in schema["properties"]]
    return "\n".join(lines)


def write_module(words: Words, module: str, schemas: dict[str, JsonObject], order: dict[str, list[str]]) -> str:
    types: JsonObject = words.modules[module]["types"]
    body = "\n\n\n".join(write_type(words, module, name, schemas[PREFIX + name], order[name]) for name in types)
    homes = dict(HAND_WRITTEN)
    for other, entry in words.modules.items():
        homes |= {name: f"dray.api.core.{other}" for name in entry["types"] if other != module}
    homes |= dict.fromkeys((*STRUCT_NAMES, *STRUCT_FUNCTIONS), "dray.api.struct")
    homes |= {"Mapping": "collections.abc", "ClassVar": "typing", "Annotated": "typing", "Meta": "msgspec"}
    homes |= {"field": "msgspec", "SIGNALS": "dray.api.core.signals"}
    code = re.sub(r'"[^"\n]*"', '""', body)
    used: dict[str, list[str]] = {}
    for name, home in homes.items():
        mark = r"\(" if name in (*STRUCT_FUNCTIONS, "field", "Meta") else ""
        if re.search(rf"(?<![\w.]){name}\b{mark}", code):
            used.setdefault(home, []).append(name)
    imports = "\n".join(f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(used.items()))
    origin = "Written by tools/generate_core_types.py; change its table, not this."
    doc = f'"""{words.modules[module]["doc"]}\n\n{origin}\n"""'
    exported = "__all__ = [" + ", ".join(f'"{name}"' for name in sorted(types)) + "]"
    return f"{doc}\n\n{imports}\n\n{exported}\n\n\n{body}\n"


def recorded_fields(schemas: dict[str, JsonObject]) -> dict[str, dict[str, str]]:
    """Names and types of every field of the kinds that dray has and all below them."""
    table: dict[str, dict[str, str]] = {}
    waiting = [f"io.k8s.api.{kind}" for kind in KINDS_COMPARED]
    while waiting:
        name = waiting.pop()
        short = name.removeprefix("io.k8s.api.")
        if short in table or short == name or name not in schemas:
            continue
        properties = schemas[name].get("properties", {})
        table[short] = {field: python_type(prop) for field, prop in properties.items()}
        waiting += re.findall(r"#/components/schemas/([\w.]+)", json.dumps(properties))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", type=Path, help="folder with openapi/ and golden/api-server/")
    recordings = parser.parse_args().recordings
    words, schemas, order = read_words(), read_schemas(recordings), read_order(recordings)
    written = []
    for module in words.modules:
        path = PACKAGE / f"{module}.py"
        path.write_text(write_module(words, module, schemas, order))
        written.append(str(path))
    RECORDED_FIELDS.write_text(json.dumps(recorded_fields(schemas), indent=1, sort_keys=True) + "\n")
    for verb in (["check", "--fix", "--select", "I,RUF022"], ["format"]):
        subprocess.run([sys.executable, "-m", "ruff", *verb, "--quiet", *written], check=True)


if __name__ == "__main__":
    main()
