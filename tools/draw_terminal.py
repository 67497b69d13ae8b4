"""Draw docs/images/terminal.svg: a real session on a real cluster, as a terminal shows it.

`python -m tools.draw_terminal` needs kubectl in the path. The picture is text in whatever monospaced font there is;
nothing in it is loaded from elsewhere.
"""

import asyncio
import fcntl
import os
import pty
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from dray.app.settings import system_environment
from dray.demo.cluster import running_cluster

ROOT: Final = Path(__file__).parents[1]
PICTURE: Final = ROOT / "docs" / "images" / "terminal.svg"
NODES: Final = ("control-plane", "t4-vm")
WAITS: Final = (
    "kubectl wait -n gpu-test1 --for=condition=Ready pod/pod1",
    "kubectl wait -n gpu-test1 --for=condition=PodScheduled=False pod/pod2",
)
"""Not shown: the picture is taken when there is something to see."""
COMMANDS: Final = (
    "kubectl apply -f examples/walkthrough/pods.yaml",
    "kubectl get pods -n gpu-test1",
    "dray devices",
    "dray explain pod pod2 -n gpu-test1",
)
WIDTH: Final = 92
_ROWS: Final = 50

_THEME: Final = TerminalTheme(
    (24, 28, 36),
    (214, 220, 230),
    [
        (60, 66, 78),
        (240, 113, 120),
        (134, 199, 127),
        (229, 181, 103),
        (108, 170, 240),
        (198, 146, 233),
        (95, 196, 196),
        (214, 220, 230),
    ],
    [
        (128, 138, 156),
        (255, 139, 146),
        (157, 220, 150),
        (245, 203, 130),
        (137, 192, 255),
        (217, 172, 248),
        (122, 216, 216),
        (240, 244, 250),
    ],
)

_FORMAT: Final = """\
<svg class="terminal" viewBox="0 0 {width} {height}" role="img" aria-label="A session in a terminal" \
xml:space="preserve" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
  white-space: pre;
}}
.{unique_id}-title {{
  font-family: ui-sans-serif, system-ui, sans-serif;
  font-size: 18px;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def run_on_terminal(command: str, environment: dict[str, str]) -> str:
    """What a command prints on a terminal, with its colours."""
    program, *words = shlex.split(command)
    start = [sys.executable, "-m", "dray"] if program == "dray" else [program]
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, WIDTH, 0, 0))
    with subprocess.Popen([*start, *words], cwd=ROOT, env=environment, stdin=theirs, stdout=theirs, stderr=theirs):
        os.close(theirs)
        printed = b""
        try:
            while piece := os.read(ours, 65536):
                printed += piece
        except OSError:  # how Linux says that nobody has the other end any more
            pass
    os.close(ours)
    return printed.decode().replace("\r\n", "\n")


def draw(session: list[tuple[str, str]]) -> str:
    """Commands and what they printed, as a picture."""
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor")
    for index, (command, printed) in enumerate(session):
        console.print(*([""] if index else []), Text.assemble(("$ ", "bright_black"), (command, "bold")), sep="\n")
        console.print(Text.from_ansi(printed.rstrip("\n")))
    console.print()  # what hangs below the last line is cut off with what follows it
    return console.export_svg(title="dray", theme=_THEME, code_format=_FORMAT, unique_id="dray")


async def play() -> list[tuple[str, str]]:
    """The session on a cluster that comes and goes."""
    with tempfile.TemporaryDirectory(prefix="dray-") as folder:
        async with running_cluster(NODES, Path(folder), system_environment()) as cluster:
            environment = {**system_environment(), "KUBECONFIG": str(cluster.kubeconfig), "TERM": "xterm-256color"}
            printed = {}
            for command in (COMMANDS[0], *WAITS, *COMMANDS[1:]):
                printed[command] = await asyncio.to_thread(run_on_terminal, command, environment)
            return [(command, printed[command]) for command in COMMANDS]


def main() -> None:
    session = asyncio.run(play())
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw(session), encoding="utf-8")


if __name__ == "__main__":
    main()
