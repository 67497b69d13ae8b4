"""Hold dray against what Kubernetes was recorded to do: `python tools/conformance.py FILE.jsonl [FILE...]`.

Each line of a file is recognised by its shape and judged by the module that knows it. Mismatches are printed as they
come; texts and the choice among legal devices are counted apart and never fail a line (`--texts` prints texts that
differ). What dray does better on purpose passes, and is listed. Ends in `N passed, N failed`; `--json` prints counts.
With `--server URL --token T`, or `--kubeconfig FILE`, recorded creates are sent to that API server instead.
"""

import argparse
import json
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `tools`, when run as a script

from tools.conformance_allocator import AllocationJudge
from tools.conformance_api import UpdateJudge, ValidationJudge, VersionJudge
from tools.conformance_cel import ExpressionJudge
from tools.conformance_lines import Judge, Line, Verdict
from tools.conformance_server import ServerJudge, find_server

JUDGES: tuple[Judge, ...] = (ValidationJudge(), UpdateJudge(), VersionJudge(), ExpressionJudge(), AllocationJudge())
MAX_MISMATCHES_SHOWN = 6


def read_lines(file: Path) -> Iterator[tuple[str, Line]]:
    """The lines of a file, each with its name or number."""
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if text.strip():
            line = json.loads(text)
            yield line.get("name") or f"line {number}", line


def judge_line(line: Line, judges: Sequence[Judge] = JUDGES) -> Verdict:
    """The verdict of the judge that recognises the line.

    A crash is a mismatch like any other, so that one line does not hide those after it.
    """
    judge = next((each for each in judges if each.recognises(line)), None)
    if judge is None:
        return Verdict(["nobody recognises this line"])
    try:
        return judge.judge(line)
    except Exception:
        return Verdict([traceback.format_exc(limit=-4)])


@dataclass
class Tally:
    """Lines counted."""

    passed: int = 0
    failed: int = 0
    better: int = 0
    texts: int = 0
    texts_same: int = 0
    devices: int = 0
    devices_same: int = 0
    failures: dict[str, list[str]] = field(default_factory=dict)

    def count(self, name: str, verdict: Verdict) -> None:
        """Count one line."""
        self.passed += verdict.passed
        self.failed += not verdict.passed
        self.better += verdict.passed and bool(verdict.better)
        self.texts += verdict.texts
        self.texts_same += verdict.texts_same
        self.devices += verdict.devices
        self.devices_same += verdict.devices_same
        if not verdict.passed:
            self.failures[name] = verdict.mismatches


def judge_file(file: Path, judges: Sequence[Judge] = JUDGES, *, show_texts: bool, quiet: bool) -> Tally:
    """Judge one file; print what differs in it, unless quiet."""
    tally = Tally()
    lines: list[str] = []
    for name, line in read_lines(file):
        verdict = judge_line(line, judges)
        tally.count(name, verdict)
        if not verdict.passed:
            lines += [f"FAIL {name}", *(f"    {mismatch}" for mismatch in verdict.mismatches[:MAX_MISMATCHES_SHOWN])]
        elif verdict.better:
            lines.append(f"better {name}: {verdict.better}")
        if show_texts or (verdict.devices and not verdict.devices_same):
            lines += [f"  {name}: {note}" for note in verdict.notes]
    if tally.texts:
        lines.append(f"{file.name}: same text: {tally.texts_same} of {tally.texts}")
    if tally.devices:
        lines.append(f"{file.name}: same devices: {tally.devices_same} of {tally.devices}")
    if not quiet:
        print(*lines, sep="\n", end="\n" if lines else "")
    return tally


def main() -> int:
    """Judge all files; 1 if a line failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--texts", action="store_true", help="print texts that differ, although they fail no line")
    parser.add_argument("--json", action="store_true", help="print counts and mismatches by file, as JSON")
    parser.add_argument("--server", metavar="URL", help="send recorded creates to this API server")
    parser.add_argument("--token", help="bearer token for it")
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="where server and client certificate stand")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        judges = JUDGES
        if arguments.server or arguments.kubeconfig:
            server = find_server(arguments.server, arguments.token, arguments.kubeconfig)
            judges = (stack.enter_context(closing(ServerJudge(server))),)
        tallies = {
            str(file): judge_file(file, judges, show_texts=arguments.texts, quiet=arguments.json)
            for file in arguments.files
        }
    passed = sum(tally.passed for tally in tallies.values())
    failed = sum(tally.failed for tally in tallies.values())
    if arguments.json:
        print(json.dumps({file: asdict(tally) for file, tally in tallies.items()}, indent=2))
    else:
        print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
