"""Findings as text: the place as compilers print it, the message, what to do."""

from collections import Counter
from collections.abc import Sequence

from dray.authoring.findings import Finding, Severity

__all__ = ["render_findings"]


def render_findings(findings: Sequence[Finding], objects: int) -> str:
    """All of them, and how many there are."""
    counts = Counter(each.severity for each in findings)
    summary = ", ".join(f"{counts[each]} {each}{'' if counts[each] == 1 else 's'}" for each in Severity if counts[each])
    looked_at = f"{objects} object{'' if objects == 1 else 's'}"
    return "".join(map(_render, findings)) + f"{looked_at}: {summary or 'nothing to say'}\n"


def _render(finding: Finding) -> str:
    first, *more = finding.message.splitlines() or [""]
    lines = [f"{finding.file}:{finding.line}: {finding.severity}: {first} [{finding.rule}]"]
    lines += [f"    {line}" for line in more]
    place = ": ".join(part for part in (finding.subject, finding.path) if part)
    if place:
        lines.append(f"  in {place}")
    if finding.hint:
        lines.append(f"  {finding.hint}" if finding.hint.startswith("did you mean") else f"  try: {finding.hint}")
    return "".join(f"{line}\n" for line in lines)
