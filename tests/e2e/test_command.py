"""The command as people run it: a process, its streams and its exit code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

VALID = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec: {}
"""


def dray(*arguments: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dray", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env={"PYTHONUTF8": "1", **variables},
        check=False,
    )


def test_version_prints_one_line() -> None:
    done = dray("version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("dray ")
    assert json.loads(dray("version", "-o", "json").stdout)["kubernetes"] == "1.37"
    assert dray("--version").stdout == done.stdout


def test_installed_script_is_the_same_command() -> None:
    script = Path(sys.executable).with_name("dray")
    done = subprocess.run([script, "version"], capture_output=True, text=True, check=True)
    assert done.stdout == dray("version").stdout


def test_valid_file_passes(tmp_path: Path) -> None:
    file = tmp_path / "class.yaml"
    file.write_text(VALID)
    done = dray("check", "-f", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    assert 'DeviceClass "gpu.example.com" is valid' in done.stdout


def test_standard_input_is_read_like_a_file() -> None:
    assert dray("check", "-f", "-", stdin=VALID).returncode == 0
    answer = json.loads(dray("check", "-f", "-", "-o", "json", stdin=VALID).stdout)
    assert [each["object"]["name"] for each in answer] == ["gpu.example.com"]


def test_faults_are_printed_and_counted_in_the_exit_code() -> None:
    done = dray("check", "-f", "-", stdin=VALID.replace("spec: {}", "spec: {selector: []}"))
    assert (done.returncode, done.stderr) == (1, "")
    assert "spec.selector: unknown field" in done.stdout


def test_unknown_kind_is_a_fault_with_the_closest_name() -> None:
    done = dray("check", "-f", "-", stdin=VALID.replace("kind: DeviceClass", "kind: DeviceClasses"))
    assert done.returncode == 1
    assert "kind: DeviceClass\n" in done.stdout


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("missing.yaml", None, 2),
        ("empty.yaml", b"", 1),
        ("comments.yaml", b"# nothing\n", 1),
        ("bad.yaml", b"kind: [\n", 1),
        ("list.yaml", b"- kind: Pod\n", 1),
        ("binary.yaml", b"\xff\xfe\x00", 1),
    ],
)
def test_unreadable_file_is_told_in_one_sentence(tmp_path: Path, name: str, content: bytes | None, code: int) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    done = dray("check", "-f", str(file))
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("error: ")
    assert str(file) in done.stderr
    assert done.stderr.count("\n") == 2
    assert "\n  try: " in done.stderr


def test_bad_yaml_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("kind: Pod\nmetadata: {name: x\n")
    assert f"{file}:2: " in dray("check", "-f", str(file)).stderr


def test_directory_is_refused(tmp_path: Path) -> None:
    done = dray("check", "-f", str(tmp_path))
    assert done.returncode == 2
    assert "directory" in done.stderr


@pytest.mark.parametrize(
    "arguments", [("chekc",), ("check",), ("check", "-f"), ("version", "-o", "xml"), ("--log", "x")]
)
def test_wrong_usage_ends_in_two(arguments: tuple[str, ...]) -> None:
    done = dray(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Error: " in done.stderr


def test_settings_come_from_flag_and_variable_and_are_refused_if_impossible() -> None:
    shown = dray("--log", "json", "config", "show", DRAY_LOG_LEVEL="debug").stdout
    assert [line.split()[:3] for line in shown.splitlines()[1:]] == [
        ["log.level", "debug", "DRAY_LOG_LEVEL"],
        ["log.format", "json", "flag"],
        ["node.prepare_retry_seconds", "60.0", "default"],
    ]
    refused = dray("version", DRAY_LOG_LEVEL="loud")
    assert refused.returncode == 2
    assert "DRAY_LOG_LEVEL" in refused.stderr


def test_log_lines_go_to_standard_error() -> None:
    done = dray("--log", "json", "--log-level", "debug", "check", "-f", "-", stdin=VALID)
    assert json.loads(done.stderr)["message"] == "object checked"
    assert "object checked" not in done.stdout


@pytest.mark.parametrize("form", [["--json"], ["-o", "json"]])
def test_scheduling_is_measured(form: list[str]) -> None:
    done = dray("bench", "scheduling", "--nodes", "2", "--pods", "6", *form)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert (figures["nodes"], figures["pods"]) == (2, 6)
    assert figures["pods_per_second"] > 0
