"""Every verb fails well: one sentence, what to do instead, a documented exit code, and the trace only if asked for.

A row says by what words a verb meets each trouble. A verb that a trouble cannot meet has no words for it.
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.e2e.servers import running_server
from tools.generate_docs import list_verbs

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Row:
    """What to type behind the verb; `code` is how bad YAML ends, or that there is no cluster."""

    no_file: str = ""
    bad_yaml: str = ""
    no_cluster: str = ""
    bad_yaml_code: int = 2
    no_cluster_code: int = 2
    needs_permission: bool = True


def asks(words: str) -> Row:
    """A verb that asks a cluster, with a kubeconfig as its only file."""
    return Row(f"{words} --kubeconfig missing", f"{words} --kubeconfig bad.yaml", words)


ROWS: Mapping[str, Row] = {
    "apply": Row("-f missing.yaml", "-f bad.yaml", "-f good.yaml"),
    "backup": Row("missing/copy", no_cluster="copy --data-dir empty", needs_permission=False),
    "bench scheduling": Row(),
    "check": Row("-f missing.yaml", "-f bad.yaml", bad_yaml_code=1),
    "config show": Row("--config missing.yaml", "--config bad.yaml"),
    "convert": Row("-f missing.yaml", "-f bad.yaml", bad_yaml_code=1),
    "delete": Row("-f missing.yaml", "-f bad.yaml", "-f good.yaml"),
    "demo": Row("missing"),
    "device fail": asks("a/gpu-0"),
    "device heal": asks("a"),
    "device hold": asks("a/gpu-0"),
    "device release": asks("a"),
    "device show": asks("a"),
    "devices": asks(""),
    "down": Row("--data-dir good.yaml"),
    "driver new": Row("x.example.com --folder good.yaml"),
    "explain": Row("-f missing.yaml", "-f bad.yaml", "-f good.yaml"),
    "get": asks("pods"),
    "lint": Row("-f missing.yaml", no_cluster="-f good.yaml --cluster"),
    "logs": asks("web"),
    "restore": Row("missing.db", "bad.yaml --data-dir empty"),
    "status": Row("--data-dir good.yaml", no_cluster="--data-dir empty", no_cluster_code=1, needs_permission=False),
    "up": Row(
        "--scheduler-config missing.yaml --data-dir empty",
        "--scheduler-config bad.yaml --data-dir empty",
        "--only scheduler --kubeconfig missing --data-dir empty",
        needs_permission=False,
    ),
    "version": Row(),
}


def name(part: object) -> str:
    return part.replace(" ", "-") if isinstance(part, str) else "words"


MISSING = pytest.mark.parametrize(("verb", "row"), [each for each in ROWS.items() if each[1].no_file], ids=name)
BAD = pytest.mark.parametrize(("verb", "row"), [each for each in ROWS.items() if each[1].bad_yaml], ids=name)
ABSENT = pytest.mark.parametrize(("verb", "row"), [each for each in ROWS.items() if each[1].no_cluster], ids=name)
FORBIDDEN = pytest.mark.parametrize(
    ("verb", "row"), [each for each in ROWS.items() if each[1].no_cluster and each[1].needs_permission], ids=name
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with good and bad files, kubeconfigs for nobody and nowhere, and a server that runs."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "empty").mkdir()
    (folder / "bad.yaml").write_text("a: [\n", encoding="utf-8")
    good = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: a, image: b}]}\n"
    (folder / "good.yaml").write_text(good, encoding="utf-8")
    with running_server(tmp_path_factory.mktemp("server")) as (kubeconfig, _):
        file = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
        file["users"][0]["user"]["as"] = "nobody"
        (folder / "nobody").write_text(yaml.safe_dump(file), encoding="utf-8")
        file["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
        (folder / "nowhere").write_text(yaml.safe_dump(file), encoding="utf-8")
        yield folder


def dray(
    verb: str, words: str, place: Path, *options: str, cluster: str = "nowhere"
) -> "subprocess.CompletedProcess[str]":
    """Options that every verb has stand before it."""
    chosen = words.split()
    ahead, behind = (chosen, []) if "--config" in chosen else ([], chosen)
    return subprocess.run(
        [sys.executable, "-m", "dray", *options, *ahead, *verb.split(), *behind],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={"KUBECONFIG": str(place / cluster), "PYTHONUTF8": "1"},
        cwd=place,
        check=False,
    )


def check_well_said(done: Done, code: int) -> None:
    assert done.returncode == code, done
    first, *more = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert [line[:7] for line in more] == ["  try: "]


def test_every_verb_has_a_row() -> None:
    paths = {" ".join(path) for path in list_verbs()}
    leaves = {path for path in paths if path and not any(each.startswith(f"{path} ") for each in paths)}
    assert leaves == ROWS.keys()


@MISSING
def test_file_that_is_not_there_is_told(verb: str, row: Row, place: Path) -> None:
    check_well_said(dray(verb, row.no_file, place), 2)


@BAD
def test_bad_yaml_is_told(verb: str, row: Row, place: Path) -> None:
    done = dray(verb, row.bad_yaml, place)
    check_well_said(done, row.bad_yaml_code)
    assert "bad.yaml" in done.stderr


def test_bad_yaml_is_a_finding_of_lint(place: Path) -> None:
    done = dray("lint", "-f bad.yaml --no-cluster", place)
    assert (done.returncode, done.stderr) == (1, "")
    assert "error: not YAML: " in done.stdout


@ABSENT
def test_cluster_that_is_not_there_is_told(verb: str, row: Row, place: Path) -> None:
    check_well_said(dray(verb, row.no_cluster, place), row.no_cluster_code)


@FORBIDDEN
def test_permission_that_lacks_is_told(verb: str, row: Row, place: Path) -> None:
    done = dray(verb, row.no_cluster, place, cluster="nobody")
    check_well_said(done, 2)
    assert 'User "nobody" cannot ' in done.stderr


@pytest.mark.parametrize("verb", ["apply", "check", "get", "logs", "up", "restore", "config show"])
def test_trace_of_what_went_wrong_is_there_if_asked_for(verb: str, place: Path) -> None:
    trace, separator, said = dray(verb, ROWS[verb].no_file, place, "--debug").stderr.partition("\nerror: ")
    assert trace.startswith("Traceback ")
    assert separator + said == "\n" + dray(verb, ROWS[verb].no_file, place).stderr
