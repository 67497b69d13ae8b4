"""Configuration for drivers: what is known of NVIDIA's kinds, under their former names too."""

from __future__ import annotations

import re
from typing import Final

from dray.authoring.drafts import Draft
from dray.authoring.tree import Tree

__all__ = ["rewrite_config"]

_NVIDIA: Final = "resource.nvidia.com/v1beta1"
_FORMER_NVIDIA = re.compile(r"(?:gpu\.resource\.nvidia\.com|gpu\.nvidia\.com|resource\.nvidia\.com)/v1alpha\d+")
_FORMER_KINDS: Final = {"GpuConfiguration": "GpuConfig", "MigDeviceConfiguration": "MigDeviceConfig"}
_OPAQUE: Final[tuple[str, ...]] = ("driver", "parameters")


def rewrite_config(draft: Draft, config: Tree) -> None:
    """Put an entry of `config` in order."""
    stray = {name: config.fields.pop(name) for name in _OPAQUE if name in config.fields}
    if stray:
        opaque = config.open("opaque")
        opaque.fields.update(stray)
        first = next(iter(stray.values()))
        draft.fault("wrong-nesting", opaque, "driver and parameters stand under `opaque`", hint="opaque", at=first)
    if "requestNames" in config.fields and "requests" not in config.fields:
        config.rename("requestNames", "requests")
        draft.fault("wrong-name", config.fields["requests"], "requestNames is called requests", hint="requests")
    parameters = config.find("opaque", "parameters")
    if parameters is not None and _FORMER_NVIDIA.fullmatch(parameters.text_at("apiVersion")):
        _rewrite_nvidia(draft, parameters)


def _rewrite_nvidia(draft: Draft, parameters: Tree) -> None:
    version, kind = parameters.fields["apiVersion"], parameters.find("kind")
    former = version.text
    version.value = _NVIDIA
    draft.fault("driver-config", version, f"{former} is a former version of the driver's configuration", hint=_NVIDIA)
    if kind is not None and kind.text in _FORMER_KINDS:
        named, kind.value = kind.text, _FORMER_KINDS[kind.text]
        draft.fault("driver-config", kind, f"{named} is called {kind.value}", hint=str(kind.value))
    sharing = parameters.find("sharing")
    if sharing is not None and len(sharing.items) == 1:
        only = sharing.items[0]
        sharing.value = only.value
        draft.fault("driver-config", sharing, "sharing is one map, not a list", hint="sharing: {strategy: ...}")
