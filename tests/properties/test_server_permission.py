"""Permissions: the index agrees with a reader of the rules, a union forbids nothing, aggregation and covering hold."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.api.meta import LabelSelector, ObjectMeta
from dray.api.rbac.aggregation import aggregate_rules
from dray.api.rbac.role import AggregationRule, ClusterRole, PolicyRule, Role
from dray.api.rbac.rolebinding import ClusterRoleBinding, RoleBinding, RoleRef, Subject
from dray.server.permission.authorizer import UnionAuthorizer
from dray.server.permission.rbac import RbacIndex, RbacObjects
from dray.server.permission.rules import compact_rules, compile_rule, find_uncovered, is_allowed
from dray.server.ports import AccessAttributes, Decision, User

VERBS = ("get", "list", "*")
GROUPS = ("", "apps", "*")
RESOURCES = ("pods", "pods/status", "*", "*/status", "nodes")
NAMES = ("a", "b")
PLACES = ("n", "m")
USERS = ("ada", "bob", "system:serviceaccount:n:a")
URLS = ("/healthz", "/api/*", "*", "/api")


def some(values: Sequence[str], *, at_least: int = 1) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), min_size=at_least, max_size=3, unique=True).map(tuple)


resource_rules = st.builds(
    PolicyRule,
    verbs=some(VERBS),
    api_groups=some(GROUPS),
    resources=some(RESOURCES),
    resource_names=st.one_of(st.just(()), some(NAMES)),
)
path_rules = st.builds(PolicyRule, verbs=some(VERBS), non_resource_urls=some(URLS))
rules = st.lists(st.one_of(resource_rules, path_rules), max_size=3).map(tuple)
resource_acts = st.builds(
    AccessAttributes,
    verb=st.sampled_from(["get", "list", "create"]),
    group=st.sampled_from(["", "apps"]),
    resource=st.sampled_from(["pods", "nodes"]),
    subresource=st.sampled_from(["", "status", "log"]),
    namespace=st.sampled_from(["", *PLACES]),
    name=st.sampled_from(["", "a", "c"]),
)
path_acts = st.builds(
    AccessAttributes, verb=st.sampled_from(["get", "post"]), path=st.sampled_from(["/healthz", "/api", "/api/v1", "/x"])
)
acts = st.one_of(resource_acts, path_acts)
users = st.builds(User, st.sampled_from(USERS), groups=some(("team", "all"), at_least=0))
subjects = st.one_of(
    st.builds(Subject, kind=st.just("User"), name=st.sampled_from(USERS)),
    st.builds(Subject, kind=st.just("Group"), name=st.sampled_from(["team", "all"])),
    st.builds(
        Subject, kind=st.just("ServiceAccount"), name=st.sampled_from(["a"]), namespace=st.sampled_from(["", "n", "m"])
    ),
    st.just(Subject(kind="Robot", name="ada")),
)


def meta(name: str, namespace: str = "") -> ObjectMeta:
    return ObjectMeta(name=name, namespace=namespace)


@st.composite
def policies(draw: st.DrawFn) -> RbacObjects:
    cluster_roles = [ClusterRole(metadata=meta(name), rules=draw(rules)) for name in ("x", "y")]
    roles = [Role(metadata=meta("r", place), rules=draw(rules)) for place in draw(some(PLACES, at_least=0))]
    who = st.lists(subjects, max_size=3).map(tuple)
    cluster_refs = st.sampled_from(["x", "y", "gone"]).map(lambda name: RoleRef(kind="ClusterRole", name=name))
    refs = st.one_of(cluster_refs, st.just(RoleRef(kind="Role", name="r")))
    cluster_bindings = [
        ClusterRoleBinding(metadata=meta(name), subjects=draw(who), role_ref=draw(cluster_refs))
        for name in draw(some(("1", "2"), at_least=0))
    ]
    bindings = [
        RoleBinding(metadata=meta(name, place), subjects=draw(who), role_ref=draw(refs))
        for place in PLACES
        for name in draw(some(("1", "2"), at_least=0))
    ]
    return RbacObjects(cluster_roles, cluster_bindings, roles, bindings)


def rule_allows(rule: PolicyRule, act: AccessAttributes) -> bool:
    """The rule read as the documentation says it, with no thought for speed."""
    if act.verb not in rule.verbs and "*" not in rule.verbs:
        return False
    if act.path:
        return any(
            url in ("*", act.path) or (url[-1] == "*" and act.path.startswith(url[:-1]))
            for url in rule.non_resource_urls
        )
    whole = act.resource + ("/" + act.subresource if act.subresource else "")
    wanted = {"*", whole} | ({"*/" + act.subresource} if act.subresource else set())
    return (
        bool({act.group, "*"} & set(rule.api_groups))
        and bool(wanted & set(rule.resources))
        and (not rule.resource_names or act.name in rule.resource_names)
    )


def applies(subject: Subject, user: User, namespace: str) -> bool:
    if subject.kind == "ServiceAccount":
        place = subject.namespace or namespace
        return bool(place) and user.name == f"system:serviceaccount:{place}:{subject.name}"
    return (subject.kind == "User" and subject.name == user.name) or (
        subject.kind == "Group" and subject.name in user.groups
    )


def naive_decision(objects: RbacObjects, user: User, act: AccessAttributes) -> bool:
    cluster_rules = {role.metadata.name: role.rules for role in objects.cluster_roles}
    rules_in = {(role.metadata.namespace, role.metadata.name): role.rules for role in objects.roles}
    held: list[PolicyRule] = []
    for cluster_binding in objects.cluster_bindings:
        if any(applies(subject, user, "") for subject in cluster_binding.subjects):
            held += cluster_rules.get(cluster_binding.role_ref.name, ())
    for binding in objects.bindings:
        place, ref = binding.metadata.namespace, binding.role_ref
        if place == act.namespace and any(applies(subject, user, place) for subject in binding.subjects):
            held += (
                cluster_rules.get(ref.name, ()) if ref.kind == "ClusterRole" else rules_in.get((place, ref.name), ())
            )
    return any(rule_allows(rule, act) for rule in held)


@given(policies(), st.lists(st.tuples(users, acts), min_size=1, max_size=8))
def test_index_decides_as_a_reader_of_the_rules(
    objects: RbacObjects, questions: list[tuple[User, AccessAttributes]]
) -> None:
    index = RbacIndex(objects)
    for user, act in questions:
        decision = index.decide(user, act)
        assert decision.is_allowed == naive_decision(objects, user, act)
        assert decision.reason.startswith("RBAC: allowed by ") or not decision.is_allowed


@given(policies(), users, acts)
def test_what_is_held_decides(objects: RbacObjects, user: User, act: AccessAttributes) -> None:
    held = RbacIndex(objects).rules_for(user, act.namespace)
    allowed = is_allowed(map(compile_rule, held.rules), act)
    assert allowed == RbacIndex(objects).decide(user, act).is_allowed


class Says:
    """An authorizer that always says the same."""

    def __init__(self, decision: Decision) -> None:
        self._decision = decision

    def decide(self, user: User, attributes: AccessAttributes) -> Decision:
        return self._decision


decisions = st.builds(Decision, st.booleans(), st.sampled_from(["", "one", "two"]))


@given(st.lists(decisions, max_size=4), users, acts)
def test_union_allows_what_one_allows(several: list[Decision], user: User, act: AccessAttributes) -> None:
    got = UnionAuthorizer([Says(each) for each in several]).decide(user, act)
    allowing = [each for each in several if each.is_allowed]
    if allowing:
        assert got == allowing[0]
    else:
        assert got == Decision(is_allowed=False, reason="\n".join(each.reason for each in several if each.reason))


@given(st.lists(decisions, max_size=3), st.lists(decisions, max_size=3), users, acts)
def test_unions_can_be_nested(one: list[Decision], two: list[Decision], user: User, act: AccessAttributes) -> None:
    first, second = UnionAuthorizer([Says(each) for each in one]), UnionAuthorizer([Says(each) for each in two])
    flat = UnionAuthorizer([Says(each) for each in [*one, *two]])
    assert UnionAuthorizer([first, second]).decide(user, act) == flat.decide(user, act)


@given(rules, rules, acts)
def test_what_is_covered_allows_no_more(
    held: tuple[PolicyRule, ...], wanted: tuple[PolicyRule, ...], act: AccessAttributes
) -> None:
    if not find_uncovered(held, wanted) and is_allowed(map(compile_rule, wanted), act):
        assert is_allowed(map(compile_rule, held), act)


@given(rules)
def test_rules_cover_themselves(held: tuple[PolicyRule, ...]) -> None:
    assert find_uncovered(held, held) == []


@given(rules, acts)
def test_compacted_rules_allow_the_same(several: tuple[PolicyRule, ...], act: AccessAttributes) -> None:
    assert is_allowed(map(compile_rule, compact_rules(several)), act) == is_allowed(map(compile_rule, several), act)


@st.composite
def aggregated(draw: st.DrawFn) -> list[ClusterRole]:
    labels = st.dictionaries(st.sampled_from(["view", "edit"]), st.just("true"))
    roles = [
        ClusterRole(metadata=ObjectMeta(name=name, labels=draw(labels)), rules=draw(rules)) for name in ("a", "b", "c")
    ]
    for name in ("view", "edit"):
        selector = LabelSelector(match_labels={name: "true"})
        rule = AggregationRule(cluster_role_selectors=(selector,))
        role = ClusterRole(metadata=ObjectMeta(name=name, labels=draw(labels)), aggregation_rule=rule)
        roles.append(role)
    return roles


@given(aggregated())
def test_aggregation_settles_and_takes_each_rule_once(roles: list[ClusterRole]) -> None:
    for _ in range(2):  # two roles may be parts of each other
        for index, role in enumerate(roles):
            roles[index] = replace(role, rules=aggregate_rules(role, roles))
    for role in roles:
        assert aggregate_rules(role, roles) == role.rules
        if role.aggregation_rule is not None:
            assert len(set(role.rules)) == len(role.rules)
            own = [each for each in roles if each.metadata.labels.get(role.metadata.name) and each is not role]
            assert set(role.rules) == {rule for each in own for rule in each.rules}


@given(aggregated())
def test_aggregation_does_not_depend_on_the_order_of_roles(roles: list[ClusterRole]) -> None:
    for role in roles:
        assert aggregate_rules(role, roles) == aggregate_rules(role, roles[::-1])
        assert aggregate_rules(replace(role, aggregation_rule=None), roles) == role.rules
