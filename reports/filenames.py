"""Names files after what strangers call their targets and rules."""

from __future__ import annotations

import re


class Names:
    """Names files: the same results always have the same links, and none leaves its folder."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def named(self, folder: str, *names: str, ending: str = "html") -> str:
        """Return a new path in a folder, of letters, digits, points, dashes and underscores."""
        words = (re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:80] for name in names)
        stem = "-".join(word for word in words if word) or "unnamed"
        number, path = 1, f"{folder}/{stem}.{ending}"
        while path.lower() in self._taken:
            number += 1
            path = f"{folder}/{stem}-{number}.{ending}"
        self._taken.add(path.lower())
        return path
