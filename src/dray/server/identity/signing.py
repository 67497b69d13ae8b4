"""The key that signs service account tokens, and what others need to verify them: RS256, as Kubernetes signs."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Final

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

__all__ = ["SigningKey", "make_signing_key"]

_ALGORITHM: Final = "RS256"
_KEY_BITS = 2048


def make_signing_key() -> bytes:
    """A new private key, in PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_BITS)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


class SigningKey:
    """Signs, and verifies what it signed. Raises ValueError for a text that is no RSA key."""

    def __init__(self, pem: bytes) -> None:
        key = load_pem_private_key(pem, password=None)
        if not isinstance(key, rsa.RSAPrivateKey):
            raise ValueError("the key is not an RSA key")
        self._private = key
        self._public = key.public_key()
        spki = self._public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.id = _encode(hashlib.sha256(spki).digest())
        self._jws = jwt.PyJWS(algorithms=[_ALGORITHM])

    def sign(self, payload: bytes) -> str:
        """The payload as a token."""
        return self._jws.encode(payload, self._private, _ALGORITHM, headers={"kid": self.id, "typ": None})

    def verify(self, token: str) -> bytes | None:
        """The payload of a token that this key signed, else None. What the payload says is not looked at."""
        try:
            payload = self._jws.decode_complete(token, self._public, [_ALGORITHM])["payload"]
        except jwt.PyJWTError:
            return None
        return payload if isinstance(payload, bytes) else None

    def public_pem(self) -> bytes:
        """The public key in PEM, for those who do not read key sets."""
        return self._public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def jwks(self) -> Mapping[str, object]:
        """The public key as a JSON web key set."""
        numbers = self._public.public_numbers()
        key = {
            "use": "sig",
            "kty": "RSA",
            "kid": self.id,
            "alg": _ALGORITHM,
            "n": _encode_number(numbers.n),
            "e": _encode_number(numbers.e),
        }
        return {"keys": [key]}


def _encode(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def _encode_number(number: int) -> str:
    return _encode(number.to_bytes((number.bit_length() + 7) // 8, "big"))
