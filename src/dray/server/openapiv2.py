"""The old OpenAPI document, as much of it as kubectl cannot do without.

Schemas are served in version 3. There is one question that kubectl still asks version 2, in protobuf alone: whether the
server checks the fields of a manifest of `kind: List`. It looks for the answer at namespaces, by a patch that takes the
parameter `fieldValidation`, and refuses the manifest if it finds none. Numbers of fields are those of gnostic's
OpenAPIv2.proto.
"""

from typing import Final

from dray.values.protowire import write_field

__all__ = ["ASKED_OPENAPI_V2", "MINIMAL_OPENAPI_V2", "SENT_OPENAPI_V2"]

ASKED_OPENAPI_V2: Final = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
"""What clients accept; as a media type it is malformed, so that it cannot be answered."""
SENT_OPENAPI_V2: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
"""What they are sent."""

_KIND: Final = "group: ''\nkind: Namespace\nversion: v1\n"


def _build() -> bytes:
    query = write_field(2, "query") + write_field(4, "fieldValidation") + write_field(6, "string")
    parameter = write_field(1, write_field(2, write_field(3, query)))
    extension = write_field(1, "x-kubernetes-group-version-kind") + write_field(2, write_field(2, _KIND))
    patch = write_field(5, "patchCoreV1Namespace") + write_field(8, parameter) + write_field(13, extension)
    path = write_field(1, "/api/v1/namespaces/{name}") + write_field(2, write_field(8, patch))
    info = write_field(1, "Kubernetes") + write_field(2, "v1.37.0")
    return write_field(1, "2.0") + write_field(2, info) + write_field(8, write_field(2, path))


MINIMAL_OPENAPI_V2: Final = _build()
"""The document."""
