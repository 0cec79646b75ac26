"""Writes the site: every page from its template, and the style and the script that all of them use."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from optimetry.reports.results import Results, ResultsError
from optimetry.reports.site import plots
from optimetry.reports.site.contents import Contents
from optimetry.reports.site.words import FILTERS

STATIC = ("style.css", "site.js")


def build(results: Sequence[Results], folder: Path, findings_page: str = "") -> list[Path]:
    """Write the site into a folder, which is made if need be, and return the files written, ``index.html`` first.

    Everything is read from the results; nothing of them reaches a page unescaped, and texts are cut at a limit.

    Args:
        results: what the pages are about.
        folder: where they are written.
        findings_page: a page of findings in Markdown, which become a page each; none without it.

    Raises:
        OSError: a file cannot be written.
        ResultsError: two results, or two verdicts of one, are about the same thing; or Jinja2, latex2mathml,
            markdown-it-py or Matplotlib is not installed.
    """
    environment = _environment()
    contents = Contents.of(results, findings_page)
    pages = {"index.html": environment.get_template("matrix.html").render(site=contents, root="")}
    for rule in contents.rules:
        template = environment.get_template("rule.html")
        pages[rule.file] = template.render(site=contents, rule=rule, root="../")
        for dtype, picture in rule.pictures.items():
            pages[picture] = plots.drift(rule.curves(dtype))
        for run in rule.runs:
            if run.sizes > 1:
                pages[run.picture] = plots.sweep(run.rows, run.contenders)
    for target in contents.targets:
        template = environment.get_template("target.html")
        pages[target.file] = template.render(site=contents, target=target, root="../")
    for finding in contents.findings:
        pages[finding.file] = environment.get_template("finding.html").render(
            site=contents, finding=finding, root="../"
        )
    if contents.findings:
        pages["findings.html"] = environment.get_template("findings.html").render(site=contents, root="")
    texts = pages | {name: _ours("static", name).read_text("utf-8") for name in STATIC}
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    return [folder / name for name in texts]


def _environment() -> Any:
    try:
        import jinja2
        import latex2mathml.converter  # noqa: F401
        import markdown_it  # noqa: F401
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise ResultsError(f"--site needs {error.name}: pip install -e 'path/to/optimetry[site]'") from error
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _ours("templates", name).read_text("utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    return environment


def _ours(folder: str, name: str) -> Traversable:
    return resources.files("optimetry.reports.site") / folder / name
