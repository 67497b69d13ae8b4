"""Rules of roles: compiled, so that asking one costs next to nothing, and compared with each other.

A rule allows an act if it names the verb, the group and the resource (`*` stands for all, `*/status` for that
subresource of all), and the name where it names names. A rule with names therefore never allows what has no name yet,
such as a creation or a list.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dray.api.rbac.role import PolicyRule
from dray.server.ports import AccessAttributes
from dray.values.quoting import quote

__all__ = ["CompiledRule", "compact_rules", "compile_rule", "find_uncovered", "format_rule", "is_allowed"]

_ALL = "*"


class CompiledRule(Struct, frozen=True, gc=False):
    """One rule, with `*` taken apart from what is named."""

    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    names: frozenset[str]
    urls: tuple[str, ...]

    def allows_resource(self, act: AccessAttributes, resource: str) -> bool:
        """Whether it allows an act on `resource`, which is `pods` or `pods/status`."""
        return (
            (act.verb in self.verbs or _ALL in self.verbs)
            and (act.group in self.groups or _ALL in self.groups)
            and (not self.names or act.name in self.names)
            and (
                resource in self.resources
                or _ALL in self.resources
                or (act.subresource != "" and f"*/{act.subresource}" in self.resources)
            )
        )

    def allows_path(self, act: AccessAttributes) -> bool:
        """Whether it allows an act on a path that is no resource."""
        return (act.verb in self.verbs or _ALL in self.verbs) and any(_path_covers(url, act.path) for url in self.urls)


def compile_rule(rule: PolicyRule) -> CompiledRule:
    """Make a rule quick to ask."""
    return CompiledRule(
        verbs=frozenset(rule.verbs),
        groups=frozenset(rule.api_groups),
        resources=frozenset(rule.resources),
        names=frozenset(rule.resource_names),
        urls=rule.non_resource_urls,
    )


def is_allowed(rules: Iterable[CompiledRule], act: AccessAttributes) -> bool:
    """Whether one of the rules allows it."""
    if act.path:
        return any(rule.allows_path(act) for rule in rules)
    resource = f"{act.resource}/{act.subresource}" if act.subresource else act.resource
    return any(rule.allows_resource(act, resource) for rule in rules)


def _path_covers(url: str, path: str) -> bool:
    return url in (_ALL, path) or (url.endswith(_ALL) and path.startswith(url.rstrip(_ALL)))


def find_uncovered(held: Sequence[PolicyRule], wanted: Iterable[PolicyRule]) -> list[PolicyRule]:
    """What of `wanted` is not allowed by `held`, as rules of one verb on one resource or path, in order.

    Each part must be covered by a single rule that is held. That is strict: two rules that together allow every verb do
    not cover `*`.
    """
    return [part for rule in wanted for part in _parts(rule) if not any(_covers(owner, part) for owner in held)]


def _parts(rule: PolicyRule) -> Iterator[PolicyRule]:
    for group in rule.api_groups:
        for resource in rule.resources:
            for verb in rule.verbs:
                part = PolicyRule(verbs=(verb,), api_groups=(group,), resources=(resource,))
                if not rule.resource_names:
                    yield part
                for name in rule.resource_names:
                    yield replace(part, resource_names=(name,))
    for url in rule.non_resource_urls:
        for verb in rule.verbs:
            yield PolicyRule(verbs=(verb,), non_resource_urls=(url,))


def _covers(owner: PolicyRule, part: PolicyRule) -> bool:
    return (
        _includes(owner.verbs, part.verbs)
        and _includes(owner.api_groups, part.api_groups)
        and all(_includes_resource(owner.resources, resource) for resource in part.resources)
        and all(any(_path_covers(url, wanted) for url in owner.non_resource_urls) for wanted in part.non_resource_urls)
        and (not owner.resource_names or (part.resource_names != () and _has(owner.resource_names, part)))
    )


def _includes(held: Sequence[str], wanted: Sequence[str]) -> bool:
    return _ALL in held or all(each in held for each in wanted)


def _includes_resource(held: Sequence[str], wanted: str) -> bool:
    _, slash, subresource = wanted.partition("/")
    return _ALL in held or wanted in held or (slash != "" and f"*/{subresource}" in held)


def _has(names: Sequence[str], part: PolicyRule) -> bool:
    return all(name in names for name in part.resource_names)


def compact_rules(rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    """Join rules on one resource (and at most one name) that differ in their verbs only."""
    compacted: list[PolicyRule] = []
    joined: dict[tuple[str, str, tuple[str, ...]], PolicyRule] = {}
    for rule in rules:
        if (
            rule.non_resource_urls
            or len(rule.api_groups) != 1
            or len(rule.resources) != 1
            or len(rule.resource_names) > 1
        ):
            compacted.append(rule)
            continue
        key = (rule.api_groups[0], rule.resources[0], rule.resource_names)
        known = joined.get(key)
        joined[key] = rule if known is None else replace(known, verbs=known.verbs + rule.verbs)
    return [*compacted, *joined.values()]


def format_rule(rule: PolicyRule) -> str:
    """Print a rule on one line: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`."""
    shown = (
        ("APIGroups", rule.api_groups),
        ("Resources", rule.resources),
        ("NonResourceURLs", rule.non_resource_urls),
        ("ResourceNames", rule.resource_names),
        ("Verbs", rule.verbs),
    )
    parts = (f"{name}:[{' '.join(map(quote, values))}]" for name, values in shown if values)
    return "{" + ", ".join(parts) + "}"
