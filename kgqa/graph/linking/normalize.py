"""Text normalization for entity linking: base forms in English and Korean, function words, person names."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import unquote

from kgqa.graph.linking.languages import reading
from kgqa.limits.cancellation import cancellable, check_cancelled
from kgqa.limits.text_cache import cached_by_length
from kgqa.types import InputError
from kgqa.verbalize.inflection import is_known as is_known  # linking and logical forms take these from here
from kgqa.verbalize.inflection import lemma as lemma
from kgqa.verbalize.korean import FINALS, RIEUL, final_consonant
from kgqa.verbalize.korean import is_hangul as is_hangul
from kgqa.verbalize.korean import is_korean as is_korean

# Surface forms to keys, so that "planting the flowers" and "plant flowers" are the same concept.

# at most 100 characters: longer words would fill the caches
WORD = re.compile(r"[^\W_]{1,100}(?:['’][^\W_]{1,100})?")
_DIGIT = re.compile(r"\d")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BEGINS = re.compile(r"(?:(?<![A-Z])Ma?c|(?<![A-Za-z])[a-z])$")
"""Beginnings of words with an inner capital: McAllister, MacLeod, iPhone, pH."""
_NUMBERED = re.compile(r"^[A-Z]{1,2}[0-9]+[a-z]?_(?=[A-Za-z])")  # CIDOC: P108_has_produced, P98i_was_born
ARTICLES = frozenset({"a", "an", "the", "some", "my", "your", "his", "her", "its", "our", "their"})


def words(text: str) -> list[tuple[str, int, int]]:
    """Lower-cased words of a text with their character ranges (half-open)."""
    return [(match.group().lower(), match.start(), match.end()) for match in WORD.finditer(text)]


@lru_cache(maxsize=50_000)
def verb_bases(word: str) -> tuple[str, ...]:
    """Verbs that an -ing form may belong to, other than its lemma: "building" may be a noun, or a form of "build".

    Some results are no words; they match no label.

    >>> verb_bases("building"), verb_bases("cutting"), verb_bases("ring")
    (('build', 'builde'), ('cut', 'cutt', 'cutte'), ())
    """
    stem = word[:-3]
    if not word.endswith("ing") or len(stem) < 3:
        return ()
    single = [stem[:-1]] if stem[-1] == stem[-2] else []
    return tuple(base for base in [*single, stem, stem + "e"] if base != lemma(word))


def normalise(surface: str) -> str:
    """Key of a surface form: lower-cased base forms, without articles and possessive pronouns.

    >>> normalise("Planting the flowers")
    'plant flower'
    """
    tokens = [word.lower() for word in WORD.findall(surface)]
    kept = [word for word in tokens if word not in ARTICLES] or tokens
    # A word with a digit is its own base form: skipping the lemmatizer saves microseconds for each of millions of ids.
    return " ".join([word if _DIGIT.search(word) else lemma(word) for word in kept])


def local_name(name: str) -> str:
    """The last part of an IRI, without the property number of some vocabularies (`P108_has_produced`)."""
    local = re.split(r"[/#:]", name.rstrip("/#"))[-1]
    return _NUMBERED.sub("", unquote(local) if "%" in local else local)


def split_words(local: str) -> str:
    """The words of a name in camelCase, snake_case or kebab-case; case and names with an inner capital are kept.

    >>> split_words("usedFor"), split_words("RowanMcAllister"), split_words("iPhone-case")
    ('used For', 'Rowan McAllister', 'iPhone case')
    """
    text = _spaced(local)
    return " ".join(
        _CAMEL.sub(lambda match: "" if _BEGINS.search(text, 0, match.start()) else " ", text).split()
    )


def _spaced(local: str) -> str:
    return local.replace("_", " ").replace("-", " ")


def split_local_name(name: str) -> str:
    """Words of an IRI's local name: `ex:usedFor_digging` gives `used for digging`."""
    return " ".join(_CAMEL.sub(" ", _spaced(local_name(name))).lower().split())


# English function words: those that link to nothing by themselves, and those that may be part of a concept.

_TABLE = tomllib.loads(Path(__file__).with_name("function_words.toml").read_text(encoding="utf-8"))
STOP_WORDS_OF = {code: frozenset(words.split()) for code, words in reading("function_words").items()}
"""Words of other languages that link to nothing by themselves, by code."""
_WORDS = {name: frozenset(words.split()) for name, words in _TABLE.items()}

ABBREVIATIONS = _WORDS["abbreviations"]
"""The period after these does not end a sentence if a name continues: "No. 418", "St. Mary"."""
INDEFINITE = _WORDS["indefinite"]
"""A noun after these is what the question asks for, or any instance of a type, not a known entity."""
STOP_WORDS = _WORDS["stop"]
"""Words that link to nothing by themselves."""
PARTICLES = _WORDS["particles"]
"""Particles of phrasal verbs, which may end a concept: "dig up"."""
OPENERS = frozenset({"be", "do", "have"})
"""Base forms of stop words that may begin a concept: "have fun", "be happy"."""
SUBJECTS = _WORDS["subjects"]
"""Words after which a verb is expected."""
PASSIVE = _WORDS["passive"]
"""Words between an object and the verb that follows it: "flowers were planted", "the hole that I dug"."""
DETERMINERS = ARTICLES | _WORDS["determiners"]
"""Words between a verb and its object: "plant all those lovely flowers"."""
OBJECT_PRONOUNS = frozenset({"it", "them", "one"})
"""Pronouns that stand for an object named before."""


# Person names in a text, for masking.

_CAPITAL = re.compile(
    r"(?<![\w'’.-])(?<!\bSan )(?<!\bSanta )[A-ZÀ-ÞĀ-Ž][a-zß-ž]+(?:-[A-Za-zÀ-ž][a-zß-ž]+)?(?![\w-])"
)
_NEXT = re.compile(r"['’]s\b| ([a-z]+)")
# Verbs that may follow a name and whose form alone does not show it (see `_acts`).
_ACTS = frozenset(
    ["is", "was", "has", "had", "does", "did", "will", "would", "can", "could", "must"]
    + ["wants", "likes", "needs", "loves", "goes", "says"]
)
_LETTERS = str.maketrans("ŁłØøĐđıŒœ", "LlOoDdiOo", "")
_TITLE = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Dr|Madame|Aunt|Auntie|Uncle|Professor|Nurse|Captain|Herr|Frau|Sir|Lady)\.? $"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:\n\"“”‘(])\s*$")


def people(text: str) -> list[tuple[int, int]]:
    """Character ranges of person names in a text, in order: given names (`given_names.toml`), and names after
    a title such as Mr.

    A name that is also a word, such as Rose, is ambiguous at the start of a sentence. All its occurrences
    count if one of them is capitalized inside a sentence, has a possessive 's, or is followed by a verb. All
    occurrences of a surname count if one of them follows a title.
    """
    names, words_too = given_names()
    found: list[tuple[int, int]] = []
    doubtful: list[re.Match[str]] = []
    surely: set[str] = set()
    for match in cancellable(_CAPITAL.finditer(text)):
        word = plain(match.group())
        if word in names:
            found.append(match.span())
            continue
        doubtful.append(match)
        if _TITLE.search(text, max(0, match.start() - 12), match.start()):
            surely.add(word)
        elif word in words_too:
            begins = _SENTENCE_START.search(text, max(0, match.start() - 3), match.start())
            if not begins or _acts(_NEXT.match(text, match.end())):
                surely.add(word)
    found += [match.span() for match in doubtful if plain(match.group()) in surely]
    return sorted(found)


def _acts(after: re.Match[str] | None) -> bool:
    """Whether the text after a word suggests a person: a possessive 's, or a verb that looks like a past form."""
    if after is None:
        return False
    word = after.group(1)
    return word is None or word in _ACTS or (lemma(word) != word and not word.endswith(("s", "ing")))


@lru_cache(maxsize=50_000)
def plain(word: str) -> str:
    """A word without accents: José and Łukasz as Jose and Lukasz."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word.translate(_LETTERS))
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


@lru_cache(maxsize=1)
def given_names() -> tuple[frozenset[str], frozenset[str]]:
    """Given names, and those that are also words, without accents."""
    table = _table()
    return frozenset(table["names"].split()), frozenset(table["words_too"].split())


def _table() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("given_names.toml").read_text(encoding="utf-8"))


# Morphological analysis of Korean with Kiwi (the extra `ko`), which is loaded with the first Korean text.

_loading = Lock()
_AT_ONCE = 2_000  # characters analysed in one call, which cannot be cancelled
_NAME_SCORE = -5.0  # below that of common words: 유리 is glass rather than a name
_PREDICATES = ("VV", "VA", "XSV", "XSA")
_STEMS = (*_PREDICATES, "VX")
_FUNCTIONAL = frozenset(("NP", "VX", "VCP", "VCN", "SF", "SP"))
_START = attrgetter("start")


class Morpheme(NamedTuple):
    """A morpheme in its plain form with its Sejong tag (NNG noun, VV verb, JKO object particle, ...).

    `start` and `end` are its half-open character range in the text; the ranges of contracted morphemes overlap.
    """

    form: str
    tag: str
    start: int
    end: int


def is_korean_question(text: str) -> bool:
    """Whether a question is Korean: it has Hangul, and does not begin with an English function word, as a
    question in English about a Korean name does.

    >>> is_korean_question("무엇으로 땅을 팠니?"), is_korean_question("Is 하늘대학교 private?")
    (True, False)
    """
    first = next((word for word, _, _ in words(text)), "")
    return is_korean(text) and first not in STOP_WORDS - ARTICLES


@lru_cache(maxsize=1)
def has_analyser() -> bool:
    """Whether Kiwi is installed."""
    return find_spec("kiwipiepy") is not None


@cached_by_length(len)
def morphemes(text: str) -> tuple[Morpheme, ...]:
    """The morphemes of a text in order. Raises InputError if Kiwi is not installed.

    >>> [(m.form, m.tag) for m in morphemes("땅을 팠니?")]
    [('땅', 'NNG'), ('을', 'JKO'), ('파', 'VV'), ('었', 'EP'), ('니', 'EF'), ('?', 'SF')]
    """
    if not has_analyser():
        raise InputError("Korean is read with Kiwi, which is not installed; pip install 'kgqa[ko]'")
    found = [
        Morpheme(token.form, token.tag.partition("-")[0], at + token.start, at + token.end)
        for at, piece in _pieces(text)
        for token in _kiwi().tokenize(piece)
    ]
    return tuple(_final(m, found[i + 1 : i + 2]) for i, m in enumerate(found))


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Split a long text after a sentence if possible, else after a word, else anywhere; each part comes with
    its start. The analysis can be cancelled between two parts."""
    at = 0
    while len(text) - at > _AT_ONCE:
        check_cancelled()
        ends = (max(text.rfind(mark, at, at + _AT_ONCE) for mark in marks) + 1 for marks in (".!?\n", " "))
        end = next((end for end in ends if end > at), at + _AT_ONCE)
        yield at, text[at:end]
        at = end
    check_cancelled()
    yield at, text[at:]


def _final(morpheme: Morpheme, after: list[Morpheme]) -> Morpheme:
    """Correct the tag of a connective ending (EC) before a full stop or question mark to a sentence-final one (EF)."""
    if morpheme.tag == "EC" and (not after or after[0].tag == "SF"):
        return morpheme._replace(tag="EF")
    return morpheme


@lru_cache(maxsize=1)
def _load() -> Any:
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=1)
    for name in _table()["korean"].split():
        kiwi.add_user_word(name, "NNP", _NAME_SCORE)
    return kiwi


def _kiwi() -> Any:
    with _loading:
        return _load()


def dictionary_forms(text: str, start: int, end: int) -> tuple[str, ...]:
    """The forms in which a label may have the word at `start` to `end` of a text: a predicate in dictionary form, of an
    adjective the adnominal form too, in which the labels of properties are, or a noun without its copula.

    >>> dictionary_forms("국이 뜨거웠다", 3, 7), dictionary_forms("의사였니? 땅을 팠니?", 0, 4)
    (('뜨겁다', '뜨거운'), ('의사',))

    Raises InputError where the extra `ko` is not installed.
    """
    inside = _inside(text, start, end)
    for m in inside:
        if m.tag in _PREDICATES:
            form = text[start : m.start] + m.form + "다"
            is_adjective = any(other.tag in ("VA", "XSA") for other in inside)
            return (form, conjugated(form, ("ᆫ", "ETM"))) if is_adjective else (form,)
        if m.tag == "VCP" and m.start > start:
            return (text[start : m.start],)
    return ()


def is_korean_function_word(text: str, start: int, end: int) -> bool:
    """Whether the word at `start` to `end` of a text has no content word in it: a pronoun, question word or auxiliary
    verb, with its particles and endings.

    >>> [is_korean_function_word("우리는 소 우리를 봤다", *span) for span in ((0, 3), (6, 9))]
    [True, False]
    """
    tags = [m.tag for m in _inside(text, start, end)]
    return bool(tags) and all(tag in _FUNCTIONAL or tag[0] in "JE" for tag in tags)


def _inside(text: str, start: int, end: int) -> tuple[Morpheme, ...]:
    """The morphemes that start at `start` or behind it and before `end`."""
    found = morphemes(text)
    return found[bisect_left(found, start, key=_START) : bisect_left(found, end, key=_START)]


class JapaneseWord(NamedTuple):
    """A word of a Japanese text: its dictionary form, its half-open character range, and whether it is a content
    word."""

    base: str
    start: int
    end: int
    content: bool


_CONTENT = ("名詞", "動詞", "形容詞", "副詞", "接頭詞")
_DEPENDENT = ("非自立", "代名詞", "接尾", "数")


@lru_cache(maxsize=1)
def has_japanese_analyser() -> bool:
    """Whether Janome (the extra `ja`) is installed."""
    return find_spec("janome") is not None


@cached_by_length(len)
def japanese_words(text: str) -> tuple[JapaneseWord, ...]:
    """The words of a text in order, as Janome finds them; only where it is installed.

    >>> [word.base for word in japanese_words("布団を入れた") if word.content]
    ['布団', '入れる']
    """
    return tuple(
        JapaneseWord(base, start, end, kind in _CONTENT and detail not in _DEPENDENT)
        for base, start, end, kind, detail, _ in _analysed(text)
    )


def _analysed(text: str) -> Iterator[tuple[str, int, int, str, str, str]]:
    """Dictionary form, character range, part of speech, its subdivision and Sejong tag of each word."""
    for at, piece in _pieces(text):
        for token in _janome().tokenize(piece):
            start, at = at, at + len(token.surface)
            kind, detail = token.part_of_speech.split(",")[:2]
            tag = _japanese_tag(token.surface, token.base_form, kind, detail)
            base = token.surface if token.base_form == "*" else token.base_form
            yield base, start, at, kind, detail, tag


_KINDS = {
    "動詞": "VV",
    "形容詞": "VA",
    "副詞": "MAG",
    "連体詞": "MM",
    "接続詞": "MAJ",
    "接頭詞": "NNG",
    "感動詞": "IC",
}
_PARTICLES_OF = {"が": "JKS", "を": "JKO", "は": "JX", "も": "JX", "と": "JC", "や": "JC"}
_GOES_ON = ("て", "で", "、")
"""What is between a predicate and the next clause of a sentence."""
_ENDINGS = {"た": "EP", "です": "VCP", "だ": "VCP", "ない": "VX", "ん": "VX", "ぬ": "VX"}


def japanese_morphemes(text: str) -> tuple[Morpheme, ...]:
    """The words of a Japanese text as Korean ones are tagged: grammar of both is alike. Predicates, of which nouns with
    する are some, are in dictionary form; before a noun they have an empty adnominal ending (ETM), and a connective one
    (EC) before another clause.

    >>> [(m.form, m.tag) for m in japanese_morphemes("皿を焼いた窯はどこ？")][:5]
    [('皿', 'NNG'), ('を', 'JKO'), ('焼く', 'VV'), ('た', 'EP'), ('', 'ETM')]
    """
    found: list[Morpheme] = []
    for base, start, end, _, _, tag in _analysed(text):
        if found and found[-1].tag == "NNG" and base == "する":
            found[-1] = found[-1]._replace(tag="VV", end=end)
            continue
        is_noun = tag[:2] in ("NN", "NP", "SN", "XR")
        if tag and found and found[-1].tag in ("VV", "VA", "EP", "VX"):
            if (is_noun or tag[0] in "MV") and text[found[-1].end : start].rstrip().endswith(_GOES_ON):
                found.append(Morpheme("て", "EC", start, start))
            elif is_noun:
                found.append(Morpheme("", "ETM", start, start))
        if tag:
            found.append(Morpheme(base, tag, start, end))
    return tuple(found)


def _japanese_tag(surface: str, base: str, kind: str, detail: str) -> str:
    """The Sejong tag of a word that Janome has analysed; "" for those that only inflect others."""
    if surface in "。．.！!？?":
        return "SF"
    if kind == "名詞":
        special = {"代名詞": "NP", "数": "SN", "非自立": "NNB", "固有名詞": "NNP"}
        return special.get(detail, "NNG")
    if kind == "動詞" and detail != "自立":
        return "VX" if base in ("れる", "られる") else ""
    if surface == "で" and base == "だ":
        return "JKB"
    if kind == "助動詞":
        return _ENDINGS.get(base, "")
    if kind == "助詞":
        if surface in _PARTICLES_OF:
            return _PARTICLES_OF[surface]
        if detail == "連体化":
            return "JKG"
        if "終助詞" in detail:
            return "EF"
        if detail == "接続助詞":
            return "" if surface in ("て", "で") else "EC"
        return "JKB"
    return _KINDS.get(kind, "")


def _janome() -> Any:
    with _loading:
        return _load_janome()


@lru_cache(maxsize=1)
def _load_janome() -> Any:
    from janome.tokenizer import Tokenizer

    return Tokenizer()


@lru_cache(maxsize=50_000)
def conjugated(predicate: str, *endings: tuple[str, str]) -> str:
    """Conjugate a predicate, given in dictionary form with any words before it: `endings` are forms with Sejong tags.

    >>> conjugated("꽃을 심다", ("었", "EP"), ("다", "EF")), conjugated("집을 짓다", ("으려고", "EC"))
    ('꽃을 심었다', '집을 지으려고')

    Raises InputError where the extra `ko` is not installed.
    """
    before, _, last = predicate.rpartition(" ")
    found = [(m.form, m.tag) for m in _kiwi().tokenize(last)]
    if found[-1:] and found[-1][0] == "다" and found[-2:-1] and found[-2][1].startswith(_STEMS):
        stem = found[:-1]
    else:
        stem = [(last.removesuffix("다"), "VV")]
    conjugation = str(_kiwi().join([*stem, *endings]))
    return f"{before} {conjugation}" if before else conjugation


# Korean stemming without Kiwi: particles (josa) of nouns, and the most common endings of regular verbs.
#
# "삽으로" is 삽 with a particle, "정원에서는" is 정원 with two, and "팠다" is a past form of 파다.

# The form of a particle depends on the sound before it: a final consonant, a vowel, or either.
_AFTER_CONSONANT = (
    "은 이 을 과 으로 으로서 으로써 이랑 이나 이라도 이든지 아 이여 이라고 이란 이라는 이며 이다"
)
_AFTER_VOWEL = "는 가 를 와 로 로서 로써 랑 나 라도 든지 야 여 라고 란 라는 며 다"
_AFTER_EITHER = """
의 에 에서 에게 에게서 께 께서 한테 한테서 더러 하고 도 만 부터 까지 보다 처럼 같이 마다 조차 마저 밖에 만큼 대로 뿐 들
이에요 입니다 이었다 였다
"""
_MOST = 3  # particles of one word; 친구들에게는: plural, recipient, topic

# Endings that leave the stem of a regular verb as it is.
_VERB_ENDINGS = "고 는 기 지 게 던 으려고 려고 으면 면 으러 러 으니 니 습니다 는다 다가 거나 자 자마자 도록"
_PAST = 20  # number of the final ㅆ, which marks the past
_VOWELS = 21
_UNCONTRACTED = {9: 8, 14: 13, 6: 20}  # vowel of a contracted past to that of its stem: ㅘ ㅗ, ㅝ ㅜ, ㅕ ㅣ
_HAE, _HA = "해", "하"


@lru_cache(maxsize=50_000)
def stems(word: str) -> tuple[str, ...]:
    """Possible base forms of a Hangul word: nouns, longest first, then verbs; empty for other words.

    A particle is only removed if its form fits the sound before it, and at most three are. The results need
    not be words: the caller looks them up.

    >>> stems("삽으로"), stems("정원에서는"), stems("팠다"), stems("trowel")
    (('삽으', '삽'), ('정원에서', '정원', '정원에서다'), ('파다',), ())
    """
    if not is_hangul(word[-1:]):
        return ()
    found: dict[str, None] = {}
    layer = [word]
    for _ in range(_MOST):
        layer = [stem for longer in layer for stem in _less_one(longer)]
        found.update(dict.fromkeys(layer))
    nouns = sorted(found, key=len, reverse=True)
    return tuple(dict.fromkeys([*nouns, *_verbs(word)]))


def _less_one(word: str) -> list[str]:
    found = []
    for particles, fits in ((_AFTER_CONSONANT, True), (_AFTER_VOWEL, False), (_AFTER_EITHER, None)):
        for particle in particles.split():
            stem = word.removesuffix(particle)
            if len(stem) == len(word) or not is_hangul(stem[-1:]):
                continue
            final = final_consonant(stem[-1])
            loose = final == RIEUL and particle.startswith("로")  # the exception for ㄹ: 칼로, 연필로
            if fits is None or fits == bool(final) or loose:
                found.append(stem)
    return found


def _verbs(word: str) -> list[str]:
    found = [
        stem + "다"
        for ending in _VERB_ENDINGS.split()
        if (stem := word.removesuffix(ending)) and stem != word
    ]
    for place, letter in enumerate(word):
        code = ord(letter) - ord("가") if is_hangul(letter) else 0
        if code % FINALS != _PAST or letter in "있겠":
            continue
        before = word[:place]
        if letter in "었았였":
            return [*found, before + "다"] if before else found
        vowel = code // FINALS % _VOWELS
        plain = chr(ord(letter) - _PAST + (_UNCONTRACTED.get(vowel, vowel) - vowel) * FINALS)
        return [*found, before + (_HA if plain == _HAE else plain) + "다"]
    return found
