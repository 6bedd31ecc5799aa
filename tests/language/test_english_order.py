"""Questions in German, Spanish, French and Japanese, word for word in the order of English."""

from __future__ import annotations

import pytest

from kgqa.graph.storage.relation_names import vocabulary
from kgqa.language import head_final, head_initial
from kgqa.language.head_final import Mentioned
from kgqa.language.wording import english_words, everyday_vocabulary


def gloss(language: str, text: str, *names: str) -> str:
    """The gloss of a text that mentions `names`."""
    places = [(text.index(name), name) for name in names]
    mentions = [Mentioned(at, at + len(name), name) for at, name in sorted(places)]
    small, own = english_words(language), vocabulary(language)
    if language == "ja":
        words = {**small, **own.words}
        said = head_final.in_english_order(text, mentions, words, True, unknown=str, language=language)
    else:
        said = head_initial.in_english_order(text, mentions, language, small, own, lambda word: "")
    return " ".join(word.text for word in said).removesuffix(" ?")


@pytest.mark.parametrize(
    ("text", "names", "english"),
    [
        ("Wer hat die Brücke gebaut?", (), "who has built the bridge"),
        ("Welche Bücher hat Ann Tal geschrieben?", ("Ann Tal",), "which book has Ann Tal written"),
        ("Wo wohnt Ann Tal?", ("Ann Tal",), "where does Ann Tal live"),
        ("Wann kam Ann Tal zur Welt?", ("Ann Tal",), "when is Ann Tal born"),
        ("Fand das Fest in Oy statt?", ("Oy",), "does the festival take place in Oy"),
        (
            "Wer ist der Chef der Firma, die Oy gegründet hat?",
            ("Oy",),
            "who is the head of the company that Oy has founded",
        ),
        ("Welcher Turm ist am höchsten?", (), "which tower is highest"),
        ("Wie viele Räume hat Haus Oy?", ("Haus Oy",), "how many rooms does Haus Oy have"),
        ("Ist Ann Tal verheiratet?", ("Ann Tal",), "is Ann Tal married"),
    ],
)
def test_german(text: str, names: tuple[str, ...], english: str) -> None:
    assert gloss("de", text, *names) == english


@pytest.mark.parametrize(
    ("text", "names", "english"),
    [
        ("¿Quién escribió el libro?", (), "who writes the book"),
        ("¿Qué libros escribió Ana Sol?", ("Ana Sol",), "what book does Ana Sol write"),
        ("¿En qué año se fundó el museo?", (), "in what year is the museum founded"),
        ("¿Está cerrado el museo?", (), "is the museum closed"),
        ("¿Cuál es la torre más alta?", (), "which is the tower highest"),
        (
            "¿Dónde vive la persona que pintó la Ola?",
            ("Ola",),
            "where does the person live that paints the Ola",
        ),
    ],
)
def test_spanish(text: str, names: tuple[str, ...], english: str) -> None:
    assert gloss("es", text, *names) == english


@pytest.mark.parametrize(
    ("text", "names", "english"),
    [
        ("Qui a peint La Vague ?", ("La Vague",), "who has painted La Vague"),
        ("Quand Ana Sol est-elle née ?", ("Ana Sol",), "when is Ana Sol born"),
        ("Le musée est-il fermé ?", (), "is the museum closed"),
        ("Où se trouve le musée ?", (), "where is the museum located"),
        ("Combien y a-t-il de musées ?", (), "how many museums is there"),
        ("Qui dirige la société qui a construit Oy ?", ("Oy",), "who directs the company that has built Oy"),
    ],
)
def test_french(text: str, names: tuple[str, ...], english: str) -> None:
    assert gloss("fr", text, *names) == english


@pytest.mark.parametrize(
    ("text", "names", "english"),
    [
        ("青い橋を設計したのは誰ですか。", ("青い橋",), "who designed 青い橋"),
        ("林さんはどこで働いていますか。", ("林",), "where does 林 work"),
        ("青い橋はいつ造られましたか。", ("青い橋",), "when was 青い橋 made"),
        ("林が書いた本の出版社はどこですか？", ("林",), "where is publisher of book that 林 wrote"),
        ("一番高い塔はどれ？", (), "which is tower that is highest"),
        ("林は学校に通っていますか。", ("林",), "does 林 attend in school"),
    ],
)
def test_japanese(text: str, names: tuple[str, ...], english: str) -> None:
    pytest.importorskip("janome")
    assert gloss("ja", text, *names) == english


@pytest.mark.parametrize(
    ("language", "text", "english"),
    [
        ("de", "Tom hat versucht, die Wand zu sehen.", "Tom has tried , the wall to see ."),
        (
            "de",
            "Sie hat nasse Hände, weil sie das Glas gespült hat.",
            "she has wet hand , because she has rinsed the glass .",
        ),
        (
            "es",
            "Ana quiere limpiar la mesa. La lava con agua.",
            "Ana wants to clean the table . it washes with water .",
        ),
        (
            "fr",
            "Paul veut laver la table que Marie a salie.",
            "Paul wants to wash the table that Marie has got dirty .",
        ),
        ("ja", "皿を洗って、棚に置いた。", "wash dish put in shelf ."),
    ],
)
def test_passages_are_in_english_order_too(language: str, text: str, english: str) -> None:
    small, own = english_words(language), everyday_vocabulary(language)
    labels = {"Hände": "hand", "皿": "dish", "mesa": "table", "table": "table"}
    if language == "ja":
        words = {**small, **own.words}
        said = head_final.in_english_order(
            text, (), words, False, lambda word: labels.get(word, word), language
        )
    else:
        said = head_initial.in_english_order(
            text, (), language, small, own, lambda word: labels.get(word, ""), asking=False
        )
    assert " ".join(word.text for word in said) == english
    assert all(word.end == 0 or text[word.start : word.end] for word in said), "each word has its place"
