"""Credentials from a program, by the contract of client.authentication.k8s.io (v1 and v1beta1).

The program prints an ExecCredential. It is kept until it expires, or until the server refuses it; requests that find
none wait together for one run.
"""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from dray.client.connection import ExecPlugin
from dray.client.credentials import CredentialsError, Identity
from dray.client.deadlines import within
from dray.client.tls import ClientCertificate
from dray.effects.clock import Clock
from dray.values.times import Time, parse_time

__all__ = ["API_VERSIONS", "PluginCredentials"]

API_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
RUN_SECONDS: Final = 60.0
"""A plugin that takes longer waits for someone who is not there."""
_EARLY_SECONDS: Final = 10
"""So long before it expires a credential is no longer used: it has to last until the request is judged."""
_COMPLAINT_CHARACTERS: Final = 500


class _Status(Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: str | None = None


class _ExecCredential(Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


class PluginCredentials:
    """Runs one plugin when credentials are needed. Never on a terminal: nobody can answer questions here."""

    def __init__(self, plugin: ExecPlugin, environment: Mapping[str, str], clock: Clock) -> None:
        self._plugin = plugin
        self._environment = environment
        self._clock = clock
        self._kept: Identity | None = None
        self._expires: Time | None = None
        self._running = asyncio.Lock()  # guards _kept and _expires while a run is under way

    async def get(self) -> Identity:
        """What the last run gave, if it still lasts; else what a new run gives."""
        async with self._running:
            if self._kept is None or self._has_expired():
                await self._refresh()
            assert self._kept is not None
            return self._kept

    async def renew(self, refused: Identity) -> bool:
        """Forget what was refused, and run again unless another request already did."""
        async with self._running:
            if self._kept is None or _was_shown(self._kept, refused):
                await self._refresh()
            return True

    def _has_expired(self) -> bool:
        if self._expires is None:
            return False
        return self._clock.now().plus_seconds(_EARLY_SECONDS).to_datetime() >= self._expires.to_datetime()

    async def _refresh(self) -> None:
        status = self._read(await self._run())
        shown = None
        if status.client_certificate_data and status.client_key_data:
            shown = ClientCertificate(status.client_certificate_data.encode(), status.client_key_data.encode())
        self._kept = Identity(f"Bearer {status.token}" if status.token else "", shown)
        try:
            self._expires = parse_time(status.expiration_timestamp) if status.expiration_timestamp else None
        except ValueError as fault:
            raise self._refuse(f"expirationTimestamp {status.expiration_timestamp!r} is no time") from fault

    async def _run(self) -> bytes:
        plugin = self._plugin
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command,
                *plugin.arguments,
                env={**self._environment, **plugin.environment, "KUBERNETES_EXEC_INFO": self._describe_request()},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as fault:
            hint = f"; {plugin.install_hint.strip()}" if plugin.install_hint else ""
            raise self._refuse(f"cannot be started: {fault.strerror}{hint}") from fault
        try:
            output, complaint = await within(self._clock, RUN_SECONDS, process.communicate())
        except TimeoutError as fault:
            raise self._refuse(f"did not answer within {RUN_SECONDS:.0f} seconds") from fault
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            said = complaint.decode(errors="replace").strip()[-_COMPLAINT_CHARACTERS:]
            raise self._refuse(f"ended with status {process.returncode}" + (f": {said}" if said else ""))
        return output

    def _describe_request(self) -> str:
        spec: dict[str, object] = {"interactive": False}
        if self._plugin.gets_cluster:
            spec["cluster"] = json.loads(self._plugin.cluster)
        return json.dumps({"kind": "ExecCredential", "apiVersion": self._plugin.api_version, "spec": spec})

    def _read(self, output: bytes) -> _Status:
        try:
            credential = msgspec.json.decode(output, type=_ExecCredential)
        except msgspec.DecodeError as fault:
            raise self._refuse(f"printed no ExecCredential: {fault}") from fault
        if credential.kind != "ExecCredential" or credential.api_version != self._plugin.api_version:
            found = f"{credential.kind or 'nothing'} of {credential.api_version or 'no version'}"
            raise self._refuse(f"was asked for an ExecCredential of {self._plugin.api_version}, but printed {found}")
        status = credential.status
        if status is None or not (status.token or status.client_certificate_data):
            raise self._refuse("printed neither a token nor a certificate")
        if bool(status.client_certificate_data) != bool(status.client_key_data):
            raise self._refuse("printed a certificate without its key, or a key without its certificate")
        return status

    def _refuse(self, detail: str) -> CredentialsError:
        return CredentialsError(f"credential plugin {Path(self._plugin.command).name}: {detail}")


def _was_shown(kept: Identity, refused: Identity) -> bool:
    """Whether what was refused is what we have; a certificate of ours may have stood beside the plugin's token."""
    return kept.authorization == refused.authorization and kept.certificate in (None, refused.certificate)
