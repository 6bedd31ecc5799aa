"""The text encodings in which spreadsheets save tables."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE


def encoding_of(content: bytes) -> str:
    """UTF-16 by its byte order mark, else UTF-8, else cp949, which is Excel's on Korean Windows; empty for any other.

    >>> encoding_of("질문".encode("cp949")), encoding_of("Bär".encode("cp1252"))
    ('cp949', '')
    """
    unicode = "utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    for encoding in (unicode, "cp949"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        others = [letter for letter in text if letter > "\x7f"]
        if encoding == unicode or 2 * sum("가" <= letter <= "힣" for letter in others) >= len(others):
            return encoding
    return ""
