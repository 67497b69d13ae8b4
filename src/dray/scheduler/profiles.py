"""From a profile as a configuration file has it to the settings that placement goes by."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from dray.api.mending import decode_custom
from dray.errors import FieldError, duplicate, forbidden, invalid, not_supported
from dray.scheduler.configfile import PluginEntry, PluginSet, PluginsFile, ProfileFile
from dray.scheduler.core.profile import DEFAULT_PLUGINS, DEFAULT_WEIGHTS, Profile
from dray.scheduler.filefaults import explain, strict_faults
from dray.scheduler.pluginargs import READERS, Args
from dray.values.fieldpath import FieldPath

__all__ = ["ProfileReader"]

_ALL = "*"
_FIXED = ("preEnqueue", "queueSort", "preFilter", "preScore", "reserve", "permit", "preBind", "bind", "postBind")
_INDISPENSABLE = frozenset({"SchedulingGates", "PrioritySort", "DefaultBinder"})
_FILTERS = frozenset(
    {
        "NodeName",
        "NodeUnschedulable",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "VolumeBinding",
        "PodTopologySpread",
        "InterPodAffinity",
        "NodeDeclaredFeatures",
    }
)
_POST_FILTERS = frozenset({"DefaultPreemption", "DynamicResources"})
_MAX_WEIGHT = 2**31 // 100


class ProfileReader:
    """Reads one profile. What is wrong with it is found in `faults`; then the profile read is not to be used."""

    def __init__(self, path: FieldPath) -> None:
        self.faults: list[FieldError] = []
        self._path = path

    def read(self, file: ProfileFile) -> Profile:
        """The settings of a profile."""
        profile = Profile(scheduler_name=file.scheduler_name or Profile().scheduler_name)
        return self._configured(self._plugged(profile, file.plugins), file)

    def _plugged(self, profile: Profile, file: PluginsFile) -> Profile:
        path = self._path / "plugins"
        self._refuse_fixed(file, path)
        everywhere = self._disabled(file.multi_point, path / "multiPoint", frozenset(DEFAULT_PLUGINS))
        everywhere -= {each.name for each in file.multi_point.enabled}
        after = self._disabled(
            file.post_filter, path / "postFilter", frozenset({"DefaultPreemption", "DynamicResources"})
        )
        for index, each in enumerate(file.multi_point.disabled):
            if each.name in _INDISPENSABLE:
                at = path / "multiPoint" / "disabled" / index
                self.faults.append(forbidden(at, f"{each.name} cannot be left out"))
        gone = everywhere - _INDISPENSABLE | (after & {"DefaultPreemption"})
        return replace(
            profile,
            plugins=tuple(each for each in DEFAULT_PLUGINS if each not in gone),
            disabled_filters=self._disabled(file.filter, path / "filter", _FILTERS)
            - {each.name for each in file.filter.enabled},
            weights=self._weights(file, path),
        )

    def _refuse_fixed(self, file: PluginsFile, path: FieldPath) -> None:
        changed = (
            file.pre_enqueue,
            file.queue_sort,
            file.pre_filter,
            file.pre_score,
            file.reserve,
            file.permit,
            file.pre_bind,
            file.bind,
            file.post_bind,
        )
        for name, step in zip(_FIXED, changed, strict=True):
            if step != PluginSet():
                detail = "only multiPoint, filter, score and postFilter can be changed"
                self.faults.append(forbidden(path / name, detail, hint=f"remove {name}, or use multiPoint"))

    def _disabled(self, step: PluginSet, path: FieldPath, known: frozenset[str]) -> frozenset[str]:
        for index, each in enumerate(step.enabled):
            self._check_known(each, path / "enabled" / index, known)
        for index, each in enumerate(step.disabled):
            if each.name != _ALL:
                self._check_known(each, path / "disabled" / index, known)
        names = frozenset(each.name for each in step.disabled)
        return known if _ALL in names else names

    def _check_known(self, entry: PluginEntry, path: FieldPath, known: frozenset[str]) -> None:
        if entry.name not in known:
            self.faults.append(not_supported(path / "name", entry.name, sorted(known)))

    def _weights(self, file: PluginsFile, path: FieldPath) -> Mapping[str, int]:
        weights = dict(DEFAULT_WEIGHTS)
        for step, name in ((file.multi_point, "multiPoint"), (file.score, "score")):
            if step is file.score:
                for plugin in self._disabled(step, path / name, frozenset(DEFAULT_WEIGHTS)):
                    weights[plugin] = 0
            for index, each in enumerate(step.enabled):
                if each.name in weights:
                    default = DEFAULT_WEIGHTS[each.name] if each.weight is None else 1
                    weights[each.name] = each.weight or default
                    self._check_weight(each, path / name / "enabled" / index / "weight")
        return weights

    def _check_weight(self, entry: PluginEntry, path: FieldPath) -> None:
        if entry.weight is not None and not 0 <= entry.weight <= _MAX_WEIGHT:
            self.faults.append(invalid(path, entry.weight, f"must be from 0 to {_MAX_WEIGHT}"))

    def _configured(self, profile: Profile, file: ProfileFile) -> Profile:
        seen: set[str] = set()
        for index, each in enumerate(file.plugin_config):
            path = self._path / "pluginConfig" / index
            reader = READERS.get(each.name)
            if reader is None:
                self.faults.append(not_supported(path / "name", each.name, sorted(READERS)))
                continue
            if each.name in seen:
                self.faults.append(duplicate(path / "name", each.name))
            seen.add(each.name)
            profile = self._with_args(profile, reader, bytes(each.args) or b"{}", path / "args")
        return profile

    def _with_args(self, profile: Profile, args: Args, text: bytes, path: FieldPath) -> Profile:
        try:
            file = msgspec.json.decode(text, type=args.struct, dec_hook=decode_custom)
        except msgspec.DecodeError as error:
            self.faults.append(explain(error, path))
            return profile
        faults = [*strict_faults(args.struct, text, path), *args.check(file, path)]
        self.faults += faults
        return profile if faults else args.apply(profile, file)
