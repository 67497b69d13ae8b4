"""What an expression about a device may name: the variable `device`, its fields, types, and every function of 1.37."""

from __future__ import annotations

from dray.cel.checker import Scope
from dray.cel.functions import merge_functions
from dray.cel.library.formats import FORMATS
from dray.cel.library.kubernetes import AUTHORIZATION, QUANTITIES, SEMVERS
from dray.cel.library.lists import LISTS, MORE_LISTS, SETS
from dray.cel.library.network import ADDRESSES, NETWORKS
from dray.cel.library.optionals import OPTIONALS
from dray.cel.library.regex import REGEX
from dray.cel.library.standard import OPERATORS, STANDARD
from dray.cel.library.strings import STRINGS
from dray.cel.library.urls import URLS
from dray.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    list_of,
    map_of,
    object_type,
    opaque,
    optional_of,
    parse_type,
    type_of,
)

__all__ = ["ATTRIBUTE_TYPE", "DEVICE_VARIABLE", "SCOPE"]

DEVICE_VARIABLE = "device"
ATTRIBUTE_TYPE = DYN
"""An attribute may be of any kind, or a list; only running tells."""

_DEVICE = object_type("kubernetes.DRADevice")

SCOPE = Scope(
    variables={DEVICE_VARIABLE: _DEVICE},
    fields={
        _DEVICE.name: {
            "driver": STRING,
            "attributes": map_of(STRING, map_of(STRING, ATTRIBUTE_TYPE)),
            "capacity": map_of(STRING, map_of(STRING, parse_type("Quantity"))),
            "allowMultipleAllocations": BOOL,
        }
    },
    type_names={
        "bool": BOOL,
        "bytes": BYTES,
        "double": DOUBLE,
        "google.protobuf.Duration": DURATION,
        "google.protobuf.Timestamp": TIMESTAMP,
        "int": INT,
        "list": list_of(DYN),
        "map": map_of(DYN, DYN),
        "net.CIDR": opaque("net.CIDR"),
        "net.IP": opaque("net.IP"),
        "null_type": NULL,
        "optional_type": optional_of(DYN),
        "string": STRING,
        "type": type_of(),
        "uint": UINT,
    },
    functions=merge_functions(
        [
            STANDARD,
            URLS,
            REGEX,
            AUTHORIZATION,
            OPTIONALS,
            QUANTITIES,
            STRINGS,
            SETS,
            ADDRESSES,
            NETWORKS,
            FORMATS,
            SEMVERS,
            MORE_LISTS,
            LISTS,
        ],
        OPERATORS,
    ),
)
