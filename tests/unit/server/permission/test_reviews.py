import pytest

from dray.api.authorization.accessreview import (
    FieldSelectorAttributes,
    FieldSelectorRequirement,
    LocalSubjectAccessReview,
    NonResourceAttributes,
    ResourceAttributes,
    SelfSubjectAccessReview,
    SelfSubjectAccessReviewSpec,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
)
from dray.api.authorization.rulesreview import SelfSubjectRulesReview, SelfSubjectRulesReviewSpec
from dray.api.checks import AccessQuestion
from dray.errors import BadRequest
from dray.server.permission.authorizer import Permissions
from dray.server.permission.bootstrap import plan_bootstrap
from dray.server.permission.denial import deny_question
from dray.server.permission.reviews import review_access, review_own_access, review_own_rules
from dray.server.ports import User
from tests.unit.server.permission.still import StillView

ACCOUNT = User(
    "system:serviceaccount:shop:default",
    groups=("system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"),
)
AGENT = User("system:node:a", groups=("system:nodes", "system:authenticated"))


def permissions() -> Permissions:
    view = StillView()
    for write in plan_bootstrap(view):
        view.put(write.new)
    return Permissions(view)


def ask(act: ResourceAttributes) -> SelfSubjectAccessReview:
    return SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resource_attributes=act))


GET_PODS = ResourceAttributes(verb="get", resource="pods", namespace="shop")


def test_review_keeps_the_question_and_answers_it() -> None:
    answer = review_own_access(ACCOUNT, ask(GET_PODS), permissions())
    assert answer.spec.resource_attributes == GET_PODS
    assert (answer.status.allowed, answer.status.denied, answer.status.reason) == (False, False, "")


def test_master_is_allowed_without_a_reason() -> None:
    answer = review_own_access(User("root", groups=("system:masters",)), ask(GET_PODS), permissions())
    assert (answer.status.allowed, answer.status.reason) == (True, "")


def test_review_of_somebody_else() -> None:
    path = NonResourceAttributes(path="/healthz", verb="get")
    spec = SubjectAccessReviewSpec(user="bob", groups=("system:unauthenticated",), non_resource_attributes=path)
    assert review_access(SubjectAccessReview(spec=spec), permissions()).status.allowed
    spec = SubjectAccessReviewSpec(user="bob", groups=("x",), resource_attributes=GET_PODS)
    assert not review_access(LocalSubjectAccessReview(spec=spec), permissions()).status.allowed


def test_review_of_a_selected_part() -> None:
    def selecting(*requirements: FieldSelectorRequirement) -> ResourceAttributes:
        selector = FieldSelectorAttributes(requirements=requirements)
        return ResourceAttributes(
            verb="list", group="resource.k8s.io", resource="resourceslices", field_selector=selector
        )

    own = FieldSelectorRequirement(key="spec.nodeName", operator="In", values=("a",))
    other = FieldSelectorRequirement(key="spec.nodeName", operator="NotIn", values=("a",))
    vague = FieldSelectorRequirement(key="spec.nodeName", operator="Exists")
    got = [review_own_access(AGENT, ask(selecting(each)), permissions()).status.allowed for each in (own, other, vague)]
    assert got == [True, False, False]


def test_rules_of_an_account_are_those_recorded() -> None:
    review = SelfSubjectRulesReview(spec=SelfSubjectRulesReviewSpec(namespace="shop"))
    answer = review_own_rules(ACCOUNT, review, permissions())
    assert answer.spec.namespace == ""
    assert not answer.status.incomplete
    assert [(rule.verbs, rule.api_groups, rule.resources) for rule in answer.status.resource_rules] == [
        (("create",), ("authorization.k8s.io",), ("selfsubjectaccessreviews", "selfsubjectrulesreviews")),
        (("create",), ("authentication.k8s.io",), ("selfsubjectreviews",)),
    ]
    assert sorted(rule.non_resource_urls for rule in answer.status.non_resource_rules) == [
        (
            "/.well-known/openid-configuration",
            "/.well-known/openid-configuration/",
            "/openid/v1/jwks",
            "/openid/v1/jwks/",
        ),
        (
            "/api",
            "/api/*",
            "/apis",
            "/apis/*",
            "/healthz",
            "/livez",
            "/openapi",
            "/openapi/*",
            "/readyz",
            "/version",
            "/version/",
        ),
        ("/healthz", "/livez", "/readyz", "/version", "/version/"),
    ]


def test_rules_of_an_agent_are_not_all_there_is() -> None:
    review = SelfSubjectRulesReview(spec=SelfSubjectRulesReviewSpec(namespace="shop"))
    status = review_own_rules(AGENT, review, permissions()).status
    assert status.incomplete
    assert status.evaluation_error == "node authorizer does not support user rule resolution"


def test_rules_are_those_of_a_namespace() -> None:
    with pytest.raises(BadRequest):
        review_own_rules(ACCOUNT, SelfSubjectRulesReview(), permissions())


def test_question_of_a_check_is_answered_in_the_authorizer_s_words() -> None:
    question = AccessQuestion("update", "resource.k8s.io", "resourceclaims", "binding")
    assert deny_question(User("u"), question, permissions()) == (
        'resourceclaims.resource.k8s.io is forbidden: User "u" cannot update resource "resourceclaims/binding" in API '
        'group "resource.k8s.io" at the cluster scope'
    )
    assert deny_question(User("system:kube-scheduler"), question, permissions()) is None
    driver = AccessQuestion(
        "arbitrary-node:update", "resource.k8s.io", "resourceclaims", "driver", "ml", "gpu.example.com"
    )
    assert deny_question(User("u"), driver, permissions()) == (
        'resourceclaims.resource.k8s.io "gpu.example.com" is forbidden: User "u" cannot arbitrary-node:update resource '
        '"resourceclaims/driver" in API group "resource.k8s.io" in the namespace "ml"'
    )
