import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.api.codec import decode
from dray.api.meta import ObjectMeta, OwnerReference
from dray.api.resource.claimtemplate import ResourceClaimTemplate
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from dray.controllers.generatedclaims import asks_for_admin_access, make_claim, make_generate_name
from dray.effects.entropy import SUFFIX_ALPHABET
from dray.values.names import dns_subdomain_faults

NAMES = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True)


@pytest.mark.parametrize(
    ("owner", "entry", "want"),
    [
        ("p", "gpu", "p-gpu-"),
        # 57 letters with both hyphens are the most that stay as they are.
        ("p" * 30, "e" * 25, f"{'p' * 30}-{'e' * 25}-"),
        ("p" * 30, "e" * 26, f"{'p' * 29}-{'e' * 25}"),
        ("p" * 63, "e" * 63, f"{'p' * 28}-{'e' * 28}"),
        ("p" * 63, "gpu", f"{'p' * 52}-gp"),
    ],
)
def test_names_begin_with_owner_and_entry_each_shortened_by_its_share(owner: str, entry: str, want: str) -> None:
    assert make_generate_name(owner, entry) == want


@given(NAMES, NAMES)
def test_the_names_that_come_of_it_are_names(owner: str, entry: str) -> None:
    prefix = make_generate_name(owner, entry)
    assert len(f"{prefix}abcde") <= 63
    assert not dns_subdomain_faults(f"{prefix}abcde")
    assert prefix[0] == owner[0]


@given(NAMES, NAMES, st.integers(0, 7))
def test_a_name_ends_as_if_the_server_had_made_it(owner_name: str, entry: str, attempt: int) -> None:
    owner = OwnerReference(api_version="v1", kind="Pod", name=owner_name, uid="p-uid", controller=True)
    claim = make_claim(owner, entry, ResourceClaimTemplate(), attempt)
    suffix = claim.metadata.name.removeprefix(make_generate_name(owner_name, entry))
    assert len(suffix) == 5
    assert set(suffix) <= set(SUFFIX_ALPHABET)


def test_a_name_is_the_same_for_the_same_entry_of_the_same_owner_alone() -> None:
    owner = OwnerReference(api_version="v1", kind="Pod", name="p", uid="p-uid", controller=True)
    template = ResourceClaimTemplate()
    again = replace(owner, uid="another-uid")
    claims = [make_claim(owner, entry, template, attempt) for entry in ("gpu", "net") for attempt in range(8)]
    suffixes = [claim.metadata.name[-5:] for claim in (*claims, make_claim(again, "gpu", template))]
    assert len(set(suffixes)) == 17
    assert make_claim(owner, "gpu", template) == claims[0]


def test_a_claim_is_a_copy_of_its_template_with_a_note_of_whose_it_is() -> None:
    template = decode(
        RESOURCE_CLAIM_TEMPLATE,
        "v1",
        b"""{
            "metadata": {"name": "gpus", "namespace": "ml", "labels": {"of": "the template"}},
            "spec": {
                "metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}},
                "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
            }
        }""",
    )
    owner = OwnerReference(api_version="v1", kind="Pod", name="p", uid="p-uid", controller=True)
    claim = make_claim(owner, "gpu", template)
    assert claim.metadata == ObjectMeta(
        name=claim.metadata.name,
        generate_name="p-gpu-",
        namespace="ml",
        labels={"team": "a"},
        annotations={"note": "b", "resource.kubernetes.io/pod-claim-name": "gpu"},
        owner_references=(owner,),
    )
    assert claim.spec == template.spec.spec
    assert claim.status.allocation is None


@pytest.mark.parametrize(
    ("requests", "want"),
    [
        ([{"name": "a", "exactly": {"deviceClassName": "gpu"}}], False),
        ([{"name": "a", "exactly": {"deviceClassName": "gpu", "adminAccess": False}}], False),
        ([{"name": "a", "exactly": {"deviceClassName": "g", "adminAccess": True}}], True),
        ([{"name": "a", "firstAvailable": [{"name": "b", "deviceClassName": "gpu"}]}], False),
    ],
)
def test_administrators_are_told_apart(requests: list[object], want: bool) -> None:
    text = msgspec.json.encode({"spec": {"devices": {"requests": requests}}})
    assert asks_for_admin_access(decode(RESOURCE_CLAIM, "v1", text)) is want
