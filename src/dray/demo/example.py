"""An example as its `expect.yaml` tells it: the nodes of a cluster, commands in order, what must come of each.

    nodes: [t4-vm, control-plane]
    steps:
    - say: The second pod waits, and says for what.
      run: kubectl apply -f examples/one-gpu-two-pods/second.yaml
      want:
        pods:
          demo/second: {phase: Pending, says: [1 cannot allocate all claims]}

An example of several clusters has `scenes`, each with nodes and steps; without nodes there is no cluster. Names of
pods, claims and devices are patterns as in a shell.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from dray.api.yamltext import YamlError, parse_yaml_documents
from dray.errors import DrayError

__all__ = [
    "Example",
    "ExampleError",
    "Scene",
    "Step",
    "WantedAlignment",
    "WantedClaim",
    "WantedLog",
    "WantedPod",
    "Wants",
    "read_example",
]


_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)]+\)")


class ExampleError(DrayError):
    """An example cannot be read, or there is none of that name. `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class _Part(Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the file; what it does not know is a mistake."""


class WantedPod(_Part, frozen=True):
    """What a pod must become, or every pod that the pattern stands for."""

    phase: str = ""
    """As in its status; `Gone` if it must not be there."""
    node: str = ""
    devices: tuple[str, ...] | None = None
    """As `node/device`, of all its claims, in any order."""
    says: tuple[str, ...] = ()
    """Pieces of the message of the condition PodScheduled."""
    count: int | None = None
    """How many pods the pattern stands for."""

    @property
    def facts(self) -> int:
        """How much of this can be true or false."""
        given = (self.phase, self.node, self.devices is not None, self.count is not None)
        return sum(map(bool, given)) + len(self.says)


class WantedClaim(_Part, frozen=True):
    """What a claim must become."""

    state: str = ""
    """`allocated`, `pending` or `gone`."""
    reserved: tuple[str, ...] | None = None
    """The names of the pods that it is reserved for, in any order."""
    devices: Mapping[str, tuple[str, ...]] = {}
    """By request, with the alternative if there is one: `gpu/hopper`."""
    admin: bool | None = None
    """Whether its devices are accessed by an administrator."""
    interfaces: tuple[str, ...] | None = None
    """The network interfaces that its status tells of."""

    @property
    def facts(self) -> int:
        """How much of this can be true or false."""
        optional = (self.reserved, self.admin, self.interfaces)
        return bool(self.state) + len(self.devices) + sum(each is not None for each in optional)


class WantedLog(_Part, frozen=True):
    """What a container must have been told. `<name>` stands for any word: everywhere the same, for no other name."""

    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


class WantedAlignment(_Part, frozen=True):
    """That the devices of each claim have one value of an attribute, or each its own."""

    claims: str
    attribute: str
    requests: tuple[str, ...] = ()
    """Only devices of these; none is all."""
    differs: bool = False


class Wants(_Part, frozen=True):
    """What must be true after a command."""

    pods: Mapping[str, WantedPod] = {}
    claims: Mapping[str, WantedClaim] = {}
    logs: Mapping[str, WantedLog] = {}
    """By `namespace/pod/container`; the pod may be a pattern, and then stands for all that it fits."""
    events: Mapping[str, tuple[str, ...]] = {}
    """Pieces of `Reason: message` of events about the pod `namespace/pod`."""
    offered: tuple[str, ...] = ()
    """Devices that are published, as `node/device`."""
    withdrawn: tuple[str, ...] = ()
    """Devices that are not."""
    together: Mapping[str, str] = {}
    """By label of nodes: pods on nodes with one value of it."""
    apart: Mapping[str, str] = {}
    """By label of nodes: pods on nodes with a value for each."""
    aligned: tuple[WantedAlignment, ...] = ()

    @property
    def facts(self) -> int:
        """How much of this can be true or false."""
        pods, claims = (each.facts for each in self.pods.values()), (each.facts for each in self.claims.values())
        told = (len(each.has) + len(each.lacks) for each in self.logs.values())
        lists = (*self.events.values(), self.offered, self.withdrawn, self.together, self.apart, self.aligned)
        return sum(pods) + sum(claims) + sum(told) + sum(map(len, lists))


class Step(_Part, frozen=True):
    """One command, of kubectl or dray, and what must come of it."""

    run: str
    say: str = ""
    prints: tuple[str, ...] = ()
    """Pieces of what the command prints."""
    hides: tuple[str, ...] = ()
    """Pieces of what it does not print."""
    fails: bool = False
    """Whether the command is to be refused."""
    want: Wants = Wants()

    @property
    def facts(self) -> int:
        """How much of this can be true or false."""
        return self.fails + len(self.prints) + len(self.hides) + self.want.facts


class Scene(_Part, frozen=True):
    """What happens on one cluster. The nodes are those of `dray up --nodes`."""

    steps: tuple[Step, ...]
    nodes: tuple[str, ...] = ()
    settings: Mapping[str, str] = {}
    """Variables that the cluster is started with, such as `DRAY_NODE_PREPARE_RETRY_SECONDS`."""

    @property
    def command(self) -> str:
        """What starts the cluster, as one types it."""
        settings = [f"{name}={value}" for name, value in self.settings.items()]
        return " ".join([*settings, "dray up", *(f"--nodes {each}" for each in self.nodes)])


class _File(_Part, frozen=True):
    scenes: tuple[Scene, ...] = ()
    nodes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


class Example(Struct, frozen=True):
    """A folder with a README, manifests, and what is expected of them."""

    name: str
    """Its folder below `examples`."""
    title: str
    about: str
    """The first paragraph of the README, on one line."""
    scenes: tuple[Scene, ...]


def read_example(folder: Path, name: str) -> Example:
    """Read `expect.yaml` and `README.md`. Raises ExampleError, with what is wrong and where."""
    try:
        expected, readme = (folder.joinpath(each).read_text(encoding="utf-8") for each in ("expect.yaml", "README.md"))
        (document,) = parse_yaml_documents(expected)
        file = msgspec.json.decode(document.json, type=_File)
    except (OSError, ValueError, YamlError) as fault:
        raise ExampleError(f"example {name} cannot be read: {fault}") from fault
    title, *paragraphs = readme.split("\n\n")
    scenes = file.scenes or (Scene(file.steps, file.nodes),)
    about = _LINK.sub(r"\1", " ".join(paragraphs[0].split())) if paragraphs else ""
    return Example(name, title.removeprefix("# ").strip(), about, scenes)
