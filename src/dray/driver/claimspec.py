"""The CDI file of one claim: which devices it names, and which of them each prepared device stands for.

One file a claim, `<vendor>-<class>_<claim uid>`, and the uid in every device name: a name never means two things, so no
runtime's cache can be wrong. A device without edits gets no name; edits common to the claim are a device of their own
that every prepared device asks for as well, because runtimes apply a device once however often it is asked for.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dray.driver.cdi import CdiDevice, CdiSpec, QualifiedName
from dray.driver.cdirules import get_least_version
from dray.driver.claims import DeviceKey, Prepared

__all__ = ["ClaimSpec", "SpecNames", "plan_claim_spec"]

_COMMON: Final = "common"


class SpecNames(Struct, frozen=True):
    """How the CDI files of one driver are called."""

    driver: str
    cdi_class: str

    @property
    def kind(self) -> str:
        """The kind that the files declare."""
        return f"k8s.{self.driver}/{self.cdi_class}"

    @property
    def prefix(self) -> str:
        """What the names of all files of claims begin with."""
        return f"k8s.{self.driver}-{self.cdi_class}_"

    def file_of(self, claim_uid: str) -> str:
        """The file of one claim."""
        return f"{self.prefix}{claim_uid}"


class ClaimSpec(Struct, frozen=True):
    """What to write, if anything, and the qualified names of each device, in the order of the answer."""

    spec: CdiSpec | None
    cdi_names: tuple[tuple[str, ...], ...]


def plan_claim_spec(names: SpecNames, claim_uid: str, prepared: Prepared) -> ClaimSpec:
    """Work out the file of a claim. The same answer gives the same file, whenever it is asked for."""
    devices: list[CdiDevice] = []
    shared: tuple[str, ...] = ()
    if not prepared.common.is_empty and prepared.devices:
        devices.append(CdiDevice(name=f"{claim_uid}-{_COMMON}", container_edits=prepared.common))
        shared = (str(QualifiedName(names.kind, devices[0].name)),)
    called: list[tuple[str, ...]] = []
    own_names = _name_devices(claim_uid, [each.key for each in prepared.devices], taken={each.name for each in devices})
    for device, name in zip(prepared.devices, own_names, strict=True):
        own: tuple[str, ...] = ()
        if not device.edits.is_empty:
            devices.append(CdiDevice(name=name, container_edits=device.edits))
            own = (str(QualifiedName(names.kind, name)),)
        called.append((*shared, *own, *device.cdi_names))
    if not devices:
        return ClaimSpec(None, tuple(called))
    draft = CdiSpec(cdi_version="", kind=names.kind, devices=tuple(devices))
    return ClaimSpec(replace(draft, cdi_version=get_least_version(draft)), tuple(called))


def _name_devices(claim_uid: str, keys: Sequence[DeviceKey], *, taken: set[str]) -> list[str]:
    """`<uid>-<device>[-<share>]`, and a number where two pools or two requests give the claim two of that name."""
    names: list[str] = []
    for each in keys:
        stem = f"{claim_uid}-{each.device}" + (f"-{each.share_id}" if each.share_id else "")
        name, number = stem, 1
        while name in taken:
            number += 1
            name = f"{stem}.{number}"
        taken.add(name)
        names.append(name)
    return names
