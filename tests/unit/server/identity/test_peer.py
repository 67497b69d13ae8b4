from dray.server.identity.peer import find_peer, user_of_subject
from dray.server.ports import User


def test_subject_is_name_and_groups() -> None:
    subject = (
        (("organizationName", "a"), ("organizationName", "b")),
        (("countryName", "X"),),
        (("commonName", "ada"),),
    )
    assert user_of_subject(subject) == User("ada", groups=("a", "b", "system:authenticated"))


def test_subject_without_a_name_is_nobody() -> None:
    assert user_of_subject(((("organizationName", "system:masters"),),)) is None


def test_request_without_a_certificate_has_no_peer() -> None:
    assert find_peer({}) is None
    assert find_peer({"state": {}}) is None
