"""An API server as clusters of older Kubernetes have it: without kinds, and in versions that came before.

    python -m tests.e2e.older FOLDER RELEASE

It says so once it listens, and leaves a kubeconfig in the folder. What it is underneath is dray's server; a filter in
front answers as if what is newer had never been.
"""

import asyncio
import json
import re
import signal
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

from dray.api.registry import SERVED
from dray.app.serverwire import wire_entropy, wire_identity, wire_judge, wire_node_relay
from dray.app.wire import wire_clock
from dray.controllers.basic import run_basic_controllers
from dray.controllers.runtime import Effects
from dray.effects.log import TextLog
from dray.server.assembly import MASTER, ServerParts, open_api_server
from dray.server.identity.credentials import ensure_credentials, make_ssl_context
from dray.server.identity.kubeconfig import Access, write_kubeconfig
from dray.server.inprocess import InProcessClient
from dray.server.serving import Address, serve
from dray.store.memory import MemoryStore

DRA: Final = "resource.k8s.io"
CORE_OF_DRA: Final = ("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices")
_PATH: Final = re.compile(r"/apis/(?P<group>[^/]+)/(?P<version>[^/]+)(?:/namespaces/[^/]+)?/(?P<plural>[^/]+)")


class Release(NamedTuple):
    """What of the groups of DRA it serves: versions by resource. Other groups are whole."""

    served: dict[str, tuple[str, ...]]

    def serves(self, group: str, version: str, plural: str) -> bool:
        if group == "scheduling.k8s.io":
            return plural == "priorityclasses"
        return group != DRA or version in self.served.get(plural, ())


RELEASES: Final = {
    "1.31": Release({}),
    "1.32": Release(dict.fromkeys(CORE_OF_DRA, ("v1beta1",))),
    "1.33": Release(dict.fromkeys(CORE_OF_DRA, ("v1beta2", "v1beta1")) | {"devicetaintrules": ("v1alpha3",)}),
    "1.35": Release(dict.fromkeys(CORE_OF_DRA, ("v1", "v1beta2", "v1beta1")) | {"devicetaintrules": ("v1alpha3",)}),
}
"""By the Kubernetes that is like it."""


class Older:
    """Stands before an application, and hides what is newer."""

    def __init__(self, application: Any, release: Release) -> None:
        self._application = application
        self._release = release
        self.end_streams = application.end_streams

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
        elif scope["path"] in ("/api", "/apis"):
            await self._application(scope, receive, _Rewritten(send, self._rewrite).send)
        elif self._hides(scope["path"]):
            await send({"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": b"404 page not found\n"})
        else:
            await self._application(scope, receive, send)

    def _hides(self, path: str) -> bool:
        found = _PATH.match(path)
        return found is not None and not self._release.serves(found["group"], found["version"], found["plural"])

    def _rewrite(self, body: bytes) -> bytes:
        groups = json.loads(body)
        for group in groups.get("items", []):
            name = group["metadata"].get("name", "")
            for version in group["versions"]:
                version["resources"] = [
                    each
                    for each in version["resources"]
                    if self._release.serves(name, version["version"], each["resource"])
                ]
            group["versions"] = [each for each in group["versions"] if each["resources"]]
        groups["items"] = [each for each in groups.get("items", []) if each["versions"]]
        return json.dumps(groups).encode()


class _Rewritten:
    """Sends an answer with another body."""

    def __init__(self, send: Any, rewrite: Any) -> None:
        self._send, self._rewrite = send, rewrite
        self._head: Any = None
        self._body = b""

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self._head = message
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        body = self._rewrite(self._body) if self._head["status"] == 200 else self._body
        kept = [(name, value) for name, value in self._head["headers"] if name not in (b"content-length", b"etag")]
        length = (b"content-length", str(len(body)).encode())
        await self._send({**self._head, "headers": [*kept, length]})
        await self._send({"type": "http.response.body", "body": body})


async def run(folder: Path, release: Release) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    clock, entropy = wire_clock(), wire_entropy()
    log = TextLog(sys.stderr, clock)
    credentials = ensure_credentials(folder / "pki", clock.now().to_time())
    parts = ServerParts(
        kinds=tuple(SERVED),
        store=MemoryStore(),
        clock=clock,
        entropy=entropy,
        judge=wire_judge(),
        identity=wire_identity(credentials.signing_key, clock, {}),
        log=log,
    )
    async with open_api_server(parts) as api, asyncio.TaskGroup() as tasks:
        api.desk.nodes.attach(wire_node_relay(credentials, api.desk.view))
        client = InProcessClient(api.desk, MASTER, "kube-controller-manager")
        basic = run_basic_controllers(client, SERVED, "", Effects(clock, entropy, log))
        running = tasks.create_task(basic)
        application: Any = Older(api.application, release)
        async with serve(application, Address(), make_ssl_context(credentials)) as bound:
            access = Access(
                f"https://{bound.host}:{bound.port}", credentials.authority.certificate, client=credentials.admin
            )
            write_kubeconfig(folder / "kubeconfig", access)
            print("ready", flush=True)
            await ended.wait()
        running.cancel()


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), RELEASES[sys.argv[2]]))
