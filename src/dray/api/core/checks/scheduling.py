"""Where a pod may go: affinity, tolerations, spreading and gates."""

from collections.abc import Iterator, Sequence

from dray.api.core.affinity import (
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    TopologySpreadConstraint,
)
from dray.api.core.checks.naming import choice_faults, key_faults, label_faults
from dray.api.core.checks.selectors import label_selector_faults, node_selector_faults, node_selector_term_faults
from dray.api.core.podspec import PodSchedulingGate
from dray.api.core.taints import Toleration
from dray.errors import FieldError, duplicate, forbidden, invalid, required
from dray.values.fieldpath import FieldPath
from dray.values.names import label_value_faults

__all__ = ["TAINT_EFFECTS", "affinity_faults", "gate_faults", "spread_faults", "toleration_faults"]

TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _weight_faults(weight: int, path: FieldPath) -> Iterator[FieldError]:
    if not 1 <= weight <= 100:
        yield invalid(path / "weight", weight, "must be in the range 1-100")


def affinity_faults(affinity: Affinity, path: FieldPath) -> Iterator[FieldError]:
    """Rules about nodes and about other pods."""
    if affinity.node_affinity is not None:
        at = path / "nodeAffinity"
        wanted = affinity.node_affinity.required_during_scheduling_ignored_during_execution
        if wanted is not None:
            yield from node_selector_faults(wanted, at / _REQUIRED)
        preferences = affinity.node_affinity.preferred_during_scheduling_ignored_during_execution
        for index, preference in enumerate(preferences):
            yield from _weight_faults(preference.weight, at / _PREFERRED / index)
            yield from node_selector_term_faults(preference.preference, at / _PREFERRED / index / "preference")
    if affinity.pod_affinity is not None:
        yield from _neighbour_faults(affinity.pod_affinity, path / "podAffinity")
    if affinity.pod_anti_affinity is not None:
        yield from _neighbour_faults(affinity.pod_anti_affinity, path / "podAntiAffinity")


def _neighbour_faults(affinity: PodAffinity | PodAntiAffinity, path: FieldPath) -> Iterator[FieldError]:
    for index, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        yield from _term_faults(term, path / _REQUIRED / index)
    for index, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        at = path / _PREFERRED / index
        yield from _weight_faults(weighted.weight, at)
        yield from _term_faults(weighted.pod_affinity_term, at / "podAffinityTerm")


def _term_faults(term: PodAffinityTerm, path: FieldPath) -> Iterator[FieldError]:
    yield from label_selector_faults(term.label_selector, path / "labelSelector")
    yield from label_selector_faults(term.namespace_selector, path / "namespaceSelector")
    for name in term.namespaces:
        yield from label_faults(name, path / "namespace")
    yield from _match_label_keys_faults(term, path)
    yield from _topology_key_faults(term.topology_key, path / "topologyKey")


def _topology_key_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    if not text:
        yield required(path, "can not be empty", hint="name a node label, such as kubernetes.io/hostname")
    yield from key_faults(text, path)


def _match_label_keys_faults(term: PodAffinityTerm, path: FieldPath) -> Iterator[FieldError]:
    lists = (("matchLabelKeys", term.match_label_keys), ("mismatchLabelKeys", term.mismatch_label_keys))
    for name, keys in lists:
        if keys and term.label_selector is None:
            yield forbidden(path / name, "must not be specified when labelSelector is not set")
        for index, text in enumerate(keys):
            yield from key_faults(text, path / name / index)
    for index, text in enumerate(term.match_label_keys):
        if text in term.mismatch_label_keys:
            detail = f"exists in both matchLabelKeys and mismatchLabelKeys: {text}"
            yield invalid(path / "matchLabelKeys" / index, text, detail)


def toleration_faults(tolerations: Sequence[Toleration], path: FieldPath) -> Iterator[FieldError]:
    """Every toleration means something."""
    for index, toleration in enumerate(tolerations):
        yield from _one_toleration_faults(toleration, path / index)


def _one_toleration_faults(toleration: Toleration, path: FieldPath) -> Iterator[FieldError]:
    operator = toleration.operator
    if toleration.key:
        yield from key_faults(toleration.key, path / "key")
    elif operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(path / "operator", operator, detail)
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield invalid(path / "effect", toleration.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if operator in ("Equal", ""):
        details = label_value_faults(toleration.value)
        if details:
            yield invalid(path / "operator", toleration.value, ";".join(details))
    elif operator != "Exists":
        yield from choice_faults(operator, ("Equal", "Exists"), path / "operator")
    elif toleration.value:
        shown = {
            "Key": toleration.key,
            "Operator": operator,
            "Value": toleration.value,
            "Effect": toleration.effect,
            "TolerationSeconds": toleration.toleration_seconds,
        }
        detail = "value must be empty when `operator` is 'Exists'"
        yield invalid(path / "operator", shown, detail, hint="remove value, or set operator to Equal")
    if toleration.effect:
        yield from choice_faults(toleration.effect, TAINT_EFFECTS, path / "effect")


def spread_faults(constraints: Sequence[TopologySpreadConstraint], path: FieldPath) -> Iterator[FieldError]:
    """Every constraint can be followed, and there is one for each kind of place and each way of following it."""
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(constraints):
        at = path / index
        if constraint.max_skew <= 0:
            yield invalid(at / "maxSkew", constraint.max_skew, "must be greater than zero")
        yield from _topology_key_faults(constraint.topology_key, at / "topologyKey")
        yield from choice_faults(constraint.when_unsatisfiable, _ACTIONS, at / "whenUnsatisfiable")
        pair = (constraint.topology_key, constraint.when_unsatisfiable)
        if pair in seen:
            yield duplicate(at / "{topologyKey, whenUnsatisfiable}", f"{{{pair[0]}, {pair[1]}}}")
        seen.add(pair)
        yield from _min_domains_faults(constraint, at / "minDomains")
        for name, policy in (
            ("nodeAffinityPolicy", constraint.node_affinity_policy),
            ("nodeTaintsPolicy", constraint.node_taints_policy),
        ):
            if policy is not None:
                yield from choice_faults(policy, _POLICIES, at / name)
        if constraint.match_label_keys and constraint.label_selector is None:
            yield forbidden(at / "matchLabelKeys", "must not be specified when labelSelector is not set")
        for number, text in enumerate(constraint.match_label_keys):
            yield from key_faults(text, at / "matchLabelKeys" / number)
        yield from label_selector_faults(constraint.label_selector, at / "labelSelector")


def _min_domains_faults(constraint: TopologySpreadConstraint, path: FieldPath) -> Iterator[FieldError]:
    least, action = constraint.min_domains, constraint.when_unsatisfiable
    if least is None:
        return
    if least <= 0:
        yield invalid(path, least, "must be greater than zero")
    if action != "DoNotSchedule":
        yield invalid(path, least, f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}")


def gate_faults(gates: Sequence[PodSchedulingGate], path: FieldPath) -> Iterator[FieldError]:
    """Qualified names, each once."""
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        yield from key_faults(gate.name, path / index)
        if gate.name in seen:
            yield duplicate(path / index, gate.name)
        seen.add(gate.name)
