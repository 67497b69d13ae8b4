from collections.abc import Callable

import pytest

from dray.values.names import (
    LengthUnit,
    byte_length,
    c_identifier_faults,
    condition_reason_faults,
    config_key_faults,
    dns_1035_label_faults,
    dns_label_faults,
    dns_subdomain_caseless_faults,
    dns_subdomain_faults,
    environment_name_faults,
    extended_resource_name_faults,
    generated_name_stem,
    label_key_faults,
    label_value_faults,
    path_segment_faults,
    port_name_faults,
    prefixed_label_key_faults,
    uuid_faults,
)

Rule = Callable[[str], tuple[str, ...]]

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
CASELESS = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'Example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
KEY = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
)


@pytest.mark.parametrize(
    ("rule", "texts"),
    [
        (dns_label_faults, ["a", "0", "a-b", "a--b", "x" * 63]),
        (dns_subdomain_faults, ["a", "a.b", "1.2.3", "x" * 253, "a-b.c-d"]),
        (dns_subdomain_caseless_faults, ["a", "A.b", "EXAMPLE.com"]),
        (dns_1035_label_faults, ["a", "a0", "a-b", "x" * 63]),
        (c_identifier_faults, ["a", "_", "A_1", "x" * 100]),
        (label_key_faults, ["a", "A", "a.b_c-d", "a.b/c", "x" * 63, f"{'x' * 253}/a"]),
        (prefixed_label_key_faults, ["a.b/c"]),
        (label_value_faults, ["", "a", "A.b_c-d", "x" * 63]),
        (path_segment_faults, ["", "a", "system:node", "...", "ä b"]),
        (uuid_faults, ["01234567-89ab-cdef-0123-456789abcdef"]),
        (port_name_faults, ["a", "http", "a-1", "x" * 15]),
        (environment_name_faults, ["A", "1", "a b", "-"]),
        (config_key_faults, ["a", "A_b-c.d", ".a", "-"]),
        (condition_reason_faults, ["A", "a_", "ReasonA:ReasonB", "a,b"]),
        (extended_resource_name_faults, ["example.com/gpu", "a/b"]),
    ],
)
def test_good_names_have_no_faults(rule: Rule, texts: list[str]) -> None:
    assert [rule(text) for text in texts] == [()] * len(texts)


@pytest.mark.parametrize(
    ("rule", "text", "want"),
    [
        (dns_label_faults, "", (LABEL,)),
        (dns_label_faults, "A", (LABEL,)),
        (dns_label_faults, "a-", (LABEL,)),
        (dns_label_faults, "a\n", (LABEL,)),
        (dns_label_faults, "a.b", ("must not contain dots",)),
        (dns_label_faults, "x" * 64, ("must be no more than 63 characters",)),
        (dns_label_faults, "X" * 64, ("must be no more than 63 characters", LABEL)),
        (dns_label_faults, "ü" * 32, ("must be no more than 63 characters", LABEL)),
        (dns_subdomain_faults, "", (SUBDOMAIN,)),
        (dns_subdomain_faults, "a..b", (SUBDOMAIN,)),
        (dns_subdomain_faults, "a/b", (SUBDOMAIN,)),
        (dns_subdomain_faults, "x" * 254, ("must be no more than 253 characters",)),
        (dns_subdomain_caseless_faults, "a_b", (CASELESS,)),
        (dns_subdomain_caseless_faults, "\N{KELVIN SIGN}", (CASELESS,)),
        (dns_subdomain_caseless_faults, "X" * 254, ("must be no more than 253 bytes",)),
        (c_identifier_faults, "", (IDENTIFIER,)),
        (c_identifier_faults, "1a", (IDENTIFIER,)),
        (c_identifier_faults, "a-b", (IDENTIFIER,)),
        (label_key_faults, "", ("name part must be non-empty", f"name part {KEY}")),
        (label_key_faults, "/", ("prefix part must be non-empty", "name part must be non-empty", f"name part {KEY}")),
        (label_key_faults, "/a", ("prefix part must be non-empty",)),
        (label_key_faults, "a/", ("name part must be non-empty", f"name part {KEY}")),
        (label_key_faults, "A/b", (f"prefix part {SUBDOMAIN}",)),
        (label_key_faults, f"{'x' * 254}/b", ("prefix part must be no more than 253 bytes",)),
        (label_key_faults, "-", (f"name part {KEY}",)),
        (label_key_faults, "x" * 64, ("name part must be no more than 63 bytes",)),
        (
            label_key_faults,
            "a/b/c",
            (f"a valid label key {KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",),
        ),
        (prefixed_label_key_faults, "a", ("must include a prefix (e.g. 'example.com/key')",)),
        (prefixed_label_key_faults, "-", (f"name part {KEY}",)),
        (label_value_faults, "-", (VALUE,)),
        (label_value_faults, "a/b", (VALUE,)),
        (label_value_faults, "x" * 64, ("must be no more than 63 bytes",)),
        (path_segment_faults, ".", ("may not be '.'",)),
        (path_segment_faults, "..", ("may not be '..'",)),
        (path_segment_faults, "a/%", ("may not contain '/'", "may not contain '%'")),
        (uuid_faults, "UPPER", ("must be a lowercase UUID in 8-4-4-4-12 format",)),
        (uuid_faults, "01234567-89AB-cdef-0123-456789abcdef", ("must be a lowercase UUID in 8-4-4-4-12 format",)),
        (
            port_name_faults,
            "",
            (
                "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
                "must contain at least one letter (a-z)",
            ),
        ),
        (
            port_name_faults,
            "-1--" + "x" * 12,
            (
                "must be no more than 15 characters",
                "must not contain consecutive hyphens",
                "must not begin or end with a hyphen",
            ),
        ),
        (environment_name_faults, "", ("environment variable name must be non-empty",)),
        (
            environment_name_faults,
            "a=b",
            ("a valid environment variable name must consist only of printable ASCII characters other than '='",),
        ),
        (config_key_faults, "..", ("must not be '..'",)),
        (config_key_faults, "..a", ("must not start with '..'",)),
        (
            config_key_faults,
            "a/b",
            (
                "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
                "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
            ),
        ),
        (
            extended_resource_name_faults,
            "gpu",
            ("a name must be a domain-prefixed path, such as 'example.com/my-prop'",),
        ),
        (extended_resource_name_faults, "kubernetes.io/gpu", ('must not have "kubernetes.io/" domain',)),
        (extended_resource_name_faults, "requests.a/gpu", ('must not have "requests." prefix',)),
        (
            extended_resource_name_faults,
            "a/b/c",
            (f"a valid label key {KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",),
        ),
    ],
)
def test_bad_names_are_explained_as_kubernetes_does(rule: Rule, text: str, want: tuple[str, ...]) -> None:
    assert rule(text) == want


def test_a_dns_1035_label_starts_with_a_letter() -> None:
    (fault,) = dns_1035_label_faults("0a")
    assert fault == (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation "
        "is '[a-z]([-a-z0-9]*[a-z0-9])?')"
    )


def test_a_condition_reason_ends_with_a_letter_digit_or_underscore() -> None:
    (fault,) = condition_reason_faults("a:")
    assert fault.endswith("regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')")


def test_declarative_validation_speaks_of_bytes() -> None:
    assert dns_label_faults("x" * 64, LengthUnit.BYTES) == ("must be no more than 63 bytes",)
    assert dns_subdomain_faults("x" * 254, LengthUnit.BYTES) == ("must be no more than 253 bytes",)


@pytest.mark.parametrize(("text", "want"), [("pod-", "poa"), ("pod", "pod"), ("-", "-"), ("", ""), ("a--", "aa")])
def test_the_trailing_dash_of_a_generated_name_is_fine(text: str, want: str) -> None:
    assert generated_name_stem(text) == want


def test_lengths_count_bytes() -> None:
    assert [byte_length(text) for text in ("abc", "ü", "\N{ROCKET}")] == [3, 2, 4]
