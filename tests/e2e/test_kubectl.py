"""A table of kubectl commands: the files of `tests/cases/kubectl`.

A case is a list of steps in a namespace of its own. A step is `kubectl`, the command; what it reads is `stdin` (text,
or objects) or `editor`, the program that edits. It ends with `code` (0 unless said) and prints what `out` and `err` say
(nothing on the second unless said; `~` for a text that is not looked at), or at least what `out_has` and `err_has` say.
Long outputs stand in `tests/golden/expected/kubectl`, under the name that `golden` says. `save` keeps what is printed
as `$NAME` for later steps; `$NS` is the namespace. While a command with `meanwhile` runs, these steps are done: after
its first line, where `lines` says with how many lines it has printed all it should.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml

from tests.conftest import Golden
from tests.e2e.kubectl import TIMEOUT_SECONDS, Done, Kubectl, mask

FOLDER = Path(__file__).parent.parent / "cases" / "kubectl"
Step = dict[str, Any]


def _read_cases() -> Iterator[Any]:
    files = sorted(FOLDER.glob("*.yaml"))
    named = [(file.stem, case) for file in files for case in yaml.safe_load(file.read_text(encoding="utf-8"))["cases"]]
    for number, (topic, case) in enumerate(named):
        yield pytest.param(number, case, id=f"{topic}: {case['name']}")


CASES = list(_read_cases())


class Play:
    """One case, being played."""

    def __init__(self, kubectl: Kubectl, namespace: str, golden: Golden) -> None:
        self._kubectl = kubectl.enter(namespace)
        self._golden = golden
        self.namespace = namespace
        self._saved = {"NS": namespace}

    def step(self, step: Step) -> None:
        step = self._fill_in(step)
        command = step["kubectl"]
        variables = {"KUBE_EDITOR": step["editor"]} if "editor" in step else {}
        if "meanwhile" in step:
            done = self._run_beside(command, step)
        else:
            done = self._kubectl.run(command, _write(step.get("stdin", "")), **variables)
        said = f"kubectl {command}\n--- exit code {done.code}\n{done.out}--- stderr\n{done.err}"
        assert done.code == step.get("code", 0), said
        self._judge("out", done.out, step, said)
        self._judge("err", done.err, {"err": "" if done.code == 0 else "~"} | step, said)
        if "golden" in step:
            self._golden.check(f"kubectl/{step['golden']}", mask(done.out, self.namespace) + "\n")
        if "save" in step:
            self._saved[step["save"]] = done.out.strip()

    def _judge(self, stream: str, text: str, step: Step, said: str) -> None:
        text = mask(text, self.namespace)
        for part in step.get(f"{stream}_has", ()):
            assert re.search(mask(part, self.namespace), text, re.MULTILINE), f"no {part!r} on std{stream}\n{said}"
        want = step.get(stream, "~")
        if want != "~" and f"{stream}_has" not in step:
            assert text == mask(want, self.namespace), said

    def _run_beside(self, command: str, step: Step) -> Done:
        """Run a command while other steps are done; stop it once it has printed enough lines, where it never ends."""
        with self._kubectl.start(command, {}) as process:
            assert process.stdout is not None
            watchdog = threading.Timer(TIMEOUT_SECONDS, process.kill)
            watchdog.start()
            try:
                lines = [process.stdout.readline()] if "lines" in step else []
                for each in step["meanwhile"]:
                    self.step(each)
                if "lines" not in step:
                    out, err = process.communicate()
                    return Done(process.returncode, out, err)
                lines += [process.stdout.readline() for _ in range(step["lines"] - 1)]
                return Done(0, "".join(lines), "")
            finally:
                watchdog.cancel()
                process.kill()

    def _fill_in(self, value: Any) -> Any:
        if isinstance(value, str):
            return Template(value).safe_substitute(self._saved)
        if isinstance(value, list):
            return [self._fill_in(each) for each in value]
        if isinstance(value, dict):
            return {
                key: each if key == "meanwhile" else self._fill_in(each)
                for key, each in ((self._fill_in(key), each) for key, each in value.items())
            }
        return value


def _write(stdin: Any) -> str:
    """Text as it is, one object or several as a manifest."""
    if isinstance(stdin, str):
        return stdin
    things = stdin if isinstance(stdin, list) else [stdin]
    return "".join(f"---\n{json.dumps(thing)}\n" for thing in things)


@pytest.mark.parametrize(("number", "case"), CASES)
def test_kubectl_is_served(number: int, case: dict[str, Any], kubectl: Kubectl, golden: Golden) -> None:
    version = Path(kubectl.binary).name.removeprefix("kubectl").replace(".", "") or "default"
    play = Play(kubectl, f"e2e-{version}-{number:03}", golden)
    play.step({"kubectl": "create namespace $NS", "out": "namespace/$NS created"})
    for step in case["steps"]:
        play.step(step)
