"""Pieces of text with blanks: `<gpu>` stands for any word, the same wherever it comes, and another than every other."""

import re
from typing import Final

__all__ = ["Words"]

_BLANK: Final = re.compile(r"<([a-z][a-z0-9-]*)>")


class Words:
    """The words that blanks stand for, as far as they are known."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def find(self, piece: str, text: str) -> bool:
        """Whether the text has the piece; from then on its blanks stand for what was found."""
        for match in self._compile(piece).finditer(text):
            found = {name: word for name, word in self._read(piece, match).items() if name not in self.known}
            others = [*self.known.values(), *found.values()]
            if all(others.count(word) == 1 for word in found.values()):
                self.known |= found
                return True
        return False

    def has(self, piece: str, text: str) -> bool:
        """The same, without learning from it."""
        copy = Words()
        copy.known = dict(self.known)
        return copy.find(piece, text)

    def _compile(self, piece: str) -> re.Pattern[str]:
        parts = _BLANK.split(piece)
        seen: set[str] = set()
        pattern = ""
        for index, part in enumerate(parts):
            if index % 2 == 0:
                pattern += re.escape(part)
            elif part in self.known:
                pattern += f"{re.escape(self.known[part])}(?!\\S)"
            elif part in seen:
                pattern += f"(?P={_group(part)})"
            else:
                pattern += f"(?P<{_group(part)}>\\S+)"
                seen.add(part)
        return re.compile(pattern)

    def _read(self, piece: str, match: re.Match[str]) -> dict[str, str]:
        groups = match.groupdict()
        return {name: groups[_group(name)] for name in _BLANK.findall(piece) if _group(name) in groups}


def _group(name: str) -> str:
    return name.replace("-", "_")
