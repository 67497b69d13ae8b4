"""Write `tests/golden/server/recorded`: recorded requests and answers on kinds that dray serves, in one order a file.

    python -m tools.trim_recordings FOLDER

FOLDER holds the recordings, a file for each topic. They come from one server, so an entry builds on entries of other
files, and on requests that nobody recorded; the order in which they make sense together stands in
`tools/recording_scenes.yaml`, with what has to be asked in between.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.trace_recordings import read_traces

TARGET = Path("tests/golden/server/recorded")
SCENES = Path(__file__).with_name("recording_scenes.yaml")

Json = dict[str, Any]


@dataclass(frozen=True)
class Topics:
    """The recordings; bodies that traces lack, by method and path."""

    folder: Path
    completed: Json

    def read(self, name: str) -> list[Json]:
        """The recordings of a topic, in their order."""
        if name == "traces":
            text = self.folder.joinpath("kubectl-traces.txt").read_text(encoding="utf-8", errors="replace")
            return list(read_traces(text, self.completed))
        recorded: list[Json] = json.loads(self.folder.joinpath(f"{name}.json").read_text(encoding="utf-8"))
        return recorded


def unroll(topics: Topics, steps: list[Json]) -> Iterator[Json]:
    """The exchanges that a scene is made of: recorded ones as `take` names them, others as they are."""
    for step in steps:
        if "take" not in step:
            yield step
            continue
        topic, first, *others = step["take"]
        recorded = topics.read(topic)
        names = [each["name"] for each in recorded]
        end = len(names) - names[::-1].index(others[0] if others else first)
        for each in recorded[names.index(first) : end]:
            if each["name"] not in step.get("except", ()):
                yield {"topic": topic, **each} | ({"as": step["as"]} if "as" in step else {})


def main(folder: Path) -> None:
    scenes: Json = yaml.safe_load(SCENES.read_text(encoding="utf-8"))
    topics = Topics(folder, scenes.pop("completed_bodies"))
    for name, steps in scenes.items():
        lines = [json.dumps(each, separators=(",", ":"), ensure_ascii=False) for each in unroll(topics, steps)]
        TARGET.joinpath(f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
