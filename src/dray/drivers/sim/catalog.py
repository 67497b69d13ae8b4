"""Profiles by name, combined and with options: `dgx-h100`, `dgx-h100:mig`, `dgx-h100:shares=4+rdma-nic`."""

import difflib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import PurePath
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dray.api.codec import decode
from dray.api.mending import decode_custom
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.kinds import DEVICE_CLASS
from dray.api.yamltext import parse_yaml_documents
from dray.driver.devices import Pool
from dray.drivers.sim.fabric import FabricPart
from dray.drivers.sim.part import Machine, ProfileError
from dray.drivers.sim.pools import Blueprint
from dray.drivers.sim.profile import AnyPart, NodeShape, Profile

__all__ = ["Equipment", "find_profile", "list_profiles", "load_classes", "parse_equipment"]

_DEFAULT_SHAPE: Final = NodeShape(cpu="8", memory="32Gi", architecture="amd64")


class Equipment(Struct, frozen=True):
    """What every node of one kind has: one profile, or several together, with their options taken."""

    text: str
    """As it was asked for."""
    profiles: tuple[Profile, ...]
    blueprints: tuple[Blueprint, ...]

    @property
    def parts(self) -> tuple[AnyPart, ...]:
        """The parts of all profiles."""
        return tuple(part for profile in self.profiles for part in profile.parts)

    @property
    def nodes(self) -> int:
        """How many nodes belong together."""
        return max(profile.nodes for profile in self.profiles)

    @property
    def shape(self) -> NodeShape:
        """The node: each quantity from the first profile that has it, labels from all."""
        shapes = [*(profile.node for profile in self.profiles), _DEFAULT_SHAPE]
        labels = {key: value for shape in reversed(shapes) for key, value in shape.labels.items()}
        for part in self.parts:
            if isinstance(part, FabricPart):
                labels |= part.labels()
        return NodeShape(
            cpu=next(shape.cpu for shape in shapes if shape.cpu),
            memory=next(shape.memory for shape in shapes if shape.memory),
            architecture=next(shape.architecture for shape in shapes if shape.architecture),
            pods=next((shape.pods for shape in shapes if shape.pods), ""),
            labels=labels,
        )

    @property
    def drivers(self) -> tuple[str, ...]:
        """The drivers that run on each node, in order."""
        return tuple(each.driver for each in self.blueprints)

    def labels(self, index: int) -> dict[str, str]:
        """Labels of the node of that number, counted from 0."""
        rack = str(index // self.nodes)
        return {key: value.replace("{rack}", rack) for key, value in self.shape.labels.items()}

    def pools(self, node: str) -> list[tuple[str, Pool]]:
        """Driver and pool of everything that a node offers itself."""
        return [(each.driver, each.at(node)) for each in self.blueprints if each.reach is None]

    def shared_pools(self) -> list[tuple[str, Pool]]:
        """Driver and pool of what several nodes reach; the same whoever publishes it."""
        return [(each.driver, each.at(each.shared_pool)) for each in self.blueprints if each.reach is not None]

    def classes(self) -> list[DeviceClass]:
        """The DeviceClasses that the drivers bring along."""
        names = dict.fromkeys(chain.from_iterable(profile.classes for profile in self.profiles))
        return [each for name in names for each in load_classes(name)]


def parse_equipment(text: str) -> Equipment:
    """Read profiles joined by `+`, each with options after a colon, joined by commas.

    Raises ProfileError for a name or an option that is not known, and for what does not go together.
    """
    profiles = tuple(_parse_profile(each.strip()) for each in text.split("+"))
    nics = next((profile.nics for profile in profiles if profile.nics), ())
    parts = [part for profile in profiles for part in profile.parts]
    machine = Machine(nics, tuple(place for part in parts for place in part.accelerators()))
    blueprints = tuple(blueprint for part in parts for blueprint in part.blueprints(machine))
    drivers = [each.driver for each in blueprints]
    for driver in drivers:
        if drivers.count(driver) > 1:
            raise ProfileError(f"{text}: two profiles have a driver {driver}, and a node runs one of each name")
    return Equipment(text, profiles, blueprints)


def list_profiles() -> list[str]:
    """The name of every profile."""
    folder = files(__package__).joinpath("profiles")
    return sorted(PurePath(each.name).stem for each in folder.iterdir() if each.name.endswith(".yaml"))


@cache
def find_profile(name: str) -> Profile:
    """The profile of that name, without options. Raises ProfileError, with the names that come close."""
    known = list_profiles()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
        raise ProfileError(f"no profile {name!r}: {hint}")
    (document,) = parse_yaml_documents(_read("profiles", name))
    try:
        return msgspec.json.decode(document.json, type=Profile, dec_hook=decode_custom)
    except msgspec.ValidationError as fault:
        raise ProfileError(f"profile {name}: {fault}") from fault


@cache
def load_classes(name: str) -> tuple[DeviceClass, ...]:
    """The DeviceClasses of one file."""
    documents = parse_yaml_documents(_read("classes", name))
    return tuple(decode(DEVICE_CLASS, "v1", document.json, strict=True) for document in documents)


def _read(folder: str, name: str) -> str:
    return files(__package__).joinpath(folder, f"{name}.yaml").read_text(encoding="utf-8")


def _parse_profile(text: str) -> Profile:
    name, _, options = text.partition(":")
    profile = find_profile(name)
    for option in filter(None, (each.strip() for each in options.split(","))):
        word, _, value = option.partition("=")
        if word == "pods":
            profile = replace(profile, node=replace(profile.node, pods=_check_pods(value)))
        else:
            profile = replace(profile, parts=tuple(_choose(profile.parts, option, name)))
    return profile


def _check_pods(value: str) -> str:
    if not value.isdecimal() or not int(value):
        raise ProfileError(f"pods={value}: must be the number of pods that fit on a node, such as pods=300")
    return value


def _choose(parts: Sequence[AnyPart], option: str, profile: str) -> Iterator[AnyPart]:
    """The parts with an option taken by those that have it."""
    word, _, value = option.partition("=")
    chosen = [part.choose(word, value) for part in parts]
    if not any(chosen):
        known = sorted({each for part in parts for each in part.options()})
        hint = f"there are {', '.join(known)}" if known else "it has none"
        raise ProfileError(f"profile {profile} has no option {option!r}: {hint}")
    return (part if new is None else new for part, new in zip(parts, chosen, strict=True))
