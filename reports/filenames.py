"""Names files after what strangers call their targets and rules."""

from __future__ import annotations

import re

LONGEST = 80
"""Characters of a name that a file's name has."""


class FileNames:
    """Names files: the same results always have the same links, and none leaves its folder."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def named(self, folder: str, *names: str, ending: str = "html") -> str:
        """Return a new path in a folder, of letters, digits, points, dashes and underscores."""
        words = (_cut(re.sub(r"[^A-Za-z0-9._-]+", "-", name.replace("++", "pp")).strip("-.")) for name in names)
        stem = "-".join(word for word in words if word) or "unnamed"
        number, path = 1, f"{folder}/{stem}.{ending}"
        while path.lower() in self._taken:
            number += 1
            path = f"{folder}/{stem}-{number}.{ending}"
        self._taken.add(path.lower())
        return path


def _cut(word: str) -> str:
    """Cut a word that is too long, behind one of its parts if it has several."""
    if len(word) <= LONGEST:
        return word
    return word[:LONGEST].rpartition("-")[0] or word[:LONGEST]
