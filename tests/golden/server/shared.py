"""Of answers that cannot be equal, what has to be equal nevertheless."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import yaml

from dray.api.registry import SERVED

__all__ = ["SHARED"]

Json = dict[str, Any]

_GROUPS: Final = {kind.group for kind in SERVED}
_CORE: Final = {kind.plural for kind in SERVED if not kind.group}


def _prefix(body: Json) -> Json:
    """The suffix of a generated name is random."""
    metadata = body["metadata"]
    suffix = metadata["name"].removeprefix(metadata["generateName"])
    return {**body, "metadata": {**metadata, "name": len(suffix)}}


def _value(body: str) -> Any:
    """Times and uids stand in text."""
    return yaml.safe_load(body)


def _message(body: Json) -> Json:
    """The refusal goes on with Kubernetes' internal object, line by line."""
    details = body["details"]
    causes = [{**each, "message": _first_line(each["message"])} for each in details["causes"]]
    return {**body, "message": _first_line(body["message"]), "details": {**details, "causes": causes}}


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _served(body: Json) -> Json:
    """dray serves fewer kinds of core/v1."""
    kept = [each for each in body["resources"] if each["name"].partition("/")[0] in _CORE]
    return {**body, "resources": kept}


def _rules(body: Json) -> Json:
    """Rules come in no order, and some are about groups that dray does not serve."""
    status = body["status"]
    kept = [each for each in status["resourceRules"] if _GROUPS.intersection(each["apiGroups"])]
    ordered = sorted(status["nonResourceRules"], key=str)
    return {**body, "status": {**status, "resourceRules": sorted(kept, key=str), "nonResourceRules": ordered}}


def _role(body: Json) -> Json:
    """Rules of other roles are written in at once, not by a controller; dray has kinds on top, last."""
    metadata = {key: value for key, value in body["metadata"].items() if key != "managedFields"}
    kept = [each for each in body["rules"] if each["apiGroups"] != ["scheduling.k8s.io"]]
    return {**body, "metadata": metadata, "rules": kept}


SHARED: Final[Mapping[str, Callable[[Any], Any]]] = {
    "generateName": _prefix,
    "yaml accept": _value,
    "pod spec immutable": _message,
    "SA discovery ok": _served,
    "SSRR": _rules,
    "clusterroles admin/edit/view": _role,
}
"""By the name of a recording."""
