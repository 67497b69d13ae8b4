"""Show what dray does today, on the real library: `make demo`."""

import subprocess
import sys
from pathlib import Path

from dray.api.codec import decode
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.api.resource.slice import ResourceSlice
from dray.api.yamltext import parse_yaml_documents
from dray.cel.errors import CompileFault, RuntimeFault
from dray.cel.program import Program, compile_selector, matches

ROOT = Path(__file__).parents[1]
TOUR = Path("examples") / "tour"

SELECTORS = (
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0',
    'device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("500.0.0"))',
    'device.attributes["gpu.example.com"].numaNode == 0',
    'device.attributes["gpu.example.com"].?numaNode.orValue(-1) == 0',
    'device.driverName == "gpu.example.com"',
)


def show_check() -> None:
    command = ["check", "-f", str(TOUR / "claim.yaml"), "-f", str(TOUR / "slice.yaml")]
    print(f"$ dray {' '.join(command)}", flush=True)
    subprocess.run([sys.executable, "-m", "dray", *command], cwd=ROOT, check=False)


def read_slice() -> ResourceSlice:
    (document,) = parse_yaml_documents(ROOT.joinpath(TOUR, "slice.yaml").read_text(encoding="utf-8"))
    return decode(RESOURCE_SLICE, "v1", document.json, strict=True)


def show_verdicts(program: Program, published: ResourceSlice) -> None:
    for device in published.spec.devices or ():
        verdict = matches(program, published.spec.driver, device)
        text = f"error: {verdict.message}" if isinstance(verdict, RuntimeFault) else str(verdict).lower()
        print(f"    {device.name}: {text}")
    reads = ", ".join(program.reads.token_names())
    print(f"    costs at most {program.max_cost}, depends on {reads}")


def show_selectors() -> None:
    published = read_slice()
    for expression in SELECTORS:
        print(f"\n  {expression}")
        compiled = compile_selector(expression)
        if isinstance(compiled, CompileFault):
            print("\n".join(f"    {line}" for line in compiled.detail.splitlines()))
            print(f"    {compiled.hint}" if compiled.hint else "")
        else:
            show_verdicts(compiled, published)


def main() -> None:
    print("1. A claim with mistakes: every fault at once, with its path and what to do\n")
    show_check()
    print("\n2. Selectors on the two devices of examples/tour/slice.yaml: verdict, worst cost, what it depends on")
    show_selectors()
    print("\nNext: edit examples/tour/claim.yaml and run `.venv/bin/dray check -f examples/tour/claim.yaml` again.")


if __name__ == "__main__":
    main()
