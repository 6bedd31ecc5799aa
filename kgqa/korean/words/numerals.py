"""Korean number words as numbers, and numbers as English words."""

from __future__ import annotations

_NATIVE = {
    word: value
    for value, words in {
        1: "하나 한", 2: "둘 두", 3: "셋 세 석 서", 4: "넷 네 넉 너", 5: "다섯 닷", 6: "여섯 엿", 7: "일곱", 8: "여덟",
        9: "아홉", 10: "열", 20: "스물 스무", 30: "서른", 40: "마흔", 50: "쉰", 60: "예순", 70: "일흔", 80: "여든",
        90: "아흔",
    }.items()
    for word in words.split()
}  # fmt: skip
_DIGITS = {letter: value for value, letter in enumerate("영일이삼사오육칠팔구")} | {"공": 0, "륙": 6}
_TENS = {"십": 10, "백": 100, "천": 1000}
_MYRIADS = {"만": 10**4, "억": 10**8, "조": 10**12}
_ONES = "zero one two three four five six seven eight nine ten".split()  # noqa: SIM905
_ONES += "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: SIM905
_TIES = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_GROUPS = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))


def number(text: str) -> int | None:
    """The value of a Korean number word or of digits, None where a text is neither.

    >>> number("열두"), number("일곱"), number("이천삼백"), number("3만"), number("사과")
    (12, 7, 2300, 30000, None)
    """
    text = text.replace(" ", "").replace(",", "")
    native = _native(text)
    return _sino(text) if native is None else native


def is_native(text: str) -> bool:
    """Whether a number word is a Korean one, which counts things and people, and no Chinese one, which counts time.

    >>> is_native("두"), is_native("사십"), is_native("40")
    (True, False, False)
    """
    return _native(text.replace(" ", "")) is not None


def _native(text: str) -> int | None:
    if text in _NATIVE:
        return _NATIVE[text]
    for cut in (1, 2):
        tens, ones = _NATIVE.get(text[:cut], 0), _NATIVE.get(text[cut:], 0)
        if tens >= 10 and 0 < ones < 10:
            return tens + ones
    return None


def _sino(text: str) -> int | None:
    total = section = digit = 0
    if not text:
        return None
    for place, letter in enumerate(text):
        if letter.isdecimal():
            digit = digit * 10 + int(letter)
        elif letter in _DIGITS:
            digit = _DIGITS[letter]
        elif letter in _TENS:
            section += (digit or 1) * _TENS[letter]
            digit = 0
        elif letter in _MYRIADS:
            total += ((section + digit) or (0 if place else 1)) * _MYRIADS[letter]
            section = digit = 0
        else:
            return None
    return total + section + digit


def in_words(value: int) -> str:
    """A number in English words.

    >>> in_words(14), in_words(50000), in_words(121)
    ('fourteen', 'fifty thousand', 'one hundred twenty-one')
    """
    if value < 20:
        return _ONES[value]
    if value < 100:
        ties, ones = divmod(value, 10)
        return _TIES[ties] + (f"-{_ONES[ones]}" if ones else "")
    for size, name in _GROUPS:
        if value >= size:
            many, rest = divmod(value, size)
            return f"{in_words(many)} {name}" + (f" {in_words(rest)}" if rest else "")
    raise AssertionError("every number of 100 and more has a group")
