"""What the node agent does in or with a container - probes, and hooks at its start and end.

Written by tools/generate_core_types.py; change its table, not this.
"""

from typing import Annotated

from msgspec import Meta

from dray.api.core.signals import SIGNALS
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int32, Int64, IntOrString, always, always_null

__all__ = [
    "ExecAction",
    "GRPCAction",
    "HTTPGetAction",
    "HTTPHeader",
    "Lifecycle",
    "LifecycleHandler",
    "Probe",
    "SleepAction",
    "TCPSocketAction",
]


class ExecAction(ApiStruct):
    """A command run in the container; exit status 0 is success."""

    command: Annotated[
        tuple[str, ...],
        Meta(description="Program and arguments, run without a shell in the root folder.", extra=ATOMIC),
    ] = ()


class HTTPHeader(ApiStruct):
    """One header of a probing request."""

    name: Annotated[str, Meta(description="Name of the header.", extra=REQUIRED)] = always(str)
    value: Annotated[str, Meta(description="Value of the header.", extra=REQUIRED)] = always(str)


class HTTPGetAction(ApiStruct):
    """An HTTP request to the container; a status from 200 to 399 is success."""

    path: Annotated[str, Meta(description="Path that is asked for.")] = ""
    port: Annotated[IntOrString, Meta(description="Number or name of the port.", extra=REQUIRED)] = always(int)
    host: Annotated[str, Meta(description="Host that is asked; absent is the pod's own address.")] = ""
    scheme: Annotated[
        str,
        Meta(
            description="Scheme of the request; absent is HTTP.",
            extra={
                "enum": (
                    "HTTP",
                    "HTTPS",
                )
            },
        ),
    ] = ""
    http_headers: Annotated[tuple[HTTPHeader, ...], Meta(description="Headers to send.", extra=ATOMIC)] = ()
    protocol: Annotated[
        str | None,
        Meta(
            description="Version of the protocol.",
            extra={
                "enum": (
                    "HTTP1",
                    "HTTP2",
                )
            },
        ),
    ] = None


class TCPSocketAction(ApiStruct):
    """A TCP connection to the container; opening it is success."""

    port: Annotated[IntOrString, Meta(description="Number or name of the port.", extra=REQUIRED)] = always(int)
    host: Annotated[str, Meta(description="Host to connect to; absent is the pod's own address.")] = ""


class GRPCAction(ApiStruct):
    """A call of the gRPC health service of the container."""

    port: Annotated[Int32, Meta(description="Number of the port.", extra=REQUIRED)] = always(int)
    service: Annotated[
        str | None,
        Meta(description="Service name that is asked about; empty asks about the server.", extra={"default": ""}),
    ] = always_null()
    mode: Annotated[
        str | None,
        Meta(
            description="Whether the connection is encrypted.",
            extra={
                "enum": (
                    "Plaintext",
                    "TLS",
                )
            },
        ),
    ] = None


class SleepAction(ApiStruct):
    """A pause."""

    seconds: Annotated[Int64, Meta(description="How long.", extra=REQUIRED)] = always(int)


class LifecycleHandler(ApiStruct):
    """What is done at one point of a container's life; exactly one member is set."""

    exec: Annotated[ExecAction | None, Meta(description="Run a command.")] = None
    http_get: Annotated[HTTPGetAction | None, Meta(description="Send an HTTP request.")] = None
    tcp_socket: Annotated[TCPSocketAction | None, Meta(description="Kept for old manifests; never run.")] = None
    sleep: Annotated[SleepAction | None, Meta(description="Wait.")] = None


class Lifecycle(ApiStruct):
    """Hooks at the start and the end of a container."""

    post_start: Annotated[
        LifecycleHandler | None, Meta(description="Done right after the start; failure kills the container.")
    ] = None
    pre_stop: Annotated[
        LifecycleHandler | None, Meta(description="Done before the container is told to stop, within the grace period.")
    ] = None
    stop_signal: Annotated[
        str | None,
        Meta(
            description="Signal that tells the container to stop; absent is what the image says.",
            extra={"enum": SIGNALS},
        ),
    ] = None


class Probe(ApiStruct):
    """How the node agent finds out about the health of a container; exactly one action is set."""

    exec: Annotated[ExecAction | None, Meta(description="Run a command.")] = None
    http_get: Annotated[HTTPGetAction | None, Meta(description="Send an HTTP request.")] = None
    tcp_socket: Annotated[TCPSocketAction | None, Meta(description="Open a TCP connection.")] = None
    grpc: Annotated[GRPCAction | None, Meta(description="Call the gRPC health service.")] = None
    initial_delay_seconds: Annotated[
        Int32, Meta(description="Seconds from the start of the container to the first probe.")
    ] = 0
    timeout_seconds: Annotated[Int32, Meta(description="Seconds after which a probe has failed.")] = 0
    period_seconds: Annotated[Int32, Meta(description="Seconds from one probe to the next.")] = 0
    success_threshold: Annotated[
        Int32, Meta(description="Successes in a row that count as recovered; 1 for liveness and startup.")
    ] = 0
    failure_threshold: Annotated[Int32, Meta(description="Failures in a row that count as failed.")] = 0
    termination_grace_period_seconds: Annotated[
        Int64 | None, Meta(description="Grace period of a container killed by this probe; absent is the pod's.")
    ] = None
