"""What the tests of this folder share: a time, and keys that take long to make."""

from functools import cache

from dray.server.identity.certificates import KeyPair, make_authority
from dray.server.identity.signing import SigningKey, make_signing_key
from dray.values.times import Time

NOW = Time(1_767_225_600)
DAY = 86_400


@cache
def signing_pem() -> bytes:
    return make_signing_key()


@cache
def signing_key() -> SigningKey:
    return SigningKey(signing_pem())


@cache
def other_signing_key() -> SigningKey:
    return SigningKey(make_signing_key())


@cache
def authority() -> KeyPair:
    return make_authority(NOW)
