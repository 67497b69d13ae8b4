"""Write what the tests know of Kubernetes' own discovery: `python tools/discovery_facts.py DISCOVERY.json`.

Written is `tests/golden/discovery/resources.json`: for each group version its resources in order, as the plain lists
describe them.
"""

import argparse
import json
from pathlib import Path

FACTS = Path(__file__).resolve().parent.parent / "tests" / "golden" / "discovery" / "resources.json"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the table of recorded resources.")
    parser.add_argument("discovery", type=Path)
    recorded = json.loads(parser.parse_args().discovery.read_text(encoding="utf-8"))["legacy"]
    facts = {
        listed["groupVersion"]: {each.pop("name"): each for each in listed["resources"]}
        for listed in recorded.values()
        if listed["kind"] == "APIResourceList"
    }
    lines = [
        f'"{group_version}": {{\n'
        + ",\n".join(f'"{name}": {json.dumps(facts, sort_keys=True)}' for name, facts in resources.items())
        + "\n}"
        for group_version, resources in sorted(facts.items())
    ]
    FACTS.parent.mkdir(parents=True, exist_ok=True)
    FACTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
