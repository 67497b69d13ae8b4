"""References to requests: `request`, or `request/subrequest` for one alternative of a request."""

import difflib
from collections.abc import Sequence

from dray.api.resource.checks.lists import fits, note_duplicates
from dray.api.resource.checks.names import check_label
from dray.api.resource.checks.report import Report
from dray.api.resource.claim import DeviceClaim
from dray.errors import invalid
from dray.values.fieldpath import FieldPath

__all__ = ["MAX_REFERENCES", "RequestNames", "inspect_reference", "inspect_references"]

MAX_REFERENCES = 32
"""References in one constraint or configuration."""

_UNKNOWN = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
_MAX_LISTED = 5


class RequestNames:
    """What the requests of a claim are called, and what their alternatives are."""

    __slots__ = ("_subrequests",)

    def __init__(self, claim: DeviceClaim) -> None:
        self._subrequests = {
            request.name: frozenset(each.name for each in request.first_available) for request in claim.requests or ()
        }

    def __contains__(self, reference: str) -> bool:
        request, slash, subrequest = reference.partition("/")
        subrequests = self._subrequests.get(request)
        return subrequests is not None and (not slash or subrequest in subrequests)

    def hint(self, reference: str) -> str:
        """What to write instead of an unknown reference."""
        known = [
            text
            for request, subrequests in self._subrequests.items()
            for text in (request, *(f"{request}/{each}" for each in sorted(subrequests)))
        ]
        closest = difflib.get_close_matches(reference, known, n=1)
        if closest:
            return f"did you mean {closest[0]}?"
        if not known:
            return "add a request of that name"
        return f"use {', '.join(known[:_MAX_LISTED])}{' ...' if len(known) > _MAX_LISTED else ''}"


def inspect_references(references: Sequence[str], names: RequestNames, path: FieldPath, report: Report) -> None:
    """Each reference names a request, once."""
    if not references or not fits(references, MAX_REFERENCES, path, report.declare):
        return
    note_duplicates(references, references, path, report.declare)
    for index, reference in enumerate(references):
        inspect_reference(reference, names, path / index, report)


def inspect_reference(reference: str, names: RequestNames, path: FieldPath, report: Report) -> None:
    """A reference is one or two labels and names a request, or a request and one of its alternatives."""
    segments = reference.split("/")
    if len(segments) <= 2:
        for segment in segments:
            report.add_all(check_label(segment, path))
    if reference not in names:
        report.add(invalid(path, reference, _UNKNOWN, hint=names.hint(reference)))
