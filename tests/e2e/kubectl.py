"""Runs kubectl, every version that the machine has, and makes its output comparable.

What differs from run to run (ages, uids, versions of objects, times, the namespace) is masked, and so are widths of
columns and the few words that kubectl itself changed between versions.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

OLDEST_MINOR = 29
"""The first version that is held to the table."""
TIMEOUT_SECONDS = 60.0

_MASKS = [
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UID"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"(resourceVersion\"?: \"?|Resource Version: +)\d+"), r"\1RV"),
    (re.compile(r"(?:^|(?<=[ \t]))(\d+[smhd])+(?=[ \t]|$)|<invalid>", re.MULTILINE), "AGE"),
    (re.compile(r"kube-api-access-[a-z0-9]{5}"), "kube-api-access-XXXXX"),
    (re.compile(r"(?<=\" deleted) from \S+ namespace\b"), ""),
    (re.compile(r"(?<=force deleted) from \S+ namespace\b"), ""),
    (re.compile(r"(?<=\S) {2,}|\t+"), "  "),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
]


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


class Kubectl(NamedTuple):
    """One version of kubectl, with a cache of its own, and the server it talks to."""

    binary: str
    home: Path
    kubeconfig: Path

    def enter(self, namespace: str) -> Kubectl:
        """The same, with another namespace by default."""
        config = yaml.safe_load(self.kubeconfig.read_text(encoding="utf-8"))
        config["contexts"][0]["context"]["namespace"] = namespace
        entered = self.home / namespace
        entered.write_text(yaml.safe_dump(config), encoding="utf-8")
        return self._replace(kubeconfig=entered)

    def start(self, command: str, variables: Mapping[str, str]) -> subprocess.Popen[str]:
        """Begin a command; its words are split as a shell would."""
        return subprocess.Popen(
            [self.binary, *shlex.split(command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"HOME": str(self.home), "KUBECONFIG": str(self.kubeconfig), "PATH": os.defpath, **variables},
        )

    def run(self, command: str, stdin: str = "", **variables: str) -> Done:
        """Run a command to its end."""
        with self.start(command, variables) as process:
            try:
                out, err = process.communicate(stdin, timeout=TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Done(process.returncode, out, err)


def find_binaries() -> dict[str, str]:
    """The versions on this machine by a short name: the one in the path, and `kubectl.1.<minor>` beside it."""
    found = shutil.which("kubectl")
    if found is None:
        return {}
    binaries = {"default": found}
    for file in sorted(Path(found).resolve().parent.glob("kubectl.1.*")):
        minor = file.name.rpartition(".")[2]
        if minor.isdecimal() and int(minor) >= OLDEST_MINOR:
            binaries[f"1.{minor}"] = str(file)
    return binaries


def mask(text: str, namespace: str) -> str:
    """The text without what differs from run to run."""
    text = text.replace(namespace, "NS")
    for pattern, put in _MASKS:
        text = pattern.sub(put, text)
    return text.strip("\n")
