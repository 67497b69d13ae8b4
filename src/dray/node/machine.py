"""What there is to say of the machine that an agent runs on."""

import os
import platform
from pathlib import Path
from typing import Final

from dray.node.registration import NodeFacts
from dray.values.quantity import Quantity, QuantityFormat

__all__ = ["describe_machine"]

_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


def describe_machine(name: str, runtime_version: str) -> NodeFacts:
    """This machine as a node: its processors, its memory, its system."""
    return NodeFacts(
        name,
        runtime_version,
        capacity=_measure(),
        architecture=_ARCHITECTURES.get(platform.machine(), platform.machine()),
        kernel=platform.release(),
        os_image=_read_os_image(),
        machine_id=_read("/etc/machine-id"),
        boot_id=_read("/proc/sys/kernel/random/boot_id"),
    )


def _measure() -> dict[str, Quantity]:
    """Processors and memory of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": Quantity.of(len(os.sched_getaffinity(0))),
        "memory": Quantity.of(memory, QuantityFormat.BINARY_SI),
        "pods": Quantity.of(110),
    }


def _read_os_image() -> str:
    facts = dict(line.partition("=")[::2] for line in _read("/etc/os-release").splitlines())
    return facts.get("PRETTY_NAME", "").strip('"')


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except OSError:
        return ""
