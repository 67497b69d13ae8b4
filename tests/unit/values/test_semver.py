import pytest

from dray.values.semver import SemverError, attribute_version_faults, format_semver, parse_semver


@pytest.mark.parametrize("text", ["0.0.0", "1.2.3", "1.2.3-alpha.1", "1.2.3+b.01", "1.0.0-0A.is.legal", "1.2.3-a+b-c"])
def test_a_version_prints_as_it_was_written(text: str) -> None:
    assert format_semver(parse_semver(text)) == text


def test_a_version_has_parts() -> None:
    version = parse_semver("1.2.3-rc.4+build.5")
    assert (version.major, version.minor, version.patch) == (1, 2, 3)
    assert version.prerelease == ("rc", 4)
    assert version.build == ("build", "5")
    assert repr(version) == "Semver('1.2.3-rc.4+build.5')"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", "Version string empty"),
        ("550", "No Major.Minor.Patch elements found"),
        ("1.2", "No Major.Minor.Patch elements found"),
        ("v1.2.3", 'Invalid character(s) found in major number "v1"'),
        (" 1.2.3", 'Invalid character(s) found in major number " 1"'),
        ("1.x.3", 'Invalid character(s) found in minor number "x"'),
        ("1.2.x", 'Invalid character(s) found in patch number "x"'),
        ("1.2.3.4", 'Invalid character(s) found in patch number "3.4"'),
        ("01.2.3", 'Major number must not contain leading zeroes "01"'),
        ("1.02.3", 'Minor number must not contain leading zeroes "02"'),
        ("1.2.03", 'Patch number must not contain leading zeroes "03"'),
        ("1.2.3-", "Prerelease is empty"),
        ("1.2.3-a..b", "Prerelease is empty"),
        ("1.2.3-01", 'Numeric PreRelease version must not contain leading zeroes "01"'),
        ("1.2.3-a_b", 'Invalid character(s) found in prerelease "a_b"'),
        ("1.2.3+", "Build meta data is empty"),
        ("1.2.3+a_b", 'Invalid character(s) found in build meta data "a_b"'),
        ("..", 'strconv.ParseUint: parsing "": invalid syntax'),
        ("18446744073709551616.0.0", 'strconv.ParseUint: parsing "18446744073709551616": value out of range'),
    ],
)
def test_what_is_no_version_is_refused(text: str, want: str) -> None:
    with pytest.raises(SemverError) as refusal:
        parse_semver(text)
    assert str(refusal.value) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("v1", "1.0.0"),
        ("1.2", "1.2.0"),
        ("v01.002.0003", "1.2.3"),
        ("00.0.000-rc", "0.0.0-rc"),
        ("1.2.3-rc+b", "1.2.3-rc+b"),
        ("1.2.0001-rc", "1.2.1-rc"),
    ],
)
def test_normalising_forgives(text: str, want: str) -> None:
    assert str(parse_semver(text, normalise=True)) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("1-rc", "short version cannot contain PreRelease/Build meta data"),
        ("1.2+b", "short version cannot contain PreRelease/Build meta data"),
        ("vv1", 'Invalid character(s) found in major number "0v1"'),
        (" 1.2.3", 'Invalid character(s) found in major number "0 1"'),
        ("1.2.3-01", 'Numeric PreRelease version must not contain leading zeroes "01"'),
    ],
)
def test_normalising_does_not_forgive_everything(text: str, want: str) -> None:
    with pytest.raises(SemverError) as refusal:
        parse_semver(text, normalise=True)
    assert str(refusal.value) == want


def test_precedence_is_that_of_the_standard() -> None:
    in_order = "1.0.0-1 1.0.0-2 1.0.0-11 1.0.0-ALPHA 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2"
    texts = [*in_order.split(), "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1-a", "1.0.1", "1.2.0", "1.10.0", "2.0.0"]
    versions = [parse_semver(text) for text in texts]
    backwards = versions[::-1]
    assert sorted(backwards) == versions
    assert len(set(versions)) == len(versions)
    assert versions[0] <= versions[1] < versions[2]
    assert versions[2] >= versions[1] > versions[0]


def test_build_metadata_does_not_count() -> None:
    assert parse_semver("1.0.0+a") == parse_semver("1.0.0+b")
    assert hash(parse_semver("1.0.0+a")) == hash(parse_semver("1.0.0"))
    assert parse_semver("1.0.0") != "1.0.0"


@pytest.mark.parametrize("text", ["1.2.3", "0.0.0-a.1+b", "99999999999999999999999.0.0", "1.0.0--"])
def test_the_attribute_rule_takes_versions_of_the_standard(text: str) -> None:
    assert attribute_version_faults(text) == ()


@pytest.mark.parametrize(
    "text", ["", "1", "1.2", "v1.2.3", "01.2.3", "1.2.3-01", "1.2.3-", "1.2.3+", "1.2.3 ", "1.2.3\n"]
)
def test_the_attribute_rule_refuses_the_rest(text: str) -> None:
    assert attribute_version_faults(text) == ("must be a string compatible with semver.org spec 2.0.0",)
