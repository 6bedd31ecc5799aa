"""Passages of files: plain text, Markdown, web pages and PDF; the last three are read in a subprocess."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from kgqa.data.datasets.json_lines import decoded
from kgqa.limits.sandbox import SandboxLimits, run_sandboxed
from kgqa.types import InputError

SUFFIXES = ["txt", "md", "html", "htm", "pdf"]
MAX_BYTES = 10_000_000
SANDBOX_LIMITS = SandboxLimits(memory_bytes=1 << 30, time_s=20.0)
"""For reading Markdown, HTML or PDF."""
_DEEPEST = 100
_HIDDEN = re.compile("script|style|noscript|template|svg|nav|header|footer|aside|form|head")
_BLOCKS = re.compile("p|div|br|li|tr|h[1-6]|section|article|blockquote")
_PAGE = re.compile(r"\s*<(!doctype html|html|head|body|div|article|p|h1)\b[^>]*>", re.IGNORECASE)


def text_of(name: str, content: bytes) -> str:
    """The text of a file, by its suffix. Raises InputError if it is too large, of another kind, damaged, or without
    text."""
    suffix = Path(name).suffix.lower().lstrip(".")
    if suffix not in SUFFIXES:
        raise InputError(f"{name}: not a kind of file that is read; give {', '.join(SUFFIXES)}")
    if len(content) > MAX_BYTES:
        raise InputError(f"{name}: larger than {MAX_BYTES // 1_000_000} MB; paste the part that matters")
    if suffix == "pdf":
        found = _in_child("pdf_text", name, content, name=name)
    else:
        found = decoded(name, content)
        if suffix != "txt":
            found = _in_child("markdown_text" if suffix == "md" else "page_text", name, found.encode())
    if not found.strip():
        raise InputError(f"{name}: no text in it; paste the passage instead")
    return found.strip()


def pasted(text: str) -> str:
    """A pasted passage; HTML source becomes the text that it displays. Raises InputError if that takes too long."""
    return _in_child("page_text", "the page", text.encode("utf-8", "replace")) if _PAGE.match(text) else text


def _in_child(task: str, subject: str, content: bytes, **asked: Any) -> str:
    """Run a function of this module on a file in a subprocess, which keeps the app responsive for everyone else."""
    return str(run_sandboxed(f"{__name__}:{task}", subject, SANDBOX_LIMITS, content, **asked))


def page_text(content: bytes) -> str:
    """The text of a web page, one block per line, without menus and scripts. Raises InputError if its marks cannot be
    read."""
    parser = _Page()
    try:
        parser.feed(content.decode())
        parser.close()
    except AssertionError as error:  # html.parser raises it for malformed declarations
        raise InputError(f"the page cannot be read ({error}); paste its text") from None
    lines = (" ".join(line.split()) for line in "".join(parser.parts).splitlines())
    return "\n".join(line for line in lines if line)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if _HIDDEN.fullmatch(tag):
            if len(self._hidden) < _DEEPEST:
                self._hidden.append(tag)
        elif _BLOCKS.fullmatch(tag):
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
        elif _BLOCKS.fullmatch(tag):
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(re.sub(r"\s+", " ", data))


def markdown_text(content: bytes) -> str:
    """The text of Markdown without its markup."""
    text = content.decode()
    text = re.sub(r"!?\[([^\[\]]*)\]\((?:[^()\n]|\([^()\n]*\))*\)", r"\1", text)  # ends at the next bracket
    return re.sub(
        r"^\s{0,3}(#{1,6}|>)\s+|(?<!\w)[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?!\w)", "", text, flags=re.M
    )


def pdf_text(content: bytes, name: str) -> str:
    """The text of the pages of a PDF. Raises InputError if it is damaged, without text, or pypdf is not installed."""
    try:
        from pypdf import PdfReader
    except ImportError:
        raise InputError(f"{name}: PDF is read with pypdf; pip install pypdf, or paste the text") from None
    try:
        pages = [page.extract_text() for page in PdfReader(io.BytesIO(content)).pages]
    except Exception as error:  # a damaged file raises almost anything
        raise InputError(f"{name}: cannot be read as PDF ({type(error).__name__}); paste its text") from None
    found = "\n".join(pages).strip()
    if not found:
        raise InputError(f"{name}: its pages are pictures without text; paste the passage")
    return re.sub(r"(\w)-\n(\w)", r"\1\2", found)
