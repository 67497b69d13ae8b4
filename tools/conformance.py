"""Hold dray against what Kubernetes was recorded to do: `python tools/conformance.py FILE.jsonl [FILE...]`.

Each line of a file is recognised by its shape and judged by the module that knows it. Mismatches are printed as they
come; texts are counted apart and never fail a line (`--texts` prints those that differ). Ends in `N passed, N failed`.
"""

import argparse
import json
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for `tools`, when run as a script

from tools.conformance_api import UpdateJudge, ValidationJudge, VersionJudge
from tools.conformance_cel import ExpressionJudge
from tools.conformance_lines import Judge, Line, Verdict

JUDGES: tuple[Judge, ...] = (ValidationJudge(), UpdateJudge(), VersionJudge(), ExpressionJudge())
MAX_MISMATCHES_SHOWN = 6


def read_lines(file: Path) -> Iterator[tuple[str, Line]]:
    """The lines of a file, each with its name or number."""
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if text.strip():
            line = json.loads(text)
            yield line.get("name") or f"line {number}", line


def judge_line(line: Line) -> Verdict:
    """The verdict of the judge that recognises the line.

    A crash is a mismatch like any other, so that one line does not hide those after it.
    """
    judge = next((each for each in JUDGES if each.recognises(line)), None)
    if judge is None:
        return Verdict(["nobody recognises this line"])
    try:
        return judge.judge(line)
    except Exception:
        return Verdict([traceback.format_exc(limit=-4)])


def judge_file(file: Path, *, show_texts: bool) -> tuple[int, int]:
    """Print what differs in one file; how many lines passed and failed."""
    passed = failed = texts = texts_same = 0
    for name, line in read_lines(file):
        verdict = judge_line(line)
        passed, failed = passed + verdict.passed, failed + (not verdict.passed)
        texts, texts_same = texts + verdict.texts, texts_same + verdict.texts_same
        if not verdict.passed:
            print(f"FAIL {name}")
            for mismatch in verdict.mismatches[:MAX_MISMATCHES_SHOWN]:
                print(f"    {mismatch}")
        if show_texts:
            for note in verdict.notes:
                print(f"  {name}: {note}")
    if texts:
        print(f"{file.name}: same text: {texts_same} of {texts}")
    return passed, failed


def main() -> int:
    """Judge all files; 1 if a line failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--texts", action="store_true", help="print texts that differ, although they fail no line")
    arguments = parser.parse_args()
    passed = failed = 0
    for file in arguments.files:
        file_passed, file_failed = judge_file(file, show_texts=arguments.texts)
        passed, failed = passed + file_passed, failed + file_failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
