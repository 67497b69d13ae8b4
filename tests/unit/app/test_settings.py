from pathlib import Path

import pytest

from dray.app.settings import SETTINGS, LogFormat, SettingsError, load_settings, system_environment
from dray.effects.log import Level


def test_defaults_hold_where_nobody_says_otherwise() -> None:
    view = load_settings({})
    assert view.settings.log.level is Level.INFO
    assert view.settings.log.format is LogFormat.TEXT
    assert set(view.origins.values()) == {"default"}


def test_flag_wins_over_variable_over_file_over_default(tmp_path: Path) -> None:
    file = tmp_path / "dray.yaml"
    file.write_text("log:\n  level: debug\n  format: json\n")
    environment = {"DRAY_LOG_LEVEL": "error"}

    view = load_settings(environment, file=file)
    assert (view.settings.log.level, view.settings.log.format) == (Level.ERROR, LogFormat.JSON)
    assert view.origins["log.level"] == "DRAY_LOG_LEVEL"
    assert view.origins["log.format"] == str(file)

    view = load_settings(environment, file=file, flags={"log.level": "info"})
    assert (view.settings.log.level, view.origins["log.level"]) == (Level.INFO, "flag")


def test_numbers_are_read_from_text() -> None:
    view = load_settings({"DRAY_NODE_PREPARE_RETRY_SECONDS": "2.5"})
    assert view.settings.node.prepare_retry_seconds == 2.5


def test_variable_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "dray.yaml"
    file.write_text("log: {level: debug}")
    assert load_settings({"DRAY_CONFIG": str(file)}).settings.log.level is Level.DEBUG


def test_empty_file_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "dray.yaml"
    file.write_text("# nothing yet\n")
    assert load_settings({}, file=file) == load_settings({})


def test_variables_of_others_are_left_alone() -> None:
    # A Service called dray puts DRAY_PORT and its like into every pod beside it.
    assert load_settings({"DRAY_PORT": "tcp://10.0.0.1:80"}) == load_settings({})


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("log: {levle: debug}", "log.levle"),
        ("log: {level: loud}", "log.level is debug, info or error"),
        ("node: {prepare_retry_seconds: 0}", "node.prepare_retry_seconds is seconds above 0"),
        ("node: {prepare_retry_seconds: soon}", "node.prepare_retry_seconds is seconds above 0"),
        ("log: [", ": not YAML: "),
        ("- log", "must hold a map"),
    ],
)
def test_bad_file_is_refused_with_what_is_wrong(tmp_path: Path, text: str, want: str) -> None:
    file = tmp_path / "dray.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError) as refusal:
        load_settings({}, file=file)
    assert want in str(refusal.value)
    assert str(file) in str(refusal.value)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError):
        load_settings({}, file=tmp_path / "none.yaml")


def test_unknown_name_offers_the_closest() -> None:
    with pytest.raises(SettingsError, match=r"did you mean log\.level"):
        load_settings({}, flags={"log.levels": "debug"})


def test_every_setting_can_be_set_by_its_variable() -> None:
    for setting in SETTINGS.values():
        view = load_settings({setting.variable: str(setting.default)})
        assert view.origins[setting.name] == setting.variable


def test_system_environment_is_that_of_the_process() -> None:
    assert "PATH" in system_environment()
