"""Certificates of a server that runs for years."""

import asyncio
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dray.effects.clock import Clock
from dray.effects.log import Log
from dray.server.identity.credentials import CredentialsError, ensure_credentials, load_server_certificate
from dray.values.times import Time

__all__ = ["CertificateKeeper", "keep_certificates"]

_DAY_SECONDS: Final = 86_400


class CertificateKeeper:
    """Renews what a server shows, in the context it shows it from."""

    def __init__(self, folder: Path, context: ssl.SSLContext, log: Log, *, names: Sequence[str] = ()) -> None:
        self._folder = folder
        self._context = context
        self._log = log
        self._names = tuple(names)

    def renew(self, now: Time) -> None:
        """Make anew what is near its end; connections from now on see it.

        A folder that cannot be used is logged and left for the next time: what is shown still holds for weeks.
        """
        try:
            load_server_certificate(self._context, ensure_credentials(self._folder, now, names=self._names))
        except (CredentialsError, OSError) as error:
            self._log.error("certificates cannot be renewed", folder=self._folder, err=error)


async def keep_certificates(keeper: CertificateKeeper, clock: Clock) -> None:
    """Renew once a day, until cancelled."""
    while True:
        await clock.sleep(_DAY_SECONDS)
        await asyncio.to_thread(keeper.renew, clock.now().to_time())
