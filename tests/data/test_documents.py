import io
import time

import pytest

from kgqa.data import documents
from kgqa.data.documents import MAX_BYTES, markdown_text, page_text, pasted, text_of
from kgqa.limits.sandbox import SandboxLimits
from kgqa.types import InputError


def test_text_markdown_and_pages() -> None:
    assert (
        text_of("a.txt", "\ufeffGrüße".encode()) == "Grüße" and text_of("a.txt", "é".encode("utf-16")) == "é"
    )
    assert text_of("a.md", b"# Title\n\n*Some* **bold** [link](http://x), snake_case, 2 * 3") == (
        "Title\n\nSome bold link, snake_case, 2 * 3"
    )
    page = "<html><head><title>x</title></head><nav>menu</nav><p>One\n two</p><script>no()</script><p>&lt;b&gt;</p>"
    assert text_of("a.html", page.encode()) == "One two\n<b>" == page_text(page.encode())
    assert pasted(page) == "One two\n<b>" and pasted("a < b > c") == "a < b > c"


def test_pdf() -> None:
    pypdf = pytest.importorskip("pypdf")
    blank = pypdf.PdfWriter()
    blank.add_blank_page(100, 100)
    out = io.BytesIO()
    blank.write(out)
    with pytest.raises(InputError, match="without text"):
        text_of("a.pdf", out.getvalue())
    with pytest.raises(InputError, match="cannot be read"):
        text_of("a.pdf", b"%PDF-1.4 broken")


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.exe", b"x"), ("a.txt", b"\xff\x00"), ("a.txt", b"  "), ("a.txt", b"x" * (MAX_BYTES + 1))]
    + [(f"a.{suffix}", b"") for suffix in documents.SUFFIXES],
)
def test_what_cannot_be_read_is_one_sentence(name: str, content: bytes) -> None:
    with pytest.raises(InputError) as caught:
        text_of(name, content)
    assert name in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("unit", ["[", "![", "[a](", "[a](b(", "_*`", "#\n"])
def test_markdown_of_any_shape_is_read_at_once_and_holds_nobody_up(unit: str) -> None:
    own, content = time.process_time(), unit.encode() * (1_000_000 // len(unit)) + b" end"
    assert text_of("a.md", content).endswith("end") and time.process_time() - own < 0.5
    begin = time.process_time()
    markdown_text(content)
    assert time.process_time() - begin < 4
    assert text_of("a.md", b"[one](http://a/b_(c)) ![two](d)") == "one two"


@pytest.mark.parametrize("unit", ["<!--", "<a ", "<nav>", "</nav>", "&", "<![", "<?"])
def test_a_page_that_takes_too_long_is_given_up(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "SANDBOX_LIMITS", SandboxLimits(memory_bytes=1 << 30, time_s=3.0))
    begin, own = time.monotonic(), time.process_time()
    try:
        pasted("<p>" + unit * 40_000)
    except InputError as error:
        assert "not read within 3 s" in str(error) or "cannot be read" in str(error)
    assert time.monotonic() - begin < 20 and time.process_time() - own < 1


def test_a_pdf_that_exhausts_its_reader_ends_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pypdf = pytest.importorskip("pypdf")
    page = pypdf.PdfWriter()
    page.add_blank_page(100, 100)
    out = io.BytesIO()
    page.write(out)
    for sandbox_limits in (SandboxLimits(memory_bytes=30 << 20), SandboxLimits(time_s=0.01)):
        monkeypatch.setattr(documents, "SANDBOX_LIMITS", sandbox_limits)
        with pytest.raises(InputError, match="a.pdf") as caught:
            text_of("a.pdf", out.getvalue())
        assert "\n" not in str(caught.value)
