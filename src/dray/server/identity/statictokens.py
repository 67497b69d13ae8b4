"""Tokens that a server is given at start: for agents, drivers and tests, where no service account exists yet."""

import csv
import hashlib
from collections.abc import Iterable, Mapping

from dray.errors import DrayError
from dray.server.ports import User

__all__ = ["StaticTokens", "TokenFileError", "parse_static_tokens"]


class TokenFileError(DrayError):
    """A line of the file of tokens cannot be understood."""


class StaticTokens:
    """Users by token. Only digests are kept, so that looking one up takes equally long whatever is guessed."""

    def __init__(self, users_by_token: Mapping[str, User]) -> None:
        self._users_by_digest = {_digest(token): user for token, user in users_by_token.items()}

    def find_user(self, token: str) -> User | None:
        """Whose token it is."""
        return self._users_by_digest.get(_digest(token)) if self._users_by_digest else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogateescape")).digest()


def parse_static_tokens(lines: Iterable[str]) -> dict[str, User]:
    """Read lines of `token,user,uid,"group1,group2"`, where the groups may be left out.

    Raises TokenFileError with the number of the line; the token is not repeated.
    """
    users: dict[str, User] = {}
    for number, fields in enumerate(csv.reader(lines), start=1):
        if not fields:
            continue
        if len(fields) < 3 or not fields[0] or not fields[1]:
            raise TokenFileError(f'line {number}: expected token,user,uid and perhaps "group1,group2"')
        groups = tuple(group.strip() for group in fields[3].split(",") if group.strip()) if len(fields) > 3 else ()
        if users.setdefault(fields[0], User(fields[1], fields[2], groups)) != User(fields[1], fields[2], groups):
            raise TokenFileError(f"line {number}: this token was given to somebody else before")
    return users
