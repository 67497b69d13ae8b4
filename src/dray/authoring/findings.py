"""What may be found in a manifest: the rules by their stable names, and one finding."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct

__all__ = ["RULES", "Finding", "Rule", "Severity", "find_rule"]


class Severity(StrEnum):
    """How bad it is. Errors keep the manifest from doing what it says; notes are only worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(Struct, frozen=True):
    """One kind of finding. Its name is stable: people switch rules off by it, and tools count by it."""

    name: str
    severity: Severity
    title: str
    help: str


class Finding(Struct, frozen=True, rename="camel"):
    """One thing that was found, and where. The path is empty for a document as a whole."""

    rule: str
    severity: Severity
    file: str
    line: int
    path: str
    message: str
    hint: str | None = None
    subject: str = ""
    """The object: `ResourceClaim "ml/train-0"`."""


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

RULES: Final[tuple[Rule, ...]] = (
    Rule("yaml-syntax", _E, "The text is not YAML", "The document is left out; the others are looked at."),
    Rule(
        "yaml-separator",
        _E,
        "Documents are parted by something that only looks like ---",
        "Word processors and web pages turn three hyphens into a dash. The line is read as a separator.",
    ),
    Rule(
        "yaml-space",
        _E,
        "A space or a tab that YAML does not take",
        "Tabs do not indent, and spaces from web pages (no-break, zero width) are no spaces. They are read as spaces.",
    ),
    Rule(
        "yaml-dash",
        _E,
        "A list item begins with a dash that is no hyphen",
        "Word processors and web pages turn hyphens into dashes and bullets. The sign is read as a hyphen.",
    ),
    Rule(
        "yaml-quotes",
        _E,
        "Typographic quotes",
        "Curly quotes are ordinary characters of a text. They are read as straight ones.",
    ),
    Rule(
        "ellipsis",
        _E,
        "An ellipsis stands for what is not shown",
        "Introductions shorten what they show. What stands there is read as if the ellipsis were not.",
    ),
    Rule("not-an-object", _E, "A document is no object", "An object is a map with apiVersion and kind."),
    Rule("duplicate-field", _E, "One entry of a map twice", "Of two entries with one name the last counts, at best."),
    Rule(
        "unknown-kind",
        _E,
        "No kind of this name in this version",
        "The name of the kind or of its version has a mistake in it.",
    ),
    Rule(
        "unchecked-kind",
        _N,
        "A kind that is not looked at",
        "Kinds outside of what dray serves are taken as they are; of workloads, the template of pods is looked at.",
    ),
    Rule(
        "version-gone",
        _E,
        "No current server has this version",
        "kubectl says `no matches for kind`. The object is judged as what it becomes in v1.",
    ),
    Rule("version-deprecated", _W, "The version is deprecated", "It still applies, with a warning; v1 lasts."),
    Rule(
        "classic-api",
        _E,
        "The classic API of DRA",
        "ResourceClass, parametersRef and PodSchedulingContext went with Kubernetes 1.32: drivers decided then, "
        "now requests say what is wanted.",
    ),
    Rule(
        "missing-fact",
        _W,
        "A fact that only its author knows",
        "The classic API left it to the driver what was wanted. dray convert leaves a comment in its place.",
    ),
    Rule("schema", _E, "A field or value that the API server refuses", "Its words, with the path of the field."),
    Rule("server-warning", _W, "The API server would warn", "The object applies all the same."),
    Rule(
        "wrong-nesting",
        _E,
        "Something stands in the wrong place",
        "A field that belongs elsewhere: beside or below where it was written.",
    ),
    Rule(
        "wrong-name", _E, "A field or value by another name", "What it was called once, or is often called by mistake."
    ),
    Rule("missing-name", _E, "Something needs a name", "Requests are referred to by name, so each has one."),
    Rule("missing-image", _E, "A container without an image", "Introductions leave it out; the API server does not."),
    Rule(
        "deprecated-form",
        _W,
        "A form of older versions",
        "Such as `source` in a pod's resourceClaims, which was flattened.",
    ),
    Rule(
        "device-plugin-style",
        _N,
        "Devices are asked for as an extended resource",
        "That works with device plugins, or with a DeviceClass that has an extendedResourceName; a claim says more.",
    ),
    Rule(
        "driver-config",
        _E,
        "Parameters that the driver does not take",
        "Configuration is opaque to the API server; what is known of the driver's kinds is checked.",
    ),
    Rule("cel-compile", _E, "An expression that does not compile", "The API server refuses the object for it."),
    Rule(
        "quantity-as-text",
        _E,
        "A quantity is compared with text or numbers",
        'Quantities have methods: .compareTo(quantity("16Gi")) >= 0. As an attribute the value does not exist.',
    ),
    Rule(
        "attribute-or-capacity",
        _E,
        "A capacity is read as an attribute, or the other way round",
        "Amounts are in device.capacity, everything else in device.attributes.",
    ),
    Rule(
        "unknown-attribute",
        _W,
        "No known device has this attribute or capacity",
        "Known is what slices of the cluster or of the input publish, else what the simulated profiles do. "
        "A selector that reads what is not there fails.",
    ),
    Rule(
        "unknown-domain",
        _W,
        "The domain of an attribute is none of the driver's",
        "Attributes are read by the name of the driver, or by a domain such as resource.kubernetes.io.",
    ),
    Rule(
        "cel-type",
        _W,
        "An attribute is compared with a value of another type",
        "It is never equal, and versions are compared by .compareTo(semver(...)).",
    ),
    Rule(
        "selector-fails",
        _W,
        "An expression fails on every known device",
        "What it reads is not there, or of a type that cannot be compared so. The scheduler gives the pod up for it.",
    ),
    Rule(
        "contradiction",
        _E,
        "Conditions that no device can meet together",
        "Those of the class and of the request hold all at once.",
    ),
    Rule(
        "no-match",
        _W,
        "No known device meets the conditions",
        "Tried on what the cluster or the input publishes, else on what the simulated profiles do. With a cluster or "
        "slices at hand the devices are counted too.",
    ),
    Rule("too-many-devices", _E, "More devices than a claim can have", "A claim is allocated at most 32 devices."),
    Rule(
        "implicit-count",
        _N,
        "The count is not written",
        "A request without allocationMode and count is for one device.",
    ),
    Rule(
        "dangling-reference",
        _W,
        "Something is referred to that is not there",
        "Looked for in the input and, with --cluster, in the cluster.",
    ),
    Rule(
        "reference-elsewhere",
        _N,
        "Something is referred to that is not in the input",
        "It has to be in the cluster already.",
    ),
    Rule("unknown-request", _E, "A request that the claim does not have", "Containers and constraints name requests."),
    Rule("duplicate-object", _E, "One object twice in the input", "The second apply changes the first, or nothing."),
)
"""Every rule, in the order of the documentation."""

_BY_NAME = {rule.name: rule for rule in RULES}


def find_rule(name: str) -> Rule:
    """The rule of that name, which must be one."""
    return _BY_NAME[name]
