"""Korean morphemes to clauses: who does what with which particle, and how one clause goes on to the next.

A shallow parse by the order of morphemes alone: particles end noun phrases, endings end clauses, and a clause before a
noun modifies it. What no rule knows is left where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgqa.graph.linking.morphology import Morpheme, morphemes
from kgqa.graph.linking.person_names import korean_names
from kgqa.korean.reading.clauses import Clause, Phrase, Predicate, Sentence, Word
from kgqa.korean.reading.endings import Endings
from kgqa.korean.reading.mending import BEGINS, LONE, NOUNS, mended
from kgqa.korean.reading.roles import is_time
from kgqa.korean.reading.topics import give_back_subject, modifying, move_on, share_topics
from kgqa.korean.words.lexicon import lexicon
from kgqa.korean.words.numerals import number

MOST_OF_SENTENCE = 300
"""Morphemes; what goes on longer without a full stop is cut."""
MOST_OF_PHRASE = 60
_VERBS = frozenset(("VV", "VA", "VX", "VCN"))


def parse(text: str) -> list[Sentence]:
    """The sentences of a Korean text.

    Raises:
        InputError: the extra `ko` is not installed.
    """
    return _Parser(text, mended(morphemes(text))).sentences()


class _Parser:
    def __init__(self, text: str, found: Sequence[Morpheme]) -> None:
        self.text, self.found = text, found
        self.endings = Endings(text, found)
        self.done: list[Sentence] = []
        self._begin()

    def _begin(self) -> None:
        self.clauses: list[Clause] = []
        self.clause = Clause()
        self.modifying: list[Clause] = []
        self.joined: Phrase | None = None
        self.after_comma = False

    def sentences(self) -> list[Sentence]:
        at = begun = 0
        while at < len(self.found):
            m = self.found[at]
            if at - begun > MOST_OF_SENTENCE:
                self._end(False)
                begun = at
            if m.tag in NOUNS or m.tag in ("MM", "XPN"):
                at = self._phrase(at)
            elif (m.tag in ("XSV", "XSA") or m.form == "하") and self._adverb_before(m):
                base = self.clause.adverbs.pop()
                at = self._predicate(at, Word(base.form + m.form, base.start, m.end))
            elif m.tag in _VERBS or m.tag in ("VCP", "XSV", "XSA"):
                at = self._predicate(at, Word(m.form, m.start, m.end))
            else:
                if m.tag in ("MAG", "MAJ"):
                    self.clause.adverbs.append(_word(m))
                at += 1
                if m.tag == "SF":
                    self._end(m.form == "?")
                    begun = at
        self._end(False)
        return self.done

    def _adverb_before(self, m: Morpheme) -> bool:
        """Whether an adverb is written to a verb: 번쩍하다."""
        return bool(self.clause.adverbs) and self.clause.adverbs[-1].end == m.start

    def _end(self, question: bool) -> None:
        if self.clause.phrases or self.clause.adverbs or self.clause.predicate:
            self.clauses.append(self.clause)
        if self.clauses:
            share_topics(self.clauses)
            if self.clauses[-1].link != "is because":
                self.clauses[-1].link = ""
            self.done.append(Sentence(self.clauses, question))
        self._begin()

    def _phrase(self, at: int) -> int:
        """Read a noun phrase and its particles; what makes it a predicate is read too."""
        phrase = Phrase(clauses=self.modifying, joined=self.joined)
        self.modifying, self.joined = [], None
        for _ in range(MOST_OF_PHRASE):
            if at == len(self.found):
                break
            m = self.found[at]
            last = phrase.last
            if (last == "동안" or (last in LONE and not phrase.number)) and m.start > phrase.end:
                following = self.endings.form(at + 1), self.endings.form(at + 2)
                hour = m.tag in ("NR", "SN", "MM") and "시" in following
                if m.tag in BEGINS and not hour:
                    break
            if m.tag == "MM":
                if phrase.nouns and not phrase.number and not self._counts(at):
                    break
                if self._counts(at) or m.form == "몇":
                    self._count(phrase, m)
                else:
                    phrase.determiners.append(_word(m))
            elif m.tag in ("NR", "SN"):
                self._count(phrase, m)
            elif phrase.number and not phrase.counter and self._is_counter(m):
                phrase.counter = _word(m)
            elif m.tag == "XPN" and self.endings.tag(at + 1) in NOUNS:  # 한여름, 맨손
                noun = self.found[at + 1]
                phrase.nouns.append(Word(m.form + noun.form, m.start, noun.end, noun.tag))
                at += 1
            elif m.tag in NOUNS or m.tag == "XPN":
                phrase.nouns.append(_name(m))
            elif m.tag == "XSN":
                self._suffix(phrase, m)
            elif m.tag in ("XSV", "XSA") and phrase.nouns:
                base = phrase.nouns.pop()
                if phrase.nouns or phrase.number:
                    self.clause.phrases.append(phrase)
                else:
                    self.modifying = phrase.clauses
                return self._predicate(at, Word(base.form + m.form, base.start, m.end))
            elif m.tag == "JKG":
                phrase = Phrase(owner=phrase, joined=phrase.joined)
                assert phrase.owner is not None
                phrase.owner.joined = None
            elif self._joins(at, phrase):
                self.joined, self.after_comma = phrase, m.form == ","
                both = (
                    m.form == "," and self.endings.form(at + 1) == "그리고"
                )  # one "and" is said for the two
                return at + 1 + both
            else:
                break
            at += 1
        if self.endings.tag(at) == "VCP":
            self.clause.phrases.append(phrase)
            if self.endings.form(at + 1) == "라고" and phrase.asking:  # 뭐라고
                phrase.particles, phrase.cases = ("라고",), frozenset(("JKO",))
                return at + 2
            phrase.cases = frozenset(("VCP",))
            m = self.found[at]
            return self._predicate(at, Word("이", m.start, m.end))
        first, at = at, self.endings.past_particles(at)
        phrase.particles = tuple(m.form for m in self.found[first:at])
        phrase.cases = frozenset(m.tag for m in self.found[first:at])
        self.clause.phrases.append(phrase)
        return at

    def _joins(self, at: int, phrase: Phrase) -> bool:
        """Whether a morpheme joins a phrase to the next: 와, 하고, 그리고, a comma of a list."""
        m = self.found[at]
        if m.tag == "JC" or (m.form in ("와", "과", "하고") and m.tag == "JKB" and phrase.counter):
            return True
        return bool(phrase.nouns) and (m.form == "그리고" or (m.form == "," and self._lists(at + 1, phrase)))

    def _lists(self, at: int, first: Phrase) -> bool:
        """Whether nouns after a comma go on with a list: one is joined to the next (빵, 주스와 사과), or commas part
        three things (빵, 주스, 사과를). A time and a pronoun begin something else: 주말, 누가 빵과 주스를 샀니?"""
        begin = at
        while self.endings.tag(at) in (*NOUNS, "XSN", "SP"):
            at += 1
        if self.endings.tag(at) == "JC" or self.endings.form(at) == "그리고":
            return True
        passed = self.found[begin:at]
        three = (first.joined is not None and self.after_comma) or any(m.tag == "SP" for m in passed)
        things = [first, *(Phrase(nouns=[_word(m)]) for m in passed if m.tag != "SP")]
        return (
            three
            and len(things) > 1
            and self.endings.tag(at)[:1] in ("J", "V")
            and not any(m.tag == "NP" for m in passed)
            and not any(map(is_time, things))
        )

    @staticmethod
    def _is_counter(m: Morpheme) -> bool:
        return m.tag == "NNB" or (m.form in lexicon().counters and m.tag[0] != "J")

    def _counts(self, at: int) -> bool:
        """Whether a determiner is a number: the next word is what it counts."""
        tag, form = self.endings.tag(at + 1), self.endings.form(at + 1)
        counted = tag in ("NNB", "NR", "MM") or form in lexicon().counters
        return counted and number(self.found[at].form) is not None

    def _count(self, phrase: Phrase, m: Morpheme) -> None:
        if phrase.number is None:
            phrase.number = _word(m)
        elif phrase.counter is None:
            old = phrase.number
            phrase.number = Word(old.form + m.form, old.start, m.end)
        else:  # 두 시간 반, 일곱 시 십 분
            phrase.nouns.append(_word(m))

    def _suffix(self, phrase: Phrase, m: Morpheme) -> None:
        if m.form == "들":
            phrase.plural = True
        elif m.form == "씩":
            phrase.each = True
        elif phrase.nouns and m.form != "이":
            last = phrase.nouns[-1]
            phrase.nouns[-1] = Word(last.form + m.form, last.start, m.end, last.tag)

    def _predicate(self, at: int, base: Word) -> int:
        """Read a predicate with its endings and helping verbs, and close the clause as they say."""
        tag = self.found[at].tag
        kind = "VA" if tag in ("VA", "XSA") else "VV" if tag in ("VV", "XSV", "VX") else tag
        predicate = Predicate(base.form + "다", kind, base.start, base.end)
        for adverb in self.clause.adverbs[-1:]:
            if adverb.form in ("안", "못"):
                self.clause.adverbs.pop()
                predicate.negative = True
                predicate.modal = "can" if adverb.form == "못" else ""
        self.clause.predicate = predicate
        at, link, self.clause.ending = self.endings.read(at + 1, predicate)
        if link == "modifies":
            outer = modifying(self.clause)
            self.modifying = [*self.modifying, self.clause]
            self.clause = outer
        elif self.found[at - 1].form == "게" and (not self.clause.phrases or kind == "VA"):  # 눈을 크게 뜨다
            self.clause.predicate = None
            self.clause.adverbs.append(
                Word(self.text[base.start : predicate.end], base.start, predicate.end, predicate.form)
            )
        else:
            give_back_subject(self.clause)
            if predicate.tag == "VCN":
                predicate.negative = True
                link = link and "but"
            if predicate.done:
                link = "after"
            self.clause.link = link
            self.clauses.append(self.clause)
            self.clause = Clause()
            move_on(self.clauses[-1], self.clause)
        return at


def _name(m: Morpheme) -> Word:
    """A noun, a given name without the 이 that it is called with: 서연이."""
    if m.form.endswith("이") and m.form[:-1] in korean_names():
        return Word(m.form[:-1], m.start, m.end - 1, "NNP")
    return Word(m.form, m.start, m.end, "NNP" if m.form in korean_names() and m.tag == "NNP" else m.tag)


def _word(m: Morpheme) -> Word:
    return Word(m.form, m.start, m.end, m.tag)
