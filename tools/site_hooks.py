"""What `mkdocs build` does beside rendering: lists what comes by itself, and shows links out of docs/ as paths."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
GROWING = {"Use": ".", "Decisions": "adr", "Drivers": "drivers"}
"""Sections that take every page of a folder that is listed nowhere, in order of file names."""
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)\s]+)\)")


def list_pages(nav: Any) -> Iterator[str]:
    """Every page that a navigation names."""
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for value in entry.values():
                yield from [value] if isinstance(value, str) else list_pages(value)


def on_config(config: Any) -> Any:
    """Put the pages of growing folders into the navigation."""
    listed = set(list_pages(config["nav"]))
    for section in config["nav"]:
        for title, pages in section.items():
            if title in GROWING:
                found = sorted(each.relative_to(DOCS).as_posix() for each in DOCS.joinpath(GROWING[title]).glob("*.md"))
                pages.extend(page for page in found if page not in listed)
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Name the files of the repository that a page links to: the site has them not."""
    folder = (DOCS / page.file.src_uri).parent

    def name(match: re.Match[str]) -> str:
        target = (folder / match[2].partition("#")[0]).resolve()
        if target.is_relative_to(DOCS):
            return match[0]
        path = target.relative_to(DOCS.parent).as_posix()
        return f"`{path}`" if match[1] == path else f"{match[1]} (`{path}`)"

    return LINK.sub(name, markdown)
