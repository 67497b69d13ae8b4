"""Where a driver's sockets are, by the conventions that kubelets and other tools know.

Alone on its node a driver has fixed names. In a rolling update two instances run side by side, so the pod's uid is part
of the names; where the path would be too long for a socket, a digest stands for it. The same uid always gives the same
names.
"""

import base64
import hashlib
from pathlib import Path
from typing import Final

from msgspec import Struct

from dray.errors import DrayError

__all__ = ["SocketPaths", "plan_sockets"]

_MAX_PATH_BYTES: Final = 107
"""What fits into a socket address, beside the zero that ends it."""


class SocketPaths(Struct, frozen=True):
    """The two sockets of a driver."""

    registration: Path
    service: Path


def plan_sockets(driver: str, registry: Path, folder: Path, pod_uid: str) -> SocketPaths:
    """The sockets of a driver whose own folder is `folder`. An empty `pod_uid` means that it is alone.

    Raises DrayError where a path is too long for a socket whatever the name.
    """
    if not pod_uid:
        registration, service = registry / f"{driver}-reg.sock", folder / "dra.sock"
    else:
        registration = _first_that_fits(registry, _registration_names(driver, pod_uid))
        digests = [f"dra-{_digest(pod_uid.encode(), size)}.sock" for size in (8, 4)]
        service = _first_that_fits(folder, [f"dra-{pod_uid}.sock", *digests])
    for path in (registration, service):
        if len(str(path).encode()) > _MAX_PATH_BYTES:
            raise DrayError(f"{path} is too long for a socket: at most {_MAX_PATH_BYTES} bytes, use a shorter folder")
    return SocketPaths(registration, service)


def _registration_names(driver: str, pod_uid: str) -> list[str]:
    both = f"{driver}\0{pod_uid}".encode()
    return [
        f"{driver}-{pod_uid}-reg.sock",
        f"{driver}-{_digest(pod_uid.encode(), 8)}-reg.sock",
        f"dra-{_digest(both, 16)}-reg.sock",
    ]


def _first_that_fits(folder: Path, names: list[str]) -> Path:
    return next(
        (folder / name for name in names if len(str(folder / name).encode()) <= _MAX_PATH_BYTES), folder / names[-1]
    )


def _digest(text: bytes, size: int) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text).digest()[:size]).rstrip(b"=").decode()
