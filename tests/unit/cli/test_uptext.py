from dray.app.wishes import PartName, UpReport
from dray.cli.uptext import render_facts, render_up


def report(**facts: object) -> UpReport:
    known = {"url": "https://127.0.0.1:6443", "kubeconfig": "/data/kubeconfig", "data_dir": "data"}
    return UpReport(**{**known, "nodes": ("a", "b"), **facts})  # type: ignore[arg-type]


def test_facts_line_up() -> None:
    assert render_facts([("data", "here"), ("kubeconfig", "there")]) == "  data        here\n  kubeconfig  there\n"
    assert render_facts([]) == ""


def test_few_nodes_are_named_and_many_are_counted() -> None:
    first = render_up(report(), is_detached=False).splitlines()[0]
    assert first == "dray is up at https://127.0.0.1:6443; 2 nodes are ready: a, b"
    many = render_up(report(nodes=tuple(f"n{number}" for number in range(1000))), is_detached=False).splitlines()[0]
    assert many.endswith("; 1000 nodes are ready: n0, n1, n2, n3 and 996 more")
    assert "; 1 node is ready: a" in render_up(report(nodes=("a",)), is_detached=False)


def test_a_screen_says_how_it_ends() -> None:
    assert render_up(report(), is_detached=False).splitlines()[-1].startswith("Ctrl-C ends it; ")
    assert render_up(report(), is_detached=True).splitlines()[-1] == "It runs in the background: dray status, dray down"


def test_data_from_before_are_named_as_such() -> None:
    assert "  data        data\n" in render_up(report(), is_detached=False)
    assert "  data        data, from before\n" in render_up(report(is_continued=True), is_detached=False)


def test_what_containers_are_is_said() -> None:
    assert "whose containers only seem to run" in render_up(report(), is_detached=False)
    assert "2 nodes whose containers are processes" in render_up(report(nodes_of_processes=2), is_detached=False)
    mixed = render_up(report(nodes=("a", "b", "c"), nodes_of_processes=1), is_detached=False)
    assert "3 nodes (containers are processes on 1 of them, and only seem to run on the other 2)" in mixed
    apart = render_up(report(part=PartName.NODE, nodes=("machine",), nodes_of_processes=1), is_detached=False)
    assert "1 node of that cluster whose containers are processes" in apart


def test_a_scheduler_says_whose_pods_it_places_and_how_it_leads() -> None:
    scheduler = UpReport(
        part=PartName.SCHEDULER, url="https://there", scheduler_names=("x", "y"), lease="kube-system/x"
    )
    text = render_up(scheduler, is_detached=False)
    assert text.startswith("dray is up for https://there: the scheduler alone\n")
    assert "pods with schedulerName x or y\n" in text
    assert "by lease kube-system/x: of several, one works\n" in text
    assert "kubeconfig" not in text
    assert "always" in render_up(UpReport(part=PartName.CONTROLLERS, url="https://there"), is_detached=False)
