"""What SARIF 2.1.0 demands of a log (its section 3, and the properties that its schema requires)."""

from urllib.parse import urlsplit

import msgspec
import pytest

from dray.authoring.findings import RULES, Finding, Severity
from dray.cli.sarif import make_sarif

FINDINGS = [
    Finding("yaml-syntax", Severity.ERROR, "deploy/a b.yaml", 3, "", "not YAML"),
    Finding("cel-type", Severity.WARNING, "/srv/x:y.yaml", 0, "spec.selectors[0]", "never equal", "did you mean 5?"),
    Finding("implicit-count", Severity.NOTE, "standard input", 7, "spec", "count is 1", subject='Pod "a"'),
]


class Text(msgspec.Struct, forbid_unknown_fields=True):
    text: str


class ArtifactLocation(msgspec.Struct, forbid_unknown_fields=True):
    uri: str


class Region(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    start_line: int


class PhysicalLocation(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    artifact_location: ArtifactLocation
    region: Region


class LogicalLocation(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    fully_qualified_name: str
    kind: str


class Location(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    physical_location: PhysicalLocation
    logical_locations: list[LogicalLocation] = []


class Result(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    message: Text
    rule_id: str
    rule_index: int
    level: str
    locations: list[Location]


class Configuration(msgspec.Struct, forbid_unknown_fields=True):
    level: str


class Descriptor(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    id: str
    short_description: Text
    full_description: Text
    default_configuration: Configuration


class Component(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    name: str
    semantic_version: str
    rules: list[Descriptor]


class Tool(msgspec.Struct, forbid_unknown_fields=True):
    driver: Component


class Invocation(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    execution_successful: bool


class Run(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    tool: Tool
    results: list[Result]
    column_kind: str
    invocations: list[Invocation]


class Log(msgspec.Struct, forbid_unknown_fields=True):
    version: str
    runs: list[Run]
    schema: str = msgspec.field(name="$schema")


LEVELS = {"none", "note", "warning", "error"}


@pytest.fixture
def run() -> Run:
    log = msgspec.convert(make_sarif(FINDINGS), Log)
    assert log.version == "2.1.0"
    assert log.schema.endswith("sarif-schema-2.1.0.json")
    (run,) = log.runs
    return run


def test_tool_has_every_rule_once(run: Run) -> None:
    names = [rule.id for rule in run.tool.driver.rules]
    assert names == [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert {rule.default_configuration.level for rule in run.tool.driver.rules} <= LEVELS
    assert all(rule.full_description.text.endswith(".") for rule in run.tool.driver.rules)


def test_results_name_their_rule_by_id_and_by_place(run: Run) -> None:
    for result in run.results:
        assert run.tool.driver.rules[result.rule_index].id == result.rule_id
        assert result.level in LEVELS
        assert result.message.text
    assert run.column_kind in {"utf16CodeUnits", "unicodeCodePoints"}
    assert run.invocations == [Invocation(True)]


def test_files_are_uris_and_lines_begin_with_one(run: Run) -> None:
    places = [result.locations[0].physical_location for result in run.results]
    uris = [place.artifact_location.uri for place in places]
    assert uris == ["deploy/a%20b.yaml", "file:///srv/x%3Ay.yaml", "standard%20input"]
    assert [urlsplit(uri).scheme for uri in uris] == ["", "file", ""]
    assert [place.region.start_line for place in places] == [3, 1, 7]


def test_hint_and_path_are_told(run: Run) -> None:
    assert run.results[1].message.text == "never equal\ndid you mean 5?"
    assert run.results[1].locations[0].logical_locations == [LogicalLocation("spec.selectors[0]", "member")]
    assert run.results[0].locations[0].logical_locations == []


def test_nothing_found_is_a_log_too() -> None:
    assert msgspec.convert(make_sarif([]), Log).runs[0].results == []
