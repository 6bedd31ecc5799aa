import io

import pytest

from apps.documents import MAX_BYTES, page_text, pasted, text_of
from kgqa.types import InputError


def test_text_markdown_and_pages() -> None:
    assert (
        text_of("a.txt", "\ufeffGrüße".encode()) == "Grüße" and text_of("a.txt", "é".encode("utf-16")) == "é"
    )
    assert text_of("a.md", b"# Title\n\n*Some* **bold** [link](http://x), snake_case, 2 * 3") == (
        "Title\n\nSome bold link, snake_case, 2 * 3"
    )
    page = "<html><head><title>x</title></head><nav>menu</nav><p>One\n two</p><script>no()</script><p>&lt;b&gt;</p>"
    assert text_of("a.html", page.encode()) == "One two\n<b>" == page_text(page)
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
    [("a.exe", b"x"), ("a.txt", b"\xff\x00"), ("a.txt", b"  "), ("a.txt", b"x" * (MAX_BYTES + 1))],
)
def test_what_cannot_be_read_is_one_sentence(name: str, content: bytes) -> None:
    with pytest.raises(InputError) as caught:
        text_of(name, content)
    assert name in str(caught.value) and "\n" not in str(caught.value)
