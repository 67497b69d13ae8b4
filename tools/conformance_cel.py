"""Judges lines that hold one CEL expression, a device, and what Kubernetes made of them.

A line passes if the verdict is the recorded one (true, false, runtime error, compile error) and the estimated cost lies
on the recorded side of the limit; texts of errors are counted apart. Being stopped for its cost while running is the
same verdict as being refused for it at admission.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dray.api.mending import decode_custom
from dray.api.resource.device import Device
from dray.cel.cost import COST_LIMIT
from dray.cel.errors import COST_LIMIT_EXCEEDED, CompileFault, RuntimeFault
from dray.cel.program import Program, compile_selector, evaluate_selector, matches
from tools.conformance_lines import Line, Verdict

__all__ = ["ExpressionJudge", "run"]


class ExpressionJudge:
    """Knows `expression, driver, device` with `matches`, `runtimeError` or `compileError`, and `maxCost`."""

    def recognises(self, line: Line) -> bool:
        """Whether the line holds an expression."""
        return "expression" in line

    def judge(self, line: Line) -> Verdict:
        """Compile and evaluate."""
        verdict = Verdict()
        program = compile_selector(line["expression"])
        if isinstance(program, CompileFault):
            _judge_fault(line, program, verdict)
        elif "compileError" in line:
            verdict.mismatches.append(f"compiles; recorded: {line['compileError']}")
        else:
            _judge_cost(line, program, verdict)
            _judge_answer(line, program, verdict)
        return verdict


def run(lines: list[dict[str, Any]]) -> list[Verdict]:
    """Judge many lines."""
    judge = ExpressionJudge()
    return [judge.judge(line) for line in lines]


def _judge_fault(line: Line, fault: CompileFault, verdict: Verdict) -> None:
    if "compileError" not in line:
        verdict.mismatches.append(f"does not compile: {fault.detail}")
        return
    _count_text(verdict, fault.detail, line["compileError"])


def _judge_cost(line: Line, program: Program, verdict: Verdict) -> None:
    recorded = line.get("maxCost", 0)
    if (program.max_cost > COST_LIMIT) is not (recorded > COST_LIMIT):
        verdict.mismatches.append(f"estimated cost {program.max_cost}; recorded {recorded}")
    elif program.max_cost != recorded:
        verdict.notes.append(f"estimated cost {program.max_cost}; recorded {recorded}")


def _judge_answer(line: Line, program: Program, verdict: Verdict) -> None:
    device = msgspec.convert(line["device"], Device, dec_hook=decode_custom)
    answer = matches(program, line["driver"], device)
    if answer != evaluate_selector(program, line["driver"], device):
        verdict.mismatches.append("the remembered answer differs from a fresh one")
    if "runtimeError" in line:
        if not isinstance(answer, RuntimeFault):
            is_refused = line["runtimeError"] == COST_LIMIT_EXCEEDED and program.max_cost > COST_LIMIT
            if not is_refused:
                verdict.mismatches.append(f"is {answer}; recorded: {line['runtimeError']}")
        else:
            _count_text(verdict, answer.message, line["runtimeError"])
    elif "matches" in line and answer is not line["matches"]:
        verdict.mismatches.append(f"is {answer}; recorded {line['matches']}")


def _count_text(verdict: Verdict, text: str, recorded: str) -> None:
    verdict.texts += 1
    if text == recorded:
        verdict.texts_same += 1
    else:
        verdict.notes.append(f"text {text!r}; recorded {recorded!r}")
