"""Where the environment variables of a container come from.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from dray.api.struct import REQUIRED, ApiStruct, always
from dray.values.quantity import ZERO, Quantity

__all__ = [
    "ConfigMapEnvSource",
    "ConfigMapKeySelector",
    "EnvFromSource",
    "EnvVar",
    "EnvVarSource",
    "FileKeySelector",
    "ObjectFieldSelector",
    "ResourceFieldSelector",
    "SecretEnvSource",
    "SecretKeySelector",
]


class ObjectFieldSelector(ApiStruct):
    """A field of the pod."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    api_version: Annotated[str, Meta(description="API version the path is written for.")] = ""
    field_path: Annotated[str, Meta(description="Path of the field", extra=REQUIRED)] = always(str)


class ResourceFieldSelector(ApiStruct):
    """A resource amount of a container."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    container_name: Annotated[str, Meta(description="Container whose amount is meant; needed in volumes.")] = ""
    resource: Annotated[str, Meta(description="Amount that is meant, such as limits.cpu.", extra=REQUIRED)] = always(
        str
    )
    divisor: Annotated[
        Quantity, Meta(description="Unit of the result; the amount is divided by it and rounded up.")
    ] = always(lambda: ZERO)


class ConfigMapKeySelector(ApiStruct):
    """One key of a config map."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    name: Annotated[str, Meta(description="Name of the config map.", extra={"default": ""})] = ""
    key: Annotated[str, Meta(description="Key in it.", extra=REQUIRED)] = always(str)
    optional: Annotated[bool | None, Meta(description="Whether the config map or its key may be missing.")] = None


class SecretKeySelector(ApiStruct):
    """One key of a secret."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    name: Annotated[str, Meta(description="Name of the secret.", extra={"default": ""})] = ""
    key: Annotated[str, Meta(description="Key in it.", extra=REQUIRED)] = always(str)
    optional: Annotated[bool | None, Meta(description="Whether the secret or its key may be missing.")] = None


class FileKeySelector(ApiStruct):
    """One variable from a file of variables in a volume."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    volume_name: Annotated[str, Meta(description="Volume that holds the file.", extra=REQUIRED)] = always(str)
    path: Annotated[str, Meta(description="Path of the file in the volume.", extra=REQUIRED)] = always(str)
    key: Annotated[str, Meta(description="Name of the variable in the file.", extra=REQUIRED)] = always(str)
    optional: Annotated[
        bool | None, Meta(description="Whether the file or the variable may be missing.", extra={"default": False})
    ] = None


class EnvVarSource(ApiStruct):
    """Where the value of a variable comes from; exactly one member is set."""

    field_ref: Annotated[ObjectFieldSelector | None, Meta(description="A field of the pod.")] = None
    resource_field_ref: Annotated[
        ResourceFieldSelector | None, Meta(description="A resource amount of the container.")
    ] = None
    config_map_key_ref: Annotated[ConfigMapKeySelector | None, Meta(description="A key of a config map.")] = None
    secret_key_ref: Annotated[SecretKeySelector | None, Meta(description="A key of a secret.")] = None
    file_key_ref: Annotated[FileKeySelector | None, Meta(description="A variable in a file of a volume.")] = None


class EnvVar(ApiStruct):
    """One environment variable."""

    name: Annotated[str, Meta(description="Name of the variable.", extra=REQUIRED)] = always(str)
    value: Annotated[str, Meta(description="Its value, with $(OTHER) replaced by variables named before.")] = ""
    value_from: Annotated[
        EnvVarSource | None, Meta(description="Where the value comes from, if it is not written here.")
    ] = None


class ConfigMapEnvSource(ApiStruct):
    """All keys of a config map as variables."""

    name: Annotated[str, Meta(description="Name of the config map.", extra={"default": ""})] = ""
    optional: Annotated[bool | None, Meta(description="Whether the config map may be missing.")] = None


class SecretEnvSource(ApiStruct):
    """All keys of a secret as variables."""

    name: Annotated[str, Meta(description="Name of the secret.", extra={"default": ""})] = ""
    optional: Annotated[bool | None, Meta(description="Whether the secret may be missing.")] = None


class EnvFromSource(ApiStruct):
    """A config map or a secret whose keys become variables."""

    prefix: Annotated[str, Meta(description="Put before every key.")] = ""
    config_map_ref: Annotated[ConfigMapEnvSource | None, Meta(description="The config map.")] = None
    secret_ref: Annotated[SecretEnvSource | None, Meta(description="The secret.")] = None
