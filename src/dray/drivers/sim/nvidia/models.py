"""GPU models and their MIG profiles, from `models.yaml`."""

from functools import cache
from importlib.resources import files
from typing import Final

import msgspec
from msgspec import Struct

from dray.api.yamltext import parse_yaml_documents
from dray.drivers.sim.part import ProfileError

__all__ = ["ENGINES", "GpuModel", "MigProfile", "find_model", "load_models"]

ENGINES: Final = ("multiprocessors", "copyEngines", "decoders", "encoders", "jpegEngines", "ofaEngines")
"""Capacities beside memory, in the order in which the driver counts them."""


class MigProfile(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What one GPU instance has. `shape` says where it may lie: see `geometry`."""

    shape: str
    name: str
    memory: str
    multiprocessors: int
    copy_engines: int
    decoders: int = 0
    encoders: int = 0
    jpeg_engines: int = 0
    ofa_engines: int = 0

    def amounts(self) -> tuple[int, ...]:
        """How much it has of each of `ENGINES`."""
        return (
            self.multiprocessors,
            self.copy_engines,
            self.decoders,
            self.encoders,
            self.jpeg_engines,
            self.ofa_engines,
        )


class GpuModel(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What all GPUs of a model have in common. `unconfirmed` names what no primary source vouches for."""

    product_name: str
    pci_name: str
    architecture: str
    compute_capability: str
    driver_version: str
    cuda_driver_version: str
    memory: str
    addressable_memory: str
    pci_device: str
    brand: str = "Nvidia"
    addressing_mode: str | None = None
    cores: int | None = None
    fp64_cores: int | None = None
    mig_needs_reset: bool = False
    """Switching MIG on or off resets the GPU, so that it offers itself whole or in parts, never both."""
    mig: tuple[MigProfile, ...] = ()
    unconfirmed: tuple[str, ...] = ()


@cache
def load_models() -> dict[str, GpuModel]:
    """Every model by the name that profiles call it."""
    text = files(__package__).joinpath("models.yaml").read_text(encoding="utf-8")
    (document,) = parse_yaml_documents(text)
    return msgspec.json.decode(document.json, type=dict[str, GpuModel])


def find_model(name: str) -> GpuModel:
    """The model of that name. Raises ProfileError."""
    model = load_models().get(name)
    if model is None:
        raise ProfileError(f"no GPU model {name!r}: there are {', '.join(sorted(load_models()))}")
    return model
