"""Write what the tests know of Kubernetes' own schemas: `python tools/openapi_facts.py RECORDINGS`.

RECORDINGS is a folder of recorded OpenAPI documents, `apis_resource.k8s.io_v1.json` and so on. Written is
`tests/golden/openapi/fields.json`: every type that a served version of resource.k8s.io or another served kind
consists of, with the type, default, values and merge rules of each field in one line.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["describe_schema", "reachable"]

FACTS = Path(__file__).resolve().parent.parent / "tests" / "golden" / "openapi" / "fields.json"
ROOTS = {
    "apis_resource.k8s.io_v1": None,
    "apis_resource.k8s.io_v1beta2": None,
    "apis_resource.k8s.io_v1beta1": None,
    "apis_resource.k8s.io_v1alpha3": None,
    "apis_coordination.k8s.io_v1": ("coordination.v1.Lease",),
    "apis_events.k8s.io_v1": ("events.v1.Event",),
    "apis_policy_v1": ("policy.v1.PodDisruptionBudget",),
    "apis_rbac.authorization.k8s.io_v1": (
        "rbac.v1.ClusterRole",
        "rbac.v1.ClusterRoleBinding",
        "rbac.v1.Role",
        "rbac.v1.RoleBinding",
    ),
    "apis_scheduling.k8s.io_v1": ("scheduling.v1.PriorityClass",),
    "api_v1": (
        "core.v1.Binding",
        "core.v1.ConfigMap",
        "core.v1.Event",
        "core.v1.LimitRange",
        "core.v1.Namespace",
        "core.v1.Node",
        "core.v1.Pod",
        "core.v1.ResourceQuota",
        "core.v1.Secret",
        "core.v1.Service",
        "core.v1.ServiceAccount",
    ),
}
"""Documents, and the types to start from, less `io.k8s.api`; None: every kind of the group."""
REFERENCE = "#/components/schemas/"
EXTENSION = "x-kubernetes-"

Schema = Mapping[str, Any]


def describe_schema(schema: Schema) -> dict[str, str]:
    """A type as one line a field; what concerns the type itself stands under `.`."""
    required = schema.get("required", [])
    described = {
        name: describe_field(field) + (" required" if name in required else "")
        for name, field in schema.get("properties", {}).items()
    }
    own = [describe_type(schema), *describe_extensions(schema)]
    return dict(sorted(described.items())) | {".": " ".join(own)}


def describe_field(field: Schema) -> str:
    parts = [describe_type(field)]
    if "default" in field:
        parts.append(f"default={json.dumps(field['default'])}")
    values = field.get("enum") or field.get("items", {}).get("enum")
    if values:
        parts.append(f"enum={'|'.join(values)}")
    return " ".join([*parts, *describe_extensions(field)])


def describe_type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(REFERENCE)
    if "allOf" in schema:
        return describe_type(schema["allOf"][0])
    if "oneOf" in schema:
        return "|".join(describe_type(each) for each in schema["oneOf"])
    if schema.get("type") == "array":
        return f"[]{describe_type(schema['items'])}"
    if "additionalProperties" in schema:
        return f"map of {describe_type(schema['additionalProperties'])}"
    return str(schema.get("format", schema.get("type", "any")))


def describe_extensions(schema: Schema) -> Iterator[str]:
    for key in sorted(schema):
        if key.startswith(EXTENSION):
            value = schema[key]
            if isinstance(value, list) and value and isinstance(value[0], str):
                value = ",".join(value)
            text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            yield f"{key.removeprefix(EXTENSION)}={text}"


def reachable(schemas: Mapping[str, Schema], roots: Iterator[str]) -> Iterator[str]:
    """The types that some types consist of, themselves included."""
    waiting, seen = list(roots), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            yield name
            waiting += find_references(schemas[name])


def find_references(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        reference = value.get("$ref")
        if isinstance(reference, str):
            yield reference.removeprefix(REFERENCE)
        for each in value.values():
            yield from find_references(each)
    elif isinstance(value, list):
        for each in value:
            yield from find_references(each)


def kinds_of(schemas: Mapping[str, Schema]) -> Iterator[str]:
    return (name for name in schemas if name.startswith("io.k8s.api.resource.") and _is_kind(schemas[name]))


def _is_kind(schema: Schema) -> bool:
    return f"{EXTENSION}group-version-kind" in schema


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the table of recorded fields.")
    parser.add_argument("recordings", type=Path)
    folder: Path = parser.parse_args().recordings
    facts: dict[str, dict[str, str]] = {}
    for document, roots in ROOTS.items():
        schemas = json.loads((folder / f"{document}.json").read_text(encoding="utf-8"))["schemas"]
        names = [f"io.k8s.api.{root}" for root in roots] if roots else list(kinds_of(schemas))
        names += [f"{name}List" for name in names if f"{name}List" in schemas]
        for name in reachable(schemas, iter(names)):
            facts[name] = describe_schema(schemas[name])
    FACTS.parent.mkdir(parents=True, exist_ok=True)
    FACTS.write_text(json.dumps(dict(sorted(facts.items())), indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
