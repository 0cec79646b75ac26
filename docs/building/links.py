"""Leads links that leave ``docs`` to what the site has in their place, and gives a page one title.

A link to a file of source is a copy of that file, which Sphinx makes by itself. A page outside ``docs`` is named in
`PAGES`. A folder is no page: its name stays, as text. A link to nothing at all is left to Sphinx, which fails.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

PAGES = {
    "README.md": "index",
    "reports/published/certificates/certificates.md": "published/certificates",
    "reports/published/effects.md": "published/effects",
    "reports/published/matrix.md": "published/matrix",
    "reports/published/speed/cuda.md": "published/cuda",
    "docs/decisions/README.md": "decisions",
    "docs/search.md": "formula-search",
}
"""Pages outside ``docs``, or left out of the site, and what stands for them there."""


class Outward(SphinxPostTransform):
    """Resolves links to pages and folders outside ``docs``."""

    default_priority = 5  # before MyST says that it does not know them

    def run(self, **_: Any) -> None:
        """Replace each such link."""
        root = Path(self.app.srcdir).parent
        for node in list(self.document.findall(addnodes.pending_xref)):
            target = node["reftarget"].split("#")[0]
            page = Path(self.env.doc2path(node.get("refdoc", self.env.docname))).parent
            for path in ((page / target).resolve(), (page / f"{target}.md").resolve()):
                if not path.is_relative_to(root) or not path.exists():
                    continue
                name = path.relative_to(root).as_posix()
                if name in PAGES:
                    uri = self.app.builder.get_relative_uri(self.env.docname, PAGES[name])
                    node.replace_self(nodes.reference("", "", *node.children, refuri=uri, internal=True))
                elif path.is_dir() and node["reftype"] == "myst":
                    node.replace_self(nodes.inline("", "", *node.children))
                else:
                    continue
                break


class OneTitle(SphinxTransform):
    """Puts later sections of the top level into the first: a page has one title, and one entry in the navigation."""

    default_priority = 500

    def apply(self, **_: Any) -> None:
        """Move them."""
        first, *others = [node for node in self.document.children if isinstance(node, nodes.section)] or [None]
        for section in others:
            self.document.remove(section)
            first += section


def setup(app: Any) -> dict[str, bool]:
    """Offer the transform to Sphinx."""
    app.add_post_transform(Outward)
    app.add_transform(OneTitle)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
