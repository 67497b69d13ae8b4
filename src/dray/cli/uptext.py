"""What `dray up`, `dray status` and `dray down` say."""

from collections.abc import Iterable, Sequence
from typing import Final

from dray.app.wishes import PartName, UpReport

__all__ = ["render_facts", "render_up"]

_NAMES_SHOWN: Final = 4


def render_up(report: UpReport, *, is_detached: bool) -> str:
    """One screen: what runs, where things are, what to try next."""
    part = PartName(report.part) if report.part else None
    facts = [*_list_facts(report, part)]
    tries = [*_list_tries(report, part)]
    end = _describe_end(report, is_detached=is_detached)
    text = f"{_describe_first(report, part)}\n\n{render_facts(facts)}"
    if tries:
        width = max((len(command) for command, why in tries if why), default=0)
        lines = (f"  {command:<{width}}  # {why}\n" if why else f"  {command}\n" for command, why in tries)
        text += f"\ntry next:\n{''.join(lines)}"
    return f"{text}\n{end}\n"


def render_facts(facts: Iterable[tuple[str, str]]) -> str:
    """Lines of a word and what is to be said to it, lined up."""
    listed = list(facts)
    width = max((len(word) for word, _ in listed), default=0)
    return "".join(f"  {word:<{width}}  {text}\n" for word, text in listed)


def _describe_first(report: UpReport, part: PartName | None) -> str:
    match part:
        case None:
            return f"dray is up at {report.url}; {_describe_nodes(report.nodes)}"
        case PartName.API_SERVER:
            return f"dray is up at {report.url}: an API server alone"
        case PartName.NODE:
            return f"dray is up for {report.url}; {_describe_nodes(report.nodes)}"
        case _:
            return f"dray is up for {report.url}: the {part} alone"


def _describe_nodes(names: Sequence[str]) -> str:
    """`2 nodes are ready: a, b`, and not all of many."""
    shown = ", ".join(names[:_NAMES_SHOWN])
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f"1 node is ready: {shown}" if len(names) == 1 else f"{len(names)} nodes are ready: {shown}{more}"


def _list_facts(report: UpReport, part: PartName | None) -> Iterable[tuple[str, str]]:
    nodes = f"{len(report.nodes)} node{'' if len(report.nodes) == 1 else 's'}"
    match part:
        case None:
            yield "runs", f"API server, controllers, scheduler, {nodes} {_describe_containers(report)}"
        case PartName.API_SERVER:
            yield "runs", "API server, with the controllers that every API server needs; no scheduler, no nodes"
        case PartName.SCHEDULER:
            yield "places", f"pods with schedulerName {' or '.join(report.scheduler_names)}"
        case PartName.NODE:
            yield "runs", f"{nodes} of that cluster {_describe_containers(report)}"
    if part in (PartName.SCHEDULER, PartName.CONTROLLERS):
        yield "leads", f"by lease {report.lease}: of several, one works" if report.lease else "always: it elects nobody"
    if report.data_dir:
        kept = ", from before" if report.is_continued else ""
        yield "data", f"{report.data_dir}{kept}"
    if report.kubeconfig:
        yield "kubeconfig", report.kubeconfig


def _describe_containers(report: UpReport) -> str:
    count, real = len(report.nodes), report.nodes_of_processes
    if real and real < count:
        others = "the other" if count - real == 1 else f"the other {count - real}"
        return f"(containers are processes on {real} of them, and only seem to run on {others})"
    return "whose containers are processes" if real else "whose containers only seem to run"


def _list_tries(report: UpReport, part: PartName | None) -> Iterable[tuple[str, str]]:
    if part not in (None, PartName.API_SERVER):
        return
    yield f"export KUBECONFIG={report.kubeconfig}", ""
    if part is None:
        yield "kubectl get nodes,resourceslices", "or, without kubectl: dray get nodes,resourceslices"
        yield "dray devices", "who has which device"
        yield "dray demo", "what to do with all this, step by step"
    else:
        yield "kubectl get namespaces", "or, without kubectl: dray get namespaces"
        yield f"dray up --only scheduler --kubeconfig {report.kubeconfig}", "each part can run by itself"


def _describe_end(report: UpReport, *, is_detached: bool) -> str:
    if not is_detached:
        return "Ctrl-C ends it." if not report.kubeconfig else "Ctrl-C ends it; `dray up` on the same data continues."
    return "It runs in the background: dray status, dray down"
