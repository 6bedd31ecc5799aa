"""A question in German, Spanish or French word for word in English, in the order of English: question words first, the
subject before its verb, the parts of a verb together.

It is no translation: words have one meaning each, and only the order of their phrases is changed. What is particular
to a language is data (`[order]` of `dictionaries/*.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from kgqa.graph.linking.languages import dictionary
from kgqa.graph.linking.linker import bases
from kgqa.graph.linking.normalize import STOP_WORDS_OF
from kgqa.graph.storage.relation_names import VERB, Vocabulary
from kgqa.language.head_final import ASKING, Mentioned, Word
from kgqa.verbalize.inflection import comparative, participle, plural, superlative, third

_HAVE, _BE = frozenset(("has", "have", "had")), frozenset(("is", "are", "am", "was", "were", "be", "been"))
_MODAL = frozenset(("can", "could", "will", "would", "must", "should", "may"))
_WANT = frozenset(("want", "wants", "wanted", "would like"))
_HELPERS = _HAVE | _BE | _MODAL | _WANT | frozenset(("is there", "does", "do", "did"))
_ASKING = ASKING | {"whom", "whose"}
_ARTICLES = frozenset(("the", "a", "an", "this", "these", "that", "his", "her", "its", "their"))
_PRONOUNS = frozenset(("people", "I", "he", "she", "it", "we", "they", "you"))
"""Words that are a subject by themselves."""
_MARKS = frozenset(".?!")
_JOINS = frozenset(
    (*",;:", "and", "but", "because", "when", "while", "although", "if", "so that", "before", "until")
)
"""Marks and conjunctions between the clauses of a passage."""
_OF = frozenset(("of", "of the"))
_PREPOSITIONS = _OF | frozenset((
    "out_of", "in", "at", "on", "by", "with", "from", "to", "for", "after", "before", "between", "under", "over",
    "through", "into", "within", "during", "since", "until",
))  # fmt: skip
_ADVERBS = frozenset(("where", "when", "why", "how", "since when", "how long"))
_PIECE = re.compile(r"[^\W_]+|[.,;:!?]")
_LONGEST = 5
"""Words of a phrase of the vocabulary."""


_Words = Annotated[frozenset[str], BeforeValidator(str.split)]
_NEVER = re.compile("(?!)")


class _Order(BaseModel):
    """How the clauses of a language differ from those of English."""

    model_config = ConfigDict(frozen=True)

    particles: _Words = frozenset()
    relative: _Words = frozenset()
    relative_subject: _Words = frozenset()
    """Relative pronouns that are always the subject."""
    genitive: _Words = frozenset()
    infinitive: re.Pattern[str] = _NEVER
    verb_final: bool = False
    left_out: re.Pattern[str] = _NEVER
    superlative: re.Pattern[str] = _NEVER
    reflexive: _Words = frozenset()
    capitals: bool = False
    bare_subject: bool = False
    plural: re.Pattern[str] = _NEVER
    than: _Words = frozenset()


@lru_cache
def _order(language: str) -> _Order:
    return _Order.model_validate(dictionary(language).get("order", {}))


@dataclass(frozen=True)
class _Token:
    """English words for a part of the text; `source` is how it is written there."""

    text: str
    source: str
    start: int = 0
    end: int = 0
    is_name: bool = False
    is_verb: bool = False
    """Whether it is a verb other than a helper, in its base form."""

    @property
    def asks(self) -> bool:
        return not self.is_name and not _ASKING.isdisjoint(self.text.split(" "))

    @property
    def is_helper(self) -> bool:
        return not self.is_name and self.text in _HELPERS

    @property
    def is_preposition(self) -> bool:
        return not self.is_name and self.text.removesuffix(" the").replace(" ", "_") in _PREPOSITIONS

    @property
    def is_article(self) -> bool:
        return not self.is_name and self.text in _ARTICLES

    @property
    def is_noun(self) -> bool:
        others = (self.asks, self.is_verb, self.is_helper, self.is_preposition, self.is_article)
        return self.is_name or not (any(others) or self.text in (",", "and", "or"))


class _Reader:
    """Turns the words of a text into tokens."""

    def __init__(
        self, language: str, small: Mapping[str, str], own: Vocabulary, unknown: Callable[[str], str]
    ) -> None:
        self.language, self.small, self.own, self.unknown = language, small, own, unknown
        self.order = _order(language)

    def read(self, text: str, mentions: Sequence[Mentioned]) -> list[_Token]:
        """The tokens of a text, in its order; mentions stay whole."""
        left_out = [match.span() for match in self.order.left_out.finditer(text)]
        taken = [(m.start, m.end) for m in mentions] + left_out
        words = [
            match
            for match in _PIECE.finditer(text)
            if not any(s < match.end() and match.start() < e for s, e in taken)
        ]
        found = [_Token(m.label, text[m.start : m.end], m.start, m.end, is_name=True) for m in mentions]
        starts = {m.start for m in mentions}
        at = 0
        while at < len(words):
            span = words[at : at + _LONGEST]
            size, said = next(
                (
                    (n, phrase)
                    for n in range(len(span), 1, -1)
                    if not any(span[0].start() < start < span[n - 1].start() for start in starts)
                    and (phrase := self._phrase([w[0] for w in span[:n]])) is not None
                ),
                (1, ""),
            )
            source = " ".join(w[0] for w in span[:size])
            begins = not at or words[at - 1][0] in ".!?"
            start, end = words[at].start(), words[at + size - 1].end()
            if size == 1:
                verb = self._verb(source)
                is_verb = verb and (text[end : end + 1] == "-" or self._is_verb_after(found, start))
                said = verb if is_verb else self._word(source, begins)
            token = _Token(said.removeprefix(VERB), source.lower(), start, end, is_verb=said.startswith(VERB))
            if said or token.source in self.order.reflexive:
                found.append(token)
            at += size
        found.sort(key=lambda token: token.start)
        if self.own.of_everyday:  # "se lava" is "washes"
            return self._graded(list(self._plain([t for t in found if t.source not in self.order.reflexive])))
        return self._graded(self._passive(found))

    def _plain(self, tokens: Sequence[_Token]) -> Iterator[_Token]:
        """The tokens with infinitives in one ("zu sehen") and articles that are pronouns: "la lava" is "it washes"."""
        before: _Token | None = None
        is_bare = not self.order.verb_final
        for n, token in enumerate(tokens):
            after = tokens[n + 1] if n + 1 < len(tokens) else None
            ends = after is None or after.text in _MARKS | _JOINS
            if token.text == "to" and after and after.is_verb:
                before = token
                continue
            if token.is_verb and ((before and before.text == "to") or token.source.startswith("zu ")):
                token = replace(token, text=f"to {token.text}", is_verb=False)
            elif token.is_verb and self._is_infinitive(token) and before and before.text not in _MARKS:
                is_after_verb = before.is_helper or before.is_verb
                after_modal = before.text in _MODAL or before.text.endswith(" to")
                if is_after_verb or before.is_preposition:
                    token = replace(
                        token, text=token.text if after_modal else f"to {token.text}", is_verb=False
                    )
            elif token.text == "the" and (ends or (is_bare and after and (after.is_verb or after.is_helper))):
                token = replace(token, text="it" if is_bare else "that")
            yield token
            before = tokens[n]

    def _is_infinitive(self, token: _Token) -> bool:
        """Whether a verb is written in its dictionary form, in a language where only infinitives are."""
        forms = bases(token.source, self.language)
        return (
            not self.order.verb_final and len(forms) == 1 and bool(self.order.infinitive.search(token.source))
        )

    def _verb(self, word: str) -> str:
        """The English of a word as a form of a verb, if it is a noun as written: "ferme" is a farm, or closes."""
        low = word.lower()
        as_written = self.own.words.get(low, VERB)
        if self.order.capitals or as_written.startswith(VERB):
            return ""
        forms = (self.own.words.get(form, "") for form in bases(low, self.language)[1:])
        return next((english for english in forms if english.startswith(VERB)), "")

    def _is_verb_after(self, found: Sequence[_Token], start: int) -> bool:
        """Whether the last word before a place lets a verb rather than a noun follow."""
        before = max((t for t in found if t.start < start), key=lambda t: t.start, default=None)
        if before is None or before.is_article or before.is_preposition or before.text in _MARKS | _JOINS:
            return False
        opens = before.source in self.order.reflexive or before.text in _PRONOUNS | {"not", "who", "which"}
        return opens or before.text in _HAVE or (before.is_noun and not before.text[0].isdigit())

    def _passive(self, tokens: Sequence[_Token]) -> list[_Token]:
        """The tokens without reflexive pronouns, whose verbs are passive: "se construyó" is "was built"."""
        made = []
        for n, token in enumerate(tokens):
            if token.source in self.order.reflexive:
                continue
            before = tokens[n - 1].source if n else ""
            if token.is_verb and before in self.order.reflexive and not token.text.startswith("be "):
                first, _, rest = token.text.partition(" ")
                token = replace(token, text=f"be {participle(first)} {rest}".strip())
            made.append(token)
        return made

    def _graded(self, tokens: Sequence[_Token]) -> list[_Token]:
        """The tokens with "more" and "less" before an adjective in one: a comparative before "than" or "or"."""
        made: list[_Token] = []
        than = [n for n, token in enumerate(tokens) if n and token.source in self.order.than]
        than = [
            n
            for n in than
            if {"more", "less"} & {t.text for t in tokens[:n]} or self._is_higher(tokens[n - 1])
        ]
        compares = bool(than) or any(token.text == "or" for token in tokens)
        for n, token in enumerate(tokens):
            if n in than:
                token = _Token("than", "than")
            elif n + 1 in than and self._is_higher(token) and not token.text.endswith("er"):
                token = replace(token, text=comparative(token.text))
            is_most = token.text.endswith("est") or token.text.startswith("most ")
            if made and made[-1].text == "more" and token.text in _OF:
                is_value = tokens[n + 1 : n + 2] and tokens[n + 1].text[0].isdigit()
                made[-1] = replace(made[-1], text="more than" if is_value else "most")
                continue
            if made and made[-1].text == "more" and token.is_noun and not token.is_name:
                made.pop()
                text = comparative(token.text) if compares else superlative(token.text)
                if token.text == token.source:  # an unknown word
                    text = f"{'more' if compares else 'most'} {token.text}"
                token = replace(token, text=text)
            elif made and made[-1].text in ("at the", "on the") and is_most:
                made.pop()
            made.append(token)
        return made

    def _is_higher(self, token: _Token) -> bool:
        """Whether a word may be a comparative by its ending."""
        return not token.is_name and token.source.endswith("er") and self.order.verb_final and token.is_noun

    def _phrase(self, words: Sequence[str]) -> str | None:
        """The English of several words, the first or the last as written or in dictionary form."""
        written = "_".join(word.lower() for word in words)
        if written in self.small:
            return self.small[written]
        low = [word.lower() for word in words]
        keys = (
            "_".join((*low[:n], base, *low[n + 1 :]))
            for n in (0, len(low) - 1)
            for base in bases(low[n], self.language)
        )
        return next((self.own.words[key] for key in keys if key in self.own.words), None)

    def _word(self, word: str, begins: bool) -> str:
        low = word.lower()
        if low in self.own.words:
            return self.own.words[low]
        if self.order.capitals and word[0].isupper() and not begins:
            noun = self.own.find(low)
            return noun * (not noun.startswith(VERB)) or self.unknown(word) or self.own.compound(low) or word
        if not self.order.capitals and word[0].isupper() and not begins:
            return self.small.get(low, word)  # a name
        is_small = low in STOP_WORDS_OF[self.language] or not low[0].isalpha()
        if is_small and low in self.small:
            return self.small[low]
        if english := self.own.find(low):
            graded = not english.startswith(VERB) and self.order.superlative.search(low)
            return superlative(english) if graded else english
        if low in self.small:
            return self.small[low]
        if not low[0].isalpha():
            return word
        if other := self.unknown(word):
            verbs = [b for b in bases(low, self.language)[1:] if self.order.infinitive.search(b)]
            return VERB + other if verbs and word == low and " " not in other else other
        return word

    def stated(self, clause: list[_Token]) -> list[_Token]:
        """A clause that states something: its verbs together, after a subject at its beginning."""
        opens = [t.text in _MARKS | _JOINS or t.source in self.order.relative for t in clause]
        front = [*opens, False].index(False)
        opening, clause = clause[:front], self.joined(clause[front:])
        verb = _first_verb(clause)
        if verb is None:
            return [*opening, *_genitives(clause, self.order)]
        before, (verbs, rest) = clause[:verb], _gathered(clause[verb:])
        if self.order.verb_final and not rest and len(before) > 1:  # a subordinate clause
            size = _noun_phrase(before, self.order)
            verbs = sorted(verbs, key=lambda token: not token.is_helper)
            before, rest = before[:size], before[size:]
        elif self.order.verb_final and before and not before[0].is_article and not before[0].is_noun:
            subject, rest = _subject(rest, self.order)
            before = [*before, *subject]
        return [*opening, *_genitives(before, self.order), *_finite(verbs), *_genitives(rest, self.order)]

    def joined(self, clause: list[_Token]) -> list[_Token]:
        """A clause whose separable verbs are in one place: "fand ... statt" is one verb, as "kam ... zur Welt"."""
        size = len(clause)
        for at, verb in enumerate(clause):
            if verb.is_name or verb.is_preposition:
                continue
            for start in range(max(at + 2, size - 3), size):
                parts = [token.source for token in clause[start:]]
                if made := self._separable(parts, bases(verb.source, self.language)):
                    return [*clause[:at], replace(verb, text=made, is_verb=True), *clause[at + 1 : start]]
        return clause

    def _separable(self, parts: Sequence[str], verbs: Sequence[str]) -> str:
        """The English of a verb whose parts stand at the end of its clause; "" if there is none."""
        keys = ["_".join((*parts, verb)) for verb in verbs]
        if len(parts) == 1 and parts[0] in self.order.particles:
            keys += [parts[0] + verb for verb in verbs]
        found = (self.own.words.get(key, "") for key in keys)
        return next((english.removeprefix(VERB) for english in found if english.startswith(VERB)), "")


def in_english_order(
    text: str,
    mentions: Sequence[Mentioned],
    language: str,
    small: Mapping[str, str],
    own: Vocabulary,
    unknown: Callable[[str], str],
    asking: bool = True,
) -> list[Word]:
    """A question or a passage in English words: its mentions by their labels, other words by `small` and the
    vocabulary, or else as `unknown` has them or they are.

    >>> from kgqa.graph.storage.relation_names import vocabulary
    >>> from kgqa.language.wording import english_words
    >>> def said(text, language):
    ...     words = in_english_order(text, (), language, english_words(language), vocabulary(language), lambda word: "")
    ...     return " ".join(word.text for word in words)
    >>> said("Wer hat den Turm gebaut?", "de"), said("Fand das Fest in der Kirche statt?", "de")
    ('who has built the tower', 'does the festival take place in the church')
    >>> said("¿Quién construyó la torre?", "es"), said("Où cultive-t-on la vigne ?", "fr")
    ('who builds the tower', 'where does the vineyard grow')
    """
    reader = _Reader(language, small, own, unknown)
    tokens = reader.read(text, mentions)
    if asking:
        clauses = _clauses([token for token in tokens if token.text not in _MARKS], reader.order)
        ordered = [
            (_relative if n else _main)(reader.joined(clause), reader.order)
            for n, clause in enumerate(clauses)
        ]
    else:
        ordered = [reader.stated(clause) for clause in _statements(tokens, reader.order)]
    return [Word(token.text, token.start, token.end) for clause in ordered for token in clause]


def _statements(tokens: Sequence[_Token], order: _Order) -> Iterator[list[_Token]]:
    """The clauses of a passage, each with the mark or the conjunction before it."""
    clause: list[_Token] = []
    for token in tokens:
        is_relative = token.source in order.relative and not order.verb_final
        if clause and (token.text in _MARKS | _JOINS or is_relative):
            yield clause
            clause = []
        clause.append(replace(token, text="that") if is_relative and token.text == "what" else token)
    yield clause


def _clauses(tokens: Sequence[_Token], order: _Order) -> Iterator[list[_Token]]:
    """The main clause and each relative clause, which begins with its pronoun, perhaps after a preposition."""
    clause: list[_Token] = []
    for n, token in enumerate(tokens):
        before = clause[-1:] and clause[-1]
        comma = order.verb_final and before and before.text == ","
        noun = not order.verb_final and before and before.is_noun
        behind = tokens[n + 1 : n + 2]
        preposition = comma and token.is_preposition and behind and behind[0].source in order.relative
        if token.source in order.relative and (comma or noun) or preposition:
            yield clause[:-1] if comma else clause
            clause = []
        clause.append(token)
    yield [t for t in clause if t.text != "," or len(clause) > 1]


def _noun_phrase(tokens: Sequence[_Token], order: _Order) -> int:
    """The length of the noun phrase at the beginning, with what it is of."""
    has_noun = False
    for n, token in enumerate(tokens):
        genitive = has_noun and token.source in order.genitive
        if has_noun and (
            token.text in _OF or genitive or (token.is_preposition and token.text.startswith("of"))
        ):
            has_noun = False
        elif token.is_article or token.text == "and":
            if has_noun and token.is_article:
                return n
        elif token.is_noun:
            if token.text in _PRONOUNS or (has_noun and tokens[n - 1].is_name):
                return n or 1
            has_noun = True
        else:
            return n
    return len(tokens)


def _first_verb(tokens: Sequence[_Token]) -> int | None:
    return next((n for n, token in enumerate(tokens) if token.is_verb or token.is_helper), None)


def _verbs(tokens: Sequence[_Token], last: bool = False) -> int:
    """The number of verbs at the beginning, or the end."""
    found = 0
    for token in reversed(tokens) if last else tokens:
        if not (token.is_verb or token.is_helper or token.text == "not"):
            break
        found += 1
    return found


def _main(clause: list[_Token], order: _Order) -> list[_Token]:
    first = next((n for n, token in enumerate(clause) if not token.is_preposition), 0)
    # without its accent
    if clause and clause[first].source in order.relative and clause[first].text == "that":
        clause[first] = replace(clause[first], text="what")
    asking = next((n for n, token in enumerate(clause) if token.asks), None)
    if asking is None:
        return _yes_no(clause, order)
    start = asking
    while start and (clause[start - 1].is_preposition or clause[start - 1].text in ("and",)):
        start -= 1
    end = asking + 1
    if clause[asking].text not in ("who", "where", "when", "why", "what is", "what are"):
        while end < len(clause) and not (clause[end].is_verb or clause[end].is_helper):
            begins = clause[end].is_article or clause[end].is_name
            if end == asking + 1 and clause[end].is_preposition and clause[end].text not in _OF:
                break
            if (
                (clause[asking].text == "what" and clause[end].is_article and end == asking + 1)
                or begins
                and any(token.is_noun for token in clause[asking + 1 : end])
            ):
                break
            end += 1
    front, rest = clause[start:end], [*clause[:start], *clause[end:]]
    is_amount = rest and (rest[0].is_verb or (rest[0].is_preposition and rest[0].text not in _OF))
    if is_amount and [token.text for token in front] == ["how many"]:
        front = [_Token("how much", front[0].source)]
    verb = _first_verb(rest)
    if verb is None:
        front += [_Token("is", "")] * (front[-1].text == "what")
        return [*front, *_genitives(rest, order)]
    before, rest = rest[:verb], rest[verb:]
    verbs, rest = _gathered(rest)
    if front[-1].text == "how many" and rest and rest[0].text in _OF:  # "combien y a-t-il de refuges"
        size = _noun_phrase(rest[1:], order) + 1
        front, rest = [*front, *rest[1:size]], rest[size:]
    if any(token.text == "how many" for token in front[:-1]) and front[-1].is_noun and not front[-1].is_name:
        front[-1] = replace(front[-1], text=plural(front[-1].text))
    subject, objects = (before, rest) if before else _subject(rest, order)
    word = front[0].text
    is_asked = len(front) == 1 and word == "who" or not (before or subject)
    if not is_asked and not before and not front[0].is_preposition and word not in _ADVERBS:
        has_name = any(token.is_name for token in subject)
        is_bare = subject[0].is_name or subject[0].text in _PRONOUNS
        is_count, is_what = word == "how many" and not front[-1].asks, word == "what" and len(front) == 1
        one = is_count and not order.plural.search(verbs[0].source)
        is_asked = not ((is_bare and order.bare_subject) or (one and has_name) or is_what)
        # "how many rooms has the house", "which house has a garden"
        if len(verbs) == 1 and verbs[0].is_helper:
            is_asked = not (verbs[0].text in _HAVE and has_name)
    if is_asked:
        return [*front, *_finite(verbs), *_genitives([*subject, *objects], order)]
    if front[0].is_preposition:  # "from which year does it come", without another "from"
        verbs = [replace(verb, text=verb.text.removesuffix(f" {front[0].text}")) for verb in verbs]
    return [*front, *_inverted(verbs, _genitives(subject, order)), *_genitives(objects, order)]


def _yes_no(clause: list[_Token], order: _Order) -> list[_Token]:
    verb = _first_verb(clause)
    if verb is None or clause[0].text in ("name", "list", "show", "tell"):
        return _genitives(clause, order)
    before, rest = clause[:verb], clause[verb:]
    verbs, rest = _gathered(rest)
    subject, objects = (before, rest) if before else _subject(rest, order)
    return [*_inverted(verbs, _genitives(subject, order)), *_genitives(objects, order)]


def _gathered(tokens: Sequence[_Token]) -> tuple[list[_Token], list[_Token]]:
    """The verbs at the beginning and the end of a clause, and what is between them."""
    first = _verbs(tokens)
    last = len(tokens) - _verbs(tokens[first:], last=True)
    return [*tokens[:first], *tokens[last:]], list(tokens[first:last])


def _subject(tokens: Sequence[_Token], order: _Order) -> tuple[list[_Token], list[_Token]]:
    """The subject among what follows the verb, and the rest: the first noun phrase without a preposition, or a later
    one with a name or an article where it has none."""
    at, found = 0, []
    while at < len(tokens):
        start = at + tokens[at].is_preposition
        end = start + _noun_phrase(tokens[start:], order)
        if end == at:
            break
        if start == at:
            found.append((at, end))
        at = end
    named = [span for span in found if any(token.is_name for token in tokens[slice(*span)])]
    people = [span for span in found if tokens[span[0]].text in _PRONOUNS]
    definite = [span for span in found if tokens[span[0]].is_article]
    start, end = [*people, *named, *definite, *found, (0, 0)][0]
    return list(tokens[start:end]), [*tokens[:start], *tokens[end:]]


def _relative(clause: list[_Token], order: _Order) -> list[_Token]:
    """A relative clause: its subject, if it is not the pronoun, comes before its verb."""
    start = 1 + clause[0].is_preposition
    pronoun = clause[start - 1]
    text = (
        pronoun.text if pronoun.text in ("where", "whose", "of which") else "which" if start > 1 else "that"
    )
    front, rest = [*clause[: start - 1], _Token(text, pronoun.source)], clause[start:]
    tail: list[_Token] = []
    if "," in (texts := [token.text for token in rest]):
        at = texts.index(",")
        rest, tail = rest[:at], rest[at:]
    if order.verb_final:
        count = _verbs(rest, last=True)
        verbs, rest = rest[len(rest) - count :], rest[: len(rest) - count]
        verbs = sorted(verbs, key=lambda token: not token.is_helper)
    else:
        count = _verbs(rest)
        verbs, rest = rest[:count], rest[count:]
    size = _noun_phrase(rest, order)
    if (
        size
        and (start > 1 or text == "where" or rest[0].is_name or rest[0].text in _PRONOUNS)
        and pronoun.source not in order.relative_subject
    ):
        front, rest = [*front, *rest[:size]], rest[size:]
    return [*front, *_finite(verbs), *_genitives(rest, order), *tail]


def _finite(verbs: Sequence[_Token]) -> list[_Token]:
    """Verbs after their subject: the first is in the third person, what follows a helper is a participle."""
    return [_inflected(verb, verbs[:n]) for n, verb in enumerate(verbs)]


def _inverted(verbs: Sequence[_Token], subject: Sequence[_Token]) -> list[_Token]:
    """Verbs around their subject, the helper first."""
    is_singular = [token.text for token in subject] not in [
        [word] for word in _PRONOUNS - {"he", "she", "it"}
    ]
    helper, others = [_Token("does" if is_singular else "do", "")], list(verbs)
    if verbs[0].is_helper and (len(verbs) > 1 or verbs[0].text not in _HAVE):
        helper, others = [verbs[0]], list(verbs[1:])
    elif verbs[0].text.startswith("be "):
        helper = [_Token("is", "")]
        others = [replace(verbs[0], text=verbs[0].text[3:], is_verb=False), *verbs[1:]]
    elif verbs[0].text in _HAVE:
        others = [replace(verbs[0], text="have", is_verb=False), *verbs[1:]]
    said = [_inflected(verb, [*helper, *others[:n]]) for n, verb in enumerate(others)]
    return [*helper, *subject, *said]


def _inflected(verb: _Token, before: Sequence[_Token]) -> _Token:
    if not verb.is_verb:
        return verb
    first, _, rest = verb.text.partition(" ")
    helpers = {token.text for token in before}
    if first == "be":
        text = rest if helpers & _BE else f"is {rest}" if not before else verb.text
        return replace(verb, text=text, is_verb=False)
    made = participle(first) if helpers & (_HAVE | _BE) else first if before else third(first)
    return replace(verb, text=f"{made} {rest}".strip(), is_verb=False)


def _genitives(tokens: Sequence[_Token], order: _Order) -> list[_Token]:
    """Genitive articles after a noun say "of the"."""
    return [
        _Token("of the", token.source)
        if token.source in order.genitive and n and tokens[n - 1].is_noun and not tokens[n - 1].is_name
        else token
        for n, token in enumerate(tokens)
    ]
