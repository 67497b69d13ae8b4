"""What the API server refuses in requests for tokens."""

from collections.abc import Iterator

from dray.api.authentication.tokenrequest import TokenRequest, TokenRequestSpec
from dray.api.checks import CheckContext
from dray.errors import FieldError, invalid
from dray.values.fieldpath import SPEC

__all__ = ["DEFAULT_TOKEN_SECONDS", "check_token_request"]

DEFAULT_TOKEN_SECONDS = 3600
_MIN_SECONDS = 600
_MAX_SECONDS = 2**32
_AT = SPEC / "expirationSeconds"


def check_token_request(new: TokenRequest, old: TokenRequest | None, context: CheckContext) -> list[FieldError]:
    """A token lasts ten minutes at least."""
    return list(_duration_faults(new.spec))


def _duration_faults(spec: TokenRequestSpec) -> Iterator[FieldError]:
    seconds = spec.expiration_seconds
    if seconds is not None and seconds < _MIN_SECONDS:
        yield invalid(_AT, seconds, "may not specify a duration less than 10 minutes")
    if seconds is not None and seconds > _MAX_SECONDS:
        yield invalid(_AT, seconds, "may not specify a duration larger than 2^32 seconds")
