"""What can be set is documented."""

from pathlib import Path

from dray.drivers.sim.catalog import find_profile, list_profiles
from dray.node.core.simulation import ANNOTATIONS
from dray.scheduler.pluginargs import READERS

PAGE = Path(__file__).parents[2].joinpath("docs", "configuration.md").read_text(encoding="utf-8")


def test_every_option_of_a_profile_is_explained() -> None:
    options = {option for name in list_profiles() for part in find_profile(name).parts for option in part.options()}
    written = PAGE.replace("\\|", "|")
    assert sorted(each for each in options if f"`{each}`" not in written) == []


def test_every_annotation_of_simulated_containers_is_explained() -> None:
    assert [each for each in ANNOTATIONS if f"`sim.dray.dev/{each}:" not in PAGE] == []


def test_every_plugin_with_settings_is_named() -> None:
    assert [each for each in READERS if f"`{each}`" not in PAGE] == []
