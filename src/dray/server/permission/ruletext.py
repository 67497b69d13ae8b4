"""Rules written down in few words: names are separated by spaces."""

from collections.abc import Sequence
from typing import Final

from dray.api.rbac.role import PolicyRule

__all__ = ["EVENTS", "READ", "WRITE", "paths", "rule"]

READ: Final = "get list watch"
WRITE: Final = "create delete deletecollection patch update"


def rule(verbs: str, groups: str | Sequence[str], resources: str, *, names: str = "") -> PolicyRule:
    """Allow verbs on resources of one group, or of several. Everything is stored in order of its letters."""
    return PolicyRule(
        verbs=_sorted(verbs),
        api_groups=(groups,) if isinstance(groups, str) else tuple(groups),
        resources=_sorted(resources),
        resource_names=_sorted(names),
    )


def paths(urls: str, *, verbs: str = "get") -> PolicyRule:
    """Allow to read paths that are no resources."""
    return PolicyRule(verbs=_sorted(verbs), non_resource_urls=_sorted(urls))


def _sorted(words: str) -> tuple[str, ...]:
    return tuple(sorted(words.split()))


EVENTS: Final = (rule("create patch update", ("", "events.k8s.io"), "events"),)
"""To tell what one does."""
