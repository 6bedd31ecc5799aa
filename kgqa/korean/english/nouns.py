"""Translates Korean noun phrases into pieces of English that are aligned with Korean characters."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from kgqa.data.synthetic.inflection import is_mass, is_plural, plural
from kgqa.graph.linking.label_keys import MONTHS
from kgqa.korean.reading.clauses import SEASONS, TIMES, Phrase, Predicate, Word, lasts, without_last
from kgqa.korean.words import group, in_words, is_native, lexicon, number, romanise, table
from kgqa.limits.cancellation import cancellable
from kgqa.types import Span

# Pieces of English aligned with Korean characters, and the discourse so far.

Translate = Callable[[str], str | None]
"""The English label of the graph's concept for a Korean noun or verb phrase; None if there is none."""


class Piece(NamedTuple):
    """One or more English words, and the aligned Korean characters; start equals end if there are none."""

    text: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Gloss:
    """English text with aligned pairs of English and Korean spans in order; None if the text is unchanged."""

    text: str
    stretches: tuple[tuple[Span, Span], ...] | None = ()

    def original(self, start: int, end: int) -> Span | None:
        """The Korean span aligned with characters of the English text, None if there is none."""
        if self.stretches is None:
            return Span(start, end)
        first = bisect_right(self.stretches, start, key=lambda stretch: stretch[0].end)
        behind = bisect_left(self.stretches, end, key=lambda stretch: stretch[0].start)
        touched = [korean for _, korean in self.stretches[first:behind]]
        if not touched:
            return None
        return Span(min(span.start for span in touched), max(span.end for span in touched))


@dataclass(slots=True)
class Said:
    """The discourse so far, by which pronouns, articles and word senses are chosen."""

    named: set[str] = field(default_factory=set)
    """Nouns mentioned before: they get "the" from then on."""
    subject: str = ""
    """The pronoun of the last person that was a subject."""
    agrees: str = ""
    """The pronoun of the last subject, of a thing too."""
    asks: bool = True
    """Whether a question is being translated; elsewhere question words mean somebody, something, somewhere."""
    told: bool = False
    """Whether a statement precedes the question."""
    asked_alone: bool = False
    """Whether a question has no passage: it is generic, not about particular things."""
    near: str = ""
    """The pronoun of the last subject within the sentence, of an animal too."""
    verbs: dict[str, str] = field(default_factory=dict)
    """Verbs with the sense that they had in the passage."""
    deeds: dict[str, str] = field(default_factory=dict)
    """Verbs with the sense that they had with an object, reused where the object is omitted."""
    nouns: dict[str, str] = field(default_factory=dict)
    """Nouns with the sense that was chosen by context."""
    things: dict[str, str] = field(default_factory=dict)
    """The last object of each predicate."""
    beside: frozenset[str] = frozenset()
    """Nouns and predicates of the clause: the context that selects senses."""

    @property
    def silent(self) -> str:
        """The pronoun of an omitted subject; in a question without passage the generic "you"."""
        return self.near or self.subject or ("you" if self.asked_alone else "I")


def joined(pieces: Iterable[Piece]) -> Gloss:
    """Pieces joined to a text with capitalized sentences."""
    parts: list[str] = []
    length, ended = 0, True
    stretches = []
    for said, start, end in cancellable(pieces):
        if not said:
            continue
        if parts and said[0] not in ",.?'":
            parts.append(" ")
            length += 1
        if not parts or (parts[-1] == " " and ended):
            said = said[0].upper() + said[1:]
        if end > start:
            stretches.append((Span(length, length + len(said)), Span(start, end)))
        parts.append(said)
        length += len(said)
        ended = said.endswith((".", "?"))
    return Gloss("".join(parts), tuple(stretches))


# English prepositions for Korean particles, by the noun before them and the verb after them.

_ON = group("on")
_WHITHER = group("whither")
_BESIDE = group("beside")
_MOTION = group("motion")
MADE = frozenset(["만들다", "만들어지다", "짓다", "만들어주다", "담그다"])
_TURNED = group("turned")
_VEHICLES = frozenset(("기차", "버스", "배", "비행기", "자전거", "지하철", "택시", "차"))
_ALWAYS = {
    **dict.fromkeys(("에게", "한테", "께", "더러"), "to"),
    **dict.fromkeys(("에게서", "한테서"), "from"),
    **dict.fromkeys(("와", "과", "하고", "이랑", "랑"), "with"),
    **dict.fromkeys(("처럼", "같이"), "like"),
    "보다": "than",
}
"""Particles with a single translation."""
_WITH_E = {
    **dict.fromkeys(("바르다", "뿌리다", "치다"), "on"),
    **dict.fromkeys(("맞다", "쏘이다", "물리다", "놀라다"), "by"),
    **dict.fromkeys(("주다", "들어가다", "들어오다", "오르다", "올라가다", "타다"), ""),
}
"""Translation of 에 by predicate."""


def preposition(phrase: Phrase, predicate: Predicate | None) -> str:
    """The English preposition for the particle of a phrase with a predicate, empty if there is none."""
    particles = phrase.particles
    form = predicate.form if predicate else ""
    helped = predicate.helped if predicate else ""
    first = phrase.particle
    last = phrase.last
    if first in _ALWAYS:
        return _ALWAYS[first]
    if first in ("으로", "로", "으로써", "로써"):
        if form in MADE or helped in MADE:
            return "of"
        if form in _TURNED:
            return "into"
        if form == "칠하다":
            return ""
        if form in _MOTION or form.endswith(("가다", "오다")):
            return "by" if last in _VEHICLES else "to"
        return "to" if last in _WHITHER or last.endswith(("쪽", "역", "장", "실")) else "with"
    if "까지" in particles:
        return "to"
    if "부터" in particles:
        return "from"
    if first == "마다":
        return "every"
    if first == "에":
        counter = phrase.counter.form if phrase.counter else ""
        if counter == "시":
            return "at"
        if counter == "원" or (phrase.asking and form in ("쓰다", "사용하다", "이용하다", "쓰이다")):
            return "for"
        if form in _MOTION:
            return "to"
        if form in _WITH_E:
            return _WITH_E[form]
    elif first != "에서":
        return ""
    elif form in ("내리다", "내려오다", "떨어지다", "나오다", "꺼내다", "오다", "미루다", "따다", "모으다"):
        return "from"
    return "on" if last in _ON else "by" if last in _BESIDE else "in"


# English noun phrases: articles, numbers, possessives, and relative clauses.

Modify = Callable[[Phrase], tuple[list[Piece], list[Piece]]]
"""Translates the modifying clauses of a phrase: parts before its noun ("broken") and after it ("that I wrote")."""
_ASKED, _SOME = table("asked"), table("some")
_PRONOUNS = {form: said.split("/") for form, said in table("pronouns").items()}
"""Subject, object and possessive forms."""
_ORDINALS = "first first second third fourth fifth sixth seventh eighth ninth tenth".split()  # noqa: SIM905
_ORDINAL_COUNTERS = group("ordinal_counters")
_WHICH_TIME = {"이번": "this", "다음": "next", "지난": "last"}
_ADJECTIVES = group("adjectives")
_NO_ARTICLE = group("no_article")
_ANIMALS = group("animals")
_THE_ONE = group("the_one")
_PERSONAL = ("사람", "사", "원", "자", "관", "부", "님", "꾼", "인", "수", "생", "분", "장")
_PEOPLE = group("people")


class Nouns:
    """Translates the noun phrases of a text."""

    def __init__(self, text: str, translate: Translate, said: Said, modify: Modify) -> None:
        self.text, self.translate, self.said, self.modify = text, translate, said, modify
        self.words = lexicon()

    def noun(
        self, phrase: Phrase, article: bool = True, subject: bool = False, listed: bool = False
    ) -> list[Piece]:
        """A noun phrase with article or determiner, possessor and modifying clauses.

        Of several things that are joined, the last two have an "and" between them: a book, a pen and a ruler.
        """
        said: list[Piece] = []
        if phrase.joined is not None:
            before = self.noun(phrase.joined, article, subject, listed=True)
            said += [*before, Piece("," if listed else "and")]
        if phrase.asking:
            return [*said, *self._asking(phrase)]
        if phrase.said:
            return [Piece(self._again(phrase), phrase.start, phrase.end)]
        penned = phrase.nouns[:1] and phrase.nouns[0].form == "우리" and self.said.beside & {"몰다", "가두다"}
        if len(phrase.nouns) == 1 and phrase.nouns[0].form in _PRONOUNS and not phrase.owner and not penned:
            word = phrase.nouns[0]
            forms = _PRONOUNS[word.form]
            return [*said, Piece(forms[0] if subject else forms[1], word.start, word.end)]
        if phrase.nouns and phrase.nouns[0].form == "아무" and "도" in phrase.particles:
            return [*said, Piece("nobody", phrase.start, phrase.end)]
        before, after = self.modify(phrase)
        determiner, adjectives = self._determiners(phrase)
        before = [*adjectives, *before]
        owner = self._owner(phrase)
        count = self.number(phrase) if phrase.number else []
        nouns = self._nouns(phrase)
        if count and nouns and phrase.counter is None and phrase.number and number(phrase.number.form) != 1:
            nouns = [*nouns[:-1], nouns[-1]._replace(text=plural(nouns[-1].text))]
        if phrase.counter is not None and nouns and phrase.counter.form in _ORDINAL_COUNTERS:
            return [*said, *before, *nouns, *count]
        if phrase.counter is not None and nouns and phrase.counter.form in ("살", "세"):
            assert phrase.number is not None
            old = Piece(f"{count[0].text}-year-old", phrase.number.start, phrase.counter.end)
            return [*said, Piece("an" if old.text.startswith("eigh") else "a"), old, *before, *nouns]
        if phrase.counter is not None and phrase.last == "반" and len(phrase.nouns) == 1:
            half = phrase.nouns[-1]
            return [*said, count[0], Piece("and a half", half.start, half.end), *count[1:]]
        if nouns and determiner and is_plural(nouns[-1].text):
            these = {"this": "these", "that": "those"}
            determiner = [p._replace(text=these.get(p.text, p.text)) for p in determiner]
        many = phrase.plural or (count and phrase.number and number(phrase.number.form) != 1)
        if nouns and many:
            nouns = [*nouns[:-1], nouns[-1]._replace(text=plural(nouns[-1].text))]
        if nouns and article and not (determiner or owner or count):
            said.append(Piece(self._article(phrase, [*before, *nouns], bool(many))))
        if phrase.owner is not None and not owner:
            after = [Piece("of"), *self.noun(phrase.owner), *after]
        return [*said, *owner, *determiner, *count, *before, *nouns, *after]

    def _again(self, phrase: Phrase) -> str:
        """A phrase in the graph's wording, with "the" if it was mentioned before."""
        key = phrase.last
        known = key in self.said.named or "JX" in phrase.cases
        self.said.named.add(key)
        first, _, rest = phrase.said.partition(" ")
        return f"the {rest}" if known and first in ("a", "an") else phrase.said

    def _asking(self, phrase: Phrase) -> list[Piece]:
        asked = phrase.asking
        spot = (phrase.start, phrase.end)
        if not self.said.asks and asked in _SOME and len(phrase.nouns) == 1 and not phrase.determiners:
            return [Piece(_SOME[asked], *spot)]
        if asked == "얼마" and phrase.last == "동안":
            return [Piece("how long", *spot)]
        if asked == "몇":
            counter = phrase.counter.form if phrase.counter else ""
            counted = self.words.counters.get(counter, "")
            if counter == "시":
                return [Piece("what time", *spot)]
            if phrase.nouns:
                counted = plural(" ".join(p.text for p in self._nouns(phrase)))
            return [Piece(f"how many {'' if counted == '-' else counted}".strip(), *spot)]
        if asked in ("무슨", "어떤") and [w.form for w in phrase.nouns] == ["일"]:
            return [Piece("what", *spot)]
        if asked in ("무슨", "어느", "어떤"):
            nouns = " ".join(self._one_noun(w) for w in phrase.nouns)
            return [Piece(f"{'which' if asked == '어느' else 'what'} {nouns}".strip(), *spot)]
        if asked in ("누구", "누") and len(phrase.nouns) > 1:
            return [Piece(f"whose {' '.join(self._one_noun(w) for w in phrase.nouns[1:])}", *spot)]
        return [Piece(_ASKED.get(asked, "what"), *spot)]

    def _determiners(self, phrase: Phrase) -> tuple[list[Piece], list[Piece]]:
        """Determiners, and adjectives."""
        which: list[Piece] = []
        adjectives: list[Piece] = []
        if len(phrase.nouns) > 1 and (first := phrase.nouns[0]).form in _WHICH_TIME:
            which.append(Piece(_WHICH_TIME[first.form], first.start, first.end))
        for word in phrase.determiners:
            if english := self.words.modifiers.get(word.form):
                chosen = adjectives if word.form in _ADJECTIVES else which
                chosen.append(Piece(english, word.start, word.end))
        return which, adjectives

    def _owner(self, phrase: Phrase) -> list[Piece]:
        owner = phrase.owner
        first = phrase.nouns[0] if len(phrase.nouns) > 1 else None
        if owner is None:
            if first is not None and first.form in ("우리", "내", "제", "저희") and not phrase.determiners:
                return [Piece(_PRONOUNS[first.form][2], first.start, first.end)]
            return []
        if len(owner.nouns) == 1 and owner.nouns[0].form in _PRONOUNS and not owner.owner:
            word = owner.nouns[0]
            return [Piece(_PRONOUNS[word.form][2], word.start, word.end)]
        if owner.clauses and any(c.phrases for c in owner.clauses):
            return []
        said = self.noun(owner)
        return [*said[:-1], said[-1]._replace(text=said[-1].text + "'s")] if said else []

    def number(self, phrase: Phrase) -> list[Piece]:
        if phrase.number is None:
            return []
        value = number(phrase.number.form)
        said = phrase.number.form if value is None else in_words(value)
        if phrase.counter is None:
            return [Piece(said, phrase.number.start, phrase.number.end)]
        if phrase.counter.form == "번째" or (phrase.nouns and phrase.nouns[0].form == "번째"):
            ordinal = _ORDINALS[value] if value is not None and value < len(_ORDINALS) else said
            return [Piece(ordinal, phrase.number.start, phrase.counter.end)]
        if phrase.counter.form == "월" and value is not None and 0 < value <= 12:
            return [Piece(MONTHS[value - 1], phrase.number.start, phrase.counter.end)]
        unit = self.words.counters.get(phrase.counter.form, "")
        if phrase.counter.form == "분" and not is_native(phrase.number.form):
            unit = "minutes"
        if phrase.counter.form == "년" and value is not None and 1000 <= value < 2100:
            return [Piece(str(value), phrase.number.start, phrase.counter.end)]
        named = phrase.nouns and unit in ("people", "books", "animals")
        if unit in ("", "-") or named or phrase.counter.form in _ORDINAL_COUNTERS:
            return [Piece(said, phrase.number.start, phrase.counter.end)]
        if value == 1:
            unit = {"people": "person"}.get(unit, unit.removesuffix("s"))
        return [
            Piece(said, phrase.number.start, phrase.number.end),
            Piece(unit, phrase.counter.start, phrase.counter.end),
        ]

    def _nouns(self, phrase: Phrase) -> list[Piece]:
        """The nouns of a phrase; the longest compounds that the dictionary or the graph knows are translated as one."""
        words = phrase.nouns
        if len(words) > 1 and words[0].form in ("우리", "내", "제", "저희", "번째", *_WHICH_TIME):
            words = words[1:]
        said: list[Piece] = []
        at = 0
        while at < len(words):
            for end in range(len(words), at, -1):
                run = words[at:end]
                surface = self.text[run[0].start : run[-1].end] if len(run) > 1 else run[0].form
                english = self._sense(surface) or self._concept(surface)
                if english or end == at + 1:
                    name = english or self._unknown(run[0])
                    said.append(Piece(name, run[0].start, run[-1].end))
                    at = end
                    break
        return said

    def _one_noun(self, word: Word) -> str:
        return self._sense(word.form) or self._concept(word.form) or romanise(word.form)

    def _sense(self, surface: str) -> str | None:
        """The dictionary's translation of a noun; without context, in the sense that it had before."""
        found, usual = self.words.noun(surface, self.said.beside), self.words.noun(surface, ())
        if found is None or found == usual:
            return self.said.nouns.get(surface, usual)
        self.said.nouns[surface] = found
        return found

    def _concept(self, surface: str) -> str | None:
        found = self.translate(surface)
        return self.translate(surface.replace(" ", "")) if not found and " " in surface else found

    @staticmethod
    def _unknown(word: Word) -> str:
        latin = romanise(word.form)
        return latin.capitalize() if word.tag == "NNP" else latin

    def _article(self, phrase: Phrase, nouns: list[Piece], many: bool) -> str:
        head = nouns[-1].text
        key = phrase.last
        one = key in _THE_ONE and "VCP" not in phrase.cases
        known = key in self.said.named
        self.said.named.add(key)
        if re.match(r"(?:this|that|my|every|some)\b", nouns[0].text):
            return ""
        unknown = head == romanise(key)
        if head[:1].isupper() or unknown or key in _NO_ARTICLE or key.endswith("색"):
            return ""
        about = "JX" in phrase.cases and (phrase.owner or not self.said.asked_alone)
        if known or about or phrase.clauses or one:
            return "the"
        if many or is_mass(head) or is_plural(head):
            return ""
        return "an" if nouns[0].text[:1] in "aeiou" else "a"

    def time(self, phrase: Phrase) -> list[Piece]:
        spot = (phrase.start, phrase.end)
        if phrase.number is not None and phrase.counter is not None:
            hour = self.number(phrase)
            if lasts(phrase):
                return [Piece("for"), *hour]
            if phrase.counter.form == "시":
                day = [w for w in phrase.nouns if w.form in TIMES]
                return [Piece("at"), *hour, *(Piece(TIMES[w.form], w.start, w.end) for w in day)]
            return [Piece("in"), *hour]
        last = phrase.nouns[-1]
        if last.form == "동안" or (last.form == "전" and len(phrase.nouns) > 1):
            return [Piece("for"), *self.noun(without_last(phrase))]
        if last.form in ("그때", "전", "그전", "그다음") or (
            phrase.determiners and last.form in ("다음", "때", "후")
        ):
            then = {"전": "before that", "음": "next"}.get(last.form[-1], "then")
            return [Piece(then, *spot)]
        determiner = [piece for part in self._determiners(phrase) for piece in part]
        before = phrase.nouns[bool(determiner) and phrase.nouns[0].form in _WHICH_TIME : -1]
        others = [Piece(self._one_noun(w), w.start, w.end) for w in before]
        if last.form in TIMES and not determiner and not others:
            return [Piece(TIMES[last.form], *spot)]
        known = self.words.noun(last.form, self.said.beside) or self.translate(last.form)
        said = Piece(known or romanise(last.form), last.start, last.end)
        at = "in" if last.form in SEASONS else "on" if last.form.endswith("요일") else ""
        return [Piece("" if others or determiner else at), *determiner, *others, said]

    def pronoun(self, phrase: Phrase) -> str:
        """The pronoun for a person or people, empty for things."""
        last = phrase.last
        if last in _PRONOUNS:
            return _PRONOUNS[last][0]
        if phrase.joined is not None or phrase.plural:
            return "we" if phrase.joined and any(w.form in ("나", "저") for w in phrase.nouns) else "they"
        if last.endswith(("단", "팀", "가족", "반")):
            return "they"
        if last in self.words.women:
            return "she"
        named = bool(phrase.nouns) and phrase.nouns[-1].tag == "NNP"
        return "he" if named or last in _PEOPLE or last.endswith(_PERSONAL) else ""


def is_animal(phrase: Phrase) -> bool:
    """Whether a phrase names an animal, which acts as people do."""
    return phrase.last in _ANIMALS
