"""Probes over the network: whether an address answers, and what. Each tells whether it is well, and if not, why."""

import asyncio
from collections.abc import Sequence
from typing import Final

import aiohttp
import grpc
import grpc.aio
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

__all__ = ["check_grpc", "connect", "get"]

_GRPC_CHECK: Final = "/grpc.health.v1.Health/Check"
_GRPC_STATUSES: Final = ("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN")


async def get(url: str, headers: Sequence[tuple[str, str]]) -> tuple[bool, str]:
    """Whether a page is there; redirections count as one."""
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(url, headers=headers, ssl=False, allow_redirects=False) as response,
        ):
            if 200 <= response.status < 400:
                return True, ""
            return False, f"HTTP probe failed with statuscode: {response.status}"
    except (aiohttp.ClientError, ValueError) as fault:  # of a host, a header or a path that is none
        return False, f'Get "{url}": {fault}'


async def connect(host: str, port: int) -> tuple[bool, str]:
    """Whether somebody listens."""
    try:
        _, writer = await asyncio.open_connection(host, port)
    except (OSError, ValueError, OverflowError) as fault:  # of a host or a port that is none
        return False, f"dial tcp {host}:{port}: {getattr(fault, 'strerror', None) or fault}"
    writer.close()
    return True, ""


async def check_grpc(address: str, service: str) -> tuple[bool, str]:
    """Ask a server of gRPC's health checking protocol how it, or one of its services, fares."""
    async with grpc.aio.insecure_channel(address) as channel:
        # On the wire, its messages are a text and a number, each in the first field.
        check = channel.unary_unary(
            _GRPC_CHECK, request_serializer=StringValue.SerializeToString, response_deserializer=Int32Value.FromString
        )
        try:
            answer: Int32Value = await check(StringValue(value=service))
        except grpc.aio.AioRpcError as fault:
            return False, f"rpc error: code = {fault.code().name} desc = {fault.details()}"
    status = _GRPC_STATUSES[answer.value] if 0 <= answer.value < len(_GRPC_STATUSES) else str(answer.value)
    return status == "SERVING", f'service unhealthy (responded with "{status}")'
