from msgspec.structs import replace

from dray.api.checks import CheckContext
from dray.api.meta import ObjectMeta
from dray.api.rbac.aggregation import aggregate_rules
from dray.api.rbac.checks import check_cluster_role, check_cluster_role_binding
from dray.api.rbac.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING
from dray.api.rbac.role import ClusterRole
from dray.api.rbac.rolebinding import ClusterRoleBinding, Subject
from dray.api.registry import SERVED
from dray.server.permission.bootstrap import bootstrap_bindings, plan_bootstrap
from dray.server.permission.bootstraproles import bootstrap_roles
from dray.server.permission.controllerroles import CONTROLLER_PREFIX
from tests.cases.api.resource.world import World
from tests.unit.server.permission.still import StillView

ROLES = {role.metadata.name: role for role in bootstrap_roles()}
WORLD: CheckContext = World({})


def booted() -> StillView:
    view = StillView()
    for write in plan_bootstrap(view):
        view.put(write.new)
    return view


def test_everything_is_written_once() -> None:
    assert len(plan_bootstrap(StillView())) == len(bootstrap_roles()) + len(bootstrap_bindings())
    assert plan_bootstrap(booted()) == []


def test_objects_are_sound_and_bindings_have_roles() -> None:
    assert [fault for role in ROLES.values() for fault in check_cluster_role(role, None, WORLD)] == []
    bindings = bootstrap_bindings()
    assert [fault for each in bindings for fault in check_cluster_role_binding(each, None, WORLD)] == []
    assert {binding.role_ref.name for binding in bindings} <= ROLES.keys()


def test_controllers_name_nothing_that_is_not_served() -> None:
    served = {(kind.group, kind.plural) for kind in SERVED}
    foreign = {"apps", "*"}
    named = {
        (group, resource.partition("/")[0])
        for name, role in ROLES.items()
        if name.startswith((CONTROLLER_PREFIX, "system:node"))
        for rule in role.rules
        for group in rule.api_groups
        for resource in rule.resources
    }
    unserved = {each for each in named - served if each[0] not in foreign}
    assert unserved == {("", "persistentvolumeclaims"), ("", "persistentvolumes"), ("", "replicationcontrollers")}


def test_aggregated_roles_are_complete() -> None:
    assert all(role.rules == aggregate_rules(role, ROLES.values()) for role in ROLES.values())
    for small, large in (("view", "edit"), ("edit", "admin")):
        assert set(ROLES[small].rules) < set(ROLES[large].rules)


def test_editor_cannot_write_what_is_the_cluster_s() -> None:
    writes = {
        resource
        for rule in ROLES["admin"].rules
        if "resource.k8s.io" in rule.api_groups and "update" in rule.verbs
        for resource in rule.resources
    }
    assert writes == {"resourceclaims", "resourceclaimtemplates"}


def test_role_that_matches_a_selector_is_included_once() -> None:
    extra = ClusterRole(
        metadata=ObjectMeta(name="a-mine", labels={"rbac.authorization.k8s.io/aggregate-to-view": "true"}),
        rules=(ROLES["system:monitoring"].rules[0], ROLES["view"].rules[2]),
    )
    rules = aggregate_rules(ROLES["view"], [*ROLES.values(), extra])
    assert rules[:2] == extra.rules
    assert len(rules) == len(ROLES["view"].rules) + 1


def test_what_was_taken_away_comes_back_and_what_was_added_stays() -> None:
    view = booted()
    role = ROLES["system:kube-scheduler"]
    mine = ROLES["system:monitoring"].rules[0]
    view.put(replace(role, rules=(mine, *role.rules[2:])))
    (write,) = plan_bootstrap(view)
    assert isinstance(write.new, ClusterRole)
    assert write.new.rules == (mine, *role.rules[2:], *role.rules[:2])
    assert write.old == view.find(CLUSTER_ROLE, "", role.metadata.name)


def test_subjects_come_back_as_well() -> None:
    view = booted()
    binding = view.find(CLUSTER_ROLE_BINDING, "", "system:discovery")
    assert binding is not None
    mine = Subject(kind="User", api_group="rbac.authorization.k8s.io", name="bob")
    view.put(replace(binding, subjects=(mine,)))
    (write,) = plan_bootstrap(view)
    assert isinstance(write.new, ClusterRoleBinding)
    assert write.new.subjects == (mine, *binding.subjects)


def test_objects_that_were_taken_over_are_left_alone() -> None:
    view = booted()
    role = ROLES["system:discovery"]
    metadata = replace(role.metadata, annotations={"rbac.authorization.kubernetes.io/autoupdate": "false"})
    view.put(replace(role, rules=(), metadata=metadata))
    binding = view.find(CLUSTER_ROLE_BINDING, "", "system:discovery")
    assert binding is not None
    view.put(replace(binding, subjects=(), role_ref=replace(binding.role_ref, name="other")))
    assert plan_bootstrap(view) == []
