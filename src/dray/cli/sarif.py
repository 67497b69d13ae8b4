"""Findings in SARIF 2.1.0, the format that code hosts show beside the lines of a change."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final
from urllib.parse import quote

from dray import __version__
from dray.authoring.findings import RULES, Finding, Rule

__all__ = ["make_sarif"]

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_INDEX: Final = {rule.name: index for index, rule in enumerate(RULES)}


def make_sarif(findings: Sequence[Finding]) -> dict[str, object]:
    """The log of one run, with every rule and every finding."""
    driver = {"name": "dray", "semanticVersion": __version__, "rules": [_describe(rule) for rule in RULES]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True}],
        "results": [_result(each) for each in findings],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _describe(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.help},
        "defaultConfiguration": {"level": rule.severity},
    }


def _locate(file: str) -> str:
    """A file as a URI, relative as it was named."""
    path = PurePath(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def _result(finding: Finding) -> dict[str, object]:
    hint = f"\n{finding.hint}" if finding.hint else ""
    location: dict[str, object] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _locate(finding.file)},
            "region": {"startLine": max(finding.line, 1)},
        }
    }
    if finding.path:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.path, "kind": "member"}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": _INDEX[finding.rule],
        "level": finding.severity,
        "message": {"text": finding.message + hint},
        "locations": [location],
    }
