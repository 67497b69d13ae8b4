"""Trees like /sys, written file by file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dray.driver.sysfs import Sysfs


def plant(root: Path, files: Mapping[str, str], links: Mapping[str, str] | None = None) -> Sysfs:
    """Write files, then links; the targets of links are relative to where they stand."""
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n", encoding="utf-8")
    for name, target in (links or {}).items():
        link = root / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    return Sysfs(root)


def plant_cpus(root: Path, cpus: Mapping[int, tuple[int, int, int, int]]) -> Sysfs:
    """Processors by number: socket, NUMA node, core and L3 cache."""
    files: dict[str, str] = {"devices/system/cpu/online": ",".join(map(str, cpus))}
    for cpu, (socket, node, core, cache) in cpus.items():
        at = f"devices/system/cpu/cpu{cpu}"
        siblings = [other for other, place in cpus.items() if place[:1] == (socket,) and place[2] == core]
        files |= {
            f"{at}/topology/physical_package_id": str(socket),
            f"{at}/topology/core_id": str(core),
            f"{at}/topology/thread_siblings_list": ",".join(map(str, siblings)),
            f"{at}/cache/index3/id": str(cache),
            f"{at}/cache/index3/level": "3",
            f"{at}/node{node}/present": "",
        }
    for node in {place[1] for place in cpus.values()}:
        files[f"devices/system/node/node{node}/cpulist"] = ",".join(
            str(cpu) for cpu, place in cpus.items() if place[1] == node
        )
    return plant(root, files)
