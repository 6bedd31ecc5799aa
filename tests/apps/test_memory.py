import json

from apps.memory import FIELDS, MAX_HISTORY, MAX_PASSAGE, merged, understood


def asked(question: str, passage: str = "", answer: str = "") -> dict[str, str]:
    return dict(zip(FIELDS, (passage, question, "", "", answer, "", "0.5"), strict=True))


def test_a_question_is_kept_once_and_the_newest_first() -> None:
    assert merged([asked("a", answer="new")], [asked("b"), asked("a", answer="old")]) == [
        asked("a", answer="new"),
        asked("b"),
    ]
    assert len(merged([asked(str(n)) for n in range(50)])) == MAX_HISTORY


def test_what_a_browser_kept_is_not_trusted() -> None:
    good = asked("why?")
    rows = [
        good,
        {"question": 1},
        asked(" "),
        asked("long", "x" * (MAX_PASSAGE + 1)),
        "text",
        good | {"evil": "x"},
        good | {"confidence": "nan"},
        {name: value for name, value in good.items() if name != "perhaps"},  # of an earlier version
    ]
    assert understood(json.dumps(rows)) == [good, good]
    for stored in ("", "{", "{}", None, "[" * 10):
        assert understood(stored) == []
