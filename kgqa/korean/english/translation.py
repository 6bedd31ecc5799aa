"""Rough translation of Korean into English with character alignment.

It conveys who does what with what, enough for a reader of English, and every span of the English text maps back to
Korean words.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from kgqa.korean.english.nouns import Gloss, Piece, Said, Translate, joined
from kgqa.korean.english.statements import ASKING_ADVERBS, Asking, Telling
from kgqa.korean.reading.clauses import Clause, Roles, Sentence
from kgqa.korean.reading.parse import parse
from kgqa.korean.reading.restate import restated
from kgqa.korean.words import group

_LINKING = frozenset(("but", "or", "so that"))
_OPENING = frozenset(("because", "when", "while", "if", "although", "after", "before"))
_WITH = (("와",), ("과",), ("랑",), ("이랑",), ("하고",))
_MOVING = group("moving")
_MOVED = group("moved")
_LOSING = group("losing")


def gloss(text: str, translate: Translate, said: Said | None = None) -> Gloss:
    """A Korean text in English words; a question that follows a passage is given what was said in it."""
    writer = _Writer(text, translate, said or Said())
    return joined(piece for sentence in parse(text) for piece in writer.sentence(sentence))


class _Writer:
    """Writes the sentences of a text."""

    def __init__(self, text: str, translate: Translate, said: Said) -> None:
        self.said = said
        self.telling = Telling(text, translate, said)
        self.asking = Asking(self.telling)

    def sentence(self, sentence: Sentence) -> list[Piece]:
        """Clauses joined; a question begins with its question word."""
        sentence = restated(sentence)
        *before, last = sentence.clauses
        _inherit_tense(sentence.clauses)
        _name_speakers(sentence.clauses)
        self.said.near = ""
        self.said.asks = sentence.question
        self.said.told = self.said.told or not sentence.question
        self.said.asked_alone = not self.said.told
        asked = sentence.question and self._asks(last)
        said: list[Piece] = []
        opened: list[Piece] = []
        shared = False
        aim: list[Piece] = []
        for clause, after in pairwise(sentence.clauses):
            own, linked = self._linked(clause, after, shared)
            if linked == "to":
                aim += own
                continue
            acts = any(p.cases & {"JKS"} or p.cases == {"JX"} for p in after.phrases)
            shared = linked in ("and", "then", "but") and not acts
            (opened if asked else said).extend([*own[: _cut(own)], *aim, *own[_cut(own) :]])
            aim = []
        if last.link == "is because":
            reason = self.telling.clause(last)
            said = said if before else [Piece("it is")]
            spot = (last.predicate.start, last.predicate.end) if last.predicate else (0, 0)
            return [*said, Piece("because", *spot), *reason, Piece(".")]
        if sentence.question and last.predicate is None and not asked and last.phrases:
            *others, wanted = last.phrases
            rest = [piece for phrase in others for piece in self.telling.adverbial(phrase, None)]
            return [*said[: _cut(said)], Piece("what is"), *self.telling.noun(wanted), *rest, Piece("?")]
        tail = [Piece(","), *opened[: _cut(opened)]] if opened else []
        if asked:
            return [*self.asking.question(last), *aim, *tail, Piece("?")]
        if sentence.question and aim and last.predicate and (front := self._asked_aim(before)):
            verb, roles = self.telling.verbs.verb(last, Roles.of(last))
            inverted = self.asking.inverted(front, verb, last.predicate, roles, last, [])
            asked_with = [Piece("with")] if Piece("with", front[0].end - 1, front[0].end) in aim else []
            rest = [p for p in aim if p not in front and p.text != "with"] if asked_with else aim
            return [*inverted, *(p for p in rest if p not in front), *asked_with, *tail, Piece("?")]
        if sentence.question and last.predicate and not any(map(_asks_within, sentence.clauses)):
            return [*said, *self.asking.whether(last), *aim, Piece("?")]
        end = Piece("?" if sentence.question else ".")
        return [*said, *self.telling.clause(last, shared=shared), *aim, end]

    def _linked(self, clause: Clause, after: Clause, shared: bool) -> tuple[list[Piece], str]:
        link, predicate = clause.link, clause.predicate
        end = (predicate.start, predicate.end) if predicate else (0, 0)
        weather = any(p.last in ("비", "눈") for p in clause.phrases)
        others = any("JKS" in p.cases for p in after.phrases)
        if link == "because" and predicate and predicate.form in _MOVING and not (weather or others):
            link = "and"
        if link == "because" and self._goes_on(clause, after):
            link = "and"
            _name_first(clause, after)
        if link == "to":
            return [Piece("to", *end), *self.telling.bare(clause)], link
        said = self.telling.clause(clause, shared=shared and link not in _OPENING)
        if link in _OPENING:
            return [Piece(link, *end), *said, Piece(",")], link
        if link == "fact":
            return said, link
        comma = [Piece(",")] if link == "but" else []
        return [*said, *comma, Piece(link if link in _LINKING else "and")], link

    def _asked_aim(self, clauses: list[Clause]) -> list[Piece]:
        """The question word of a clause that says what for: 누구를 만나러 갔니 is "who did he go to meet"."""
        aims = [p for c in clauses if c.link == "to" for p in c.phrases if p.asking]
        asked = [p for p in aims if "JKO" in p.cases or p.particles[:1] in _WITH]
        return self.telling.noun(asked[0]) if asked else []

    @staticmethod
    def _goes_on(clause: Clause, after: Clause) -> bool:
        """Whether what is done to a thing is followed by what the same one does next: took it "and" left."""
        one, next_one = clause.predicate, after.predicate
        if not one or not next_one or one.tag != "VV" or one.negative:
            return False
        acts = any("JKS" in p.cases for p in after.phrases)
        done = clause.ending in ("어서", "아서") and any("JKO" in p.cases for p in clause.phrases)
        plain = next_one.tag == "VV" and not (next_one.negative or next_one.modal)
        return done and plain and not acts and next_one.form not in _MOVED and one.form not in _LOSING

    def _asks(self, clause: Clause) -> bool:
        if clause.predicate is not None and clause.predicate.form in ("어떻다", "어떠하다"):
            return True
        return any(p.asking for p in clause.phrases) or any(a.form in ASKING_ADVERBS for a in clause.adverbs)


def _asks_within(clause: Clause) -> bool:
    """Whether there is a question word in a clause or in what is part of it."""
    parts = [part for p in clause.phrases for part in (p, p.owner, p.joined) if part]
    return any(p.asking or any(map(_asks_within, p.clauses)) for p in parts) or any(
        a.form in ASKING_ADVERBS for a in clause.adverbs
    )


def _cut(pieces: list[Piece]) -> int:
    """Where a clause ends before the word or comma that joins it to the next."""
    end = len(pieces)
    while end and not pieces[end - 1].end and pieces[end - 1].text in (",", "and", "but", "so that", "or"):
        end -= 1
    return end


def _inherit_tense(clauses: list[Clause]) -> None:
    """A clause that goes on has the tense of the next: Korean marks the last one alone."""
    later = False
    for clause in reversed(clauses):
        if clause.predicate is None:
            continue
        clause.predicate.past = later = clause.predicate.past or (later and clause.link not in ("if", ""))


def _name_first(clause: Clause, after: Clause) -> None:
    """Name who acts in the first of two deeds that follow each other."""
    for place, phrase in enumerate(clause.phrases):
        if phrase.silent:
            clause.phrases[place] = replace(phrase, silent=False)
            after.phrases = [p for p in after.phrases if p.nouns != phrase.nouns]


def _name_speakers(clauses: list[Clause]) -> None:
    """Let the one who speaks be the subject of what he does: 아버지는 사십 분이 걸린다고 하셨다."""
    for clause, after in pairwise(clauses):
        quoted = clause.ending.endswith(("다고", "라고", "자고", "냐고"))
        if quoted and after.predicate and after.predicate.form in ("하다", "그러다"):
            after.predicate.form = "말하다"
            speakers = [p for p in clause.phrases if p.cases == {"JX"} and p.particles[-1] in ("은", "는")]
            if speakers and not any(p.cases & {"JX", "JKS"} for p in after.phrases):
                clause.phrases[clause.phrases.index(speakers[0])] = replace(speakers[0], silent=True)
                after.phrases.insert(0, speakers[0])
