"""Pages of the site that are not in docs/: the repository's own documents, and the API reference.

Documents keep the path they have in the repository, so that a link works in both places: links of pages in docs/ lead
up one folder (`../training/DATA.md`), and lose that step here. What a page links to and is no page, such as a notebook
or a picture, is copied beside it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)|(?<=src=\")([^\":]+)")
DOCTEST = re.compile(r"^>>> .*(?:\n.*\S.*)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """The doctests of docstrings, shown as code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put fences around them."""
        if obj.docstring:
            obj.docstring.value = DOCTEST.sub(r"\n```pycon\n\g<0>\n```\n", obj.docstring.value)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """A page of the API for each package and module below `kgqa`."""
    below = (ROOT / "kgqa").iterdir()
    names = sorted(
        p.stem for p in below if (p / "__init__.py").is_file() or (p.suffix == ".py" and p.stem[0] != "_")
    )
    config.nav[-1]["API"] = [{"kgqa": "api/kgqa.md"}, *({name: f"api/{name}.md"} for name in names)]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the documents that the navigation names, pages of the API, and what any page links to."""
    for place in _places(config.nav):
        if place.startswith("api/"):
            name = Path(place).stem
            options = "    options: {show_submodules: false}\n" if name == "kgqa" else ""
            module = "kgqa" if name == "kgqa" else f"kgqa.{name}"
            files.append(File.generated(config, place, content=f"# `{module}`\n\n::: {module}\n{options}"))
        elif files.get_file_from_path(place) is None:
            files.append(File.generated(config, place, abs_src_path=str(ROOT / place)))
    pages = list(files.documentation_pages())
    for page in pages:  # it grows
        for place in map("".join, LINK.findall(_links_of(page.src_uri, page.content_string))):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page.src_uri), place))
            if files.get_file_from_path(target) is None and (ROOT / target).is_file():
                files.append(File.generated(config, target, abs_src_path=str(ROOT / target)))
                pages += [linked for linked in files.documentation_pages() if linked.src_uri == target]
    return files


def on_page_markdown(markdown: str, *, page: Any, config: MkDocsConfig, files: Files) -> str:
    """The text of a page with its links as the site has them; a folder is no page, and only named."""

    def named(found: re.Match[str]) -> str:
        folder = ROOT / posixpath.dirname(page.file.src_uri) / found[2]
        return found[1] if folder.is_dir() else found[0]

    markdown = re.sub(r"\[([^\]]*)\]\(([\w./-]+)\)", named, markdown)
    return _links_of(page.file.src_uri, markdown)


def _places(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [place for item in (nav.values() if isinstance(nav, dict) else nav) for place in _places(item)]


def _links_of(place: str, text: str) -> str:
    """Links without the step into or out of docs/, which the site does not have."""
    here = (
        posixpath.dirname(place)
        if (ROOT / place).exists()
        else posixpath.join("docs", posixpath.dirname(place))
    )

    def relinked(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, found[0])).removeprefix("docs/")
        return posixpath.relpath(target, posixpath.dirname(place) or ".")

    return LINK.sub(relinked, text)
