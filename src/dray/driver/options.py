"""What a driver program is told by flags and variables: the one place of the SDK that reads them.

Names are those that charts of drivers use already. A flag wins over its variable; `--help` lists both.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, get_type_hints

import msgspec
from msgspec import Meta, Struct

from dray.client.kubeconfig import KubeconfigPlaces, find_places
from dray.effects.log import Level

__all__ = ["DriverOptions", "read_options", "read_process_options"]

_FOLLOWING: Final = ("places", "environment")
"""Options that have no flag of their own."""
_FILE_HELP: Final = "flags may also be given as variables; a flag wins"


class DriverOptions(Struct, frozen=True, kw_only=True):
    """How a driver runs. Each has a flag, `--node-name`, and a variable, which the description ends with."""

    node_name: Annotated[
        str, Meta(description="The node it serves; empty: it only publishes shared pools [NODE_NAME]")
    ] = ""
    kubeconfig: Annotated[
        str, Meta(description="How to reach the API server; empty: as the pod's service account [KUBECONFIG]")
    ] = ""
    plugins_directory: Annotated[
        str, Meta(description="Where drivers keep their folders [KUBELET_PLUGINS_DIRECTORY_PATH]")
    ] = "/var/lib/kubelet/plugins"
    registry_directory: Annotated[
        str, Meta(description="Where the kubelet looks for drivers [KUBELET_REGISTRAR_DIRECTORY_PATH]")
    ] = "/var/lib/kubelet/plugins_registry"
    cdi_directory: Annotated[str, Meta(description="Where CDI files are written [CDI_ROOT]")] = "/var/run/cdi"
    pod_uid: Annotated[
        str, Meta(description="The pod it runs in; lets two instances overlap in a rolling update [POD_UID]")
    ] = ""
    metrics_port: Annotated[int, Meta(description="Port of /metrics; 0: any, negative: none [METRICS_PORT]")] = -1
    log_level: Annotated[Level, Meta(description="debug, info or error [LOG_LEVEL]")] = Level.INFO
    log_format: Annotated[str, Meta(description="text or json [LOG_FORMAT]")] = "text"
    places: KubeconfigPlaces = KubeconfigPlaces()
    """Where a kubeconfig may be. Follows from `kubeconfig` and the process."""
    environment: Mapping[str, str] = {}
    """What credential plugins run in. Follows from the process."""


def read_process_options() -> DriverOptions:
    """The options of this process. Prints help or a complaint, and exits, as programs do."""
    return read_options(sys.argv[1:], os.environ)


def read_options(arguments: Sequence[str], environment: Mapping[str, str]) -> DriverOptions:
    """Read flags and variables. Exits with status 2 for what cannot be understood."""
    parser = argparse.ArgumentParser(description="A driver of devices for Kubernetes.", epilog=_FILE_HELP)
    hints = get_type_hints(DriverOptions, include_extras=True)
    names = [field.name for field in msgspec.structs.fields(DriverOptions) if field.name not in _FOLLOWING]
    variables: dict[str, str] = {}
    for name in names:
        description: str = hints[name].__metadata__[0].description
        variables[name] = description.rpartition("[")[2].rstrip("]")
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="VALUE", help=description)
    given = vars(parser.parse_args(arguments))
    values = {name: given[name] if given[name] is not None else environment.get(variables[name]) for name in names}
    try:
        options = msgspec.convert({name: text for name, text in values.items() if text}, DriverOptions, strict=False)
    except msgspec.ValidationError as fault:
        parser.error(str(fault))
    places = find_places(environment, Path(given["kubeconfig"]) if given["kubeconfig"] else None)
    return msgspec.structs.replace(options, places=places, environment=dict(environment))
