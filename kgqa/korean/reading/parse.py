"""Korean morphemes to clauses, with what is counted in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kgqa.graph.linking.normalize import Morpheme, korean_names, morphemes
from kgqa.korean.reading.clauses import (
    Clause,
    Phrase,
    Predicate,
    Sentence,
    Word,
    give_back_subject,
    is_time,
    modifying,
    move_on,
    share_topics,
)
from kgqa.korean.words import group, lexicon, number, table
from kgqa.types import Span

# The endings of a predicate with its auxiliaries: tense, negation, and the conjunction to the next clause.

LINKS = table("links")
"""How a clause with an ending goes on, in English; "then" joins verbs that follow each other at once."""
_DROPPED = group("dropped")
_KEPT = frozenset(["주", "드리", "가", "오", "내", "놓"])
"""Auxiliaries that form one meaning with their verb."""
_AFTER_A_CLAUSE = {
    "때": "when",
    "동안": "while",
    **dict.fromkeys(("후", "뒤", "다음"), "after"),
    "전": "before",
}


class Endings:
    """Reads the endings after a predicate."""

    def __init__(self, text: str, found: Sequence[Morpheme]) -> None:
        self.text, self.found = text, found

    def tag(self, at: int) -> str:
        """The tag of a morpheme, empty after the last."""
        return self.found[at].tag if at < len(self.found) else ""

    def form(self, at: int) -> str:
        """The base form of a morpheme, empty after the last."""
        return self.found[at].form if at < len(self.found) else ""

    def past_particles(self, at: int) -> int:
        """End of the particles that start at a morpheme."""
        while self.tag(at).startswith("J"):
            at += 1
        return at

    def read(self, at: int, predicate: Predicate) -> tuple[int, str, str]:
        """Read endings from `at` into a predicate; returns their end, the conjunction, and the ending that expresses
        it."""
        link = ending = ""
        while at < len(self.found):
            m, after = self.found[at], self.form(at + 1)
            predicate.end = max(predicate.end, m.end)
            if m.tag == "EP":
                predicate.past = predicate.past or m.form in ("었", "았")
                at += 1
            elif m.tag == "EC":
                helped = self._helped(at, predicate)
                if helped == at:
                    link = LINKS.get(m.form, "and")
                    ending = m.form
                    at += 1
                    break
                at = helped
                if self.tag(at)[:1] != "E":
                    break
            elif m.tag == "ETM":
                at, link = self._before_noun(at, predicate)
                break
            elif m.tag == "ETN":
                at, link = self._as_noun(at, predicate)
                if link != "goes on":
                    break
                link = ""
            elif m.tag == "EF":
                at += 1
                break
            elif m.tag in ("JX", "JKO") and after:  # 기다리지는 않았다, 는데도
                at += 1
            else:
                break
        return at, link, ending

    def _helped(self, at: int, predicate: Predicate) -> int:
        """Position after an auxiliary, or the same position if there is none."""
        ending = self.found[at].form
        on = at + 1
        while self.tag(on) in ("JX", "JKO"):
            on += 1
        if self.tag(on) == "MAG" and self.form(on) == "못" and ending == "지":
            predicate.negative, predicate.modal = True, "can"
            return on + 2
        helper = self.form(on)
        tried = (ending, helper) in (("어", "보"), ("아", "보"), ("다", "주"))  # 갖다 주다
        carried = f"{predicate.form[:-1]}고{helper}다" if ending == "고" else ""  # 들고 가다, 두고 오다
        if carried in lexicon().verbs:
            predicate.helped = carried
            return on + 1
        if self.tag(on) not in ("VX", "VV", "VA") or (
            self.tag(on) != "VX" and helper not in ("하", "되", "있") and not tried
        ):
            return at
        if ending == "지" and helper in ("않", "못하", "말"):
            predicate.negative = True
            predicate.modal = "can" if helper == "못하" else predicate.modal
        elif ending == "고" and helper == "있":
            predicate.lasting = True
        elif ending == "고" and helper == "나":
            predicate.done = True
        elif ending == "고" and helper == "싶":
            predicate.modal = "want to"
        elif ending in ("어야", "아야") and helper in ("하", "되"):
            predicate.modal = "have to"
        elif ending in ("려고", "으려고", "려", "으려", "고자") and helper == "하":
            predicate.modal = "want to"
        elif ending in ("어", "아") and helper == "지":
            predicate.becoming = predicate.tag == "VA"
            predicate.helped = predicate.form[:-1] + ending + "지다"
        elif helper != "보" and (self.tag(on) != "VX" or helper not in _DROPPED):
            return at
        elif ending in ("어", "아", "다", "어다", "아다", "어다가") and helper in _KEPT:
            said = self.text[predicate.start : self.found[on].start].replace(" ", "")
            predicate.helped = said + ("주" if helper == "드리" else helper) + "다"
        return on + 1

    def _before_noun(self, at: int, predicate: Predicate) -> tuple[int, str]:
        """After an ending that modifies a noun: can and may, times, reasons, or a noun of its own."""
        past = self.found[at].form in ("은", "ᆫ", "던") and predicate.tag == "VV"
        meant = self.found[at].form in ("ᆯ", "을") and predicate.tag == "VV"
        noun, on = self.form(at + 1), self.past_particles(at + 2)
        if noun == "수" and self.form(on) in ("있", "없"):
            predicate.modal = "can"
            predicate.negative = self.form(on) == "없"
            return self._rest(on + 1, predicate)
        is_thing = noun in ("것", "거")
        if is_thing and self.tag(on) == "VCP" and self.found[at].form in ("ᆯ", "을"):
            return self._rest(on + 1, predicate)
        predicate.past = predicate.past or past
        if is_thing and self.form(on) == "같":  # it seems that
            return self._rest(on + 1, predicate)
        if is_thing and self.tag(at + 2) == "JX":
            return on, "fact"
        if noun == "때문":
            return on, "because"
        if noun == "데" and not self.tag(at + 2).startswith("JKB"):
            return on, "but" if self.found[at + 1].start == self.found[at].end else "to"
        if noun in _AFTER_A_CLAUSE and (
            noun != "다음" or self.tag(at + 2) in ("JKB", "SP", "NNG", "NP", "VV")
        ):
            return on, _AFTER_A_CLAUSE[noun]
        predicate.modal = "to" if meant and not predicate.modal else predicate.modal
        return at + 1, "modifies"

    def _as_noun(self, at: int, predicate: Predicate) -> tuple[int, str]:
        """After a nominal ending: reasons, times, beginnings, or an action as a noun."""
        on = self.past_particles(at + 1)
        noun = self.form(on)
        if noun == "때문":
            if self.tag(on + 1) == "VCP":
                at, _ = self._rest(on + 2, Predicate("", "", 0, 0))
                predicate.end = max(predicate.end, self.found[at - 1].end)
                return at, "is because"
            after = on + 1 + self.tag(on + 1).startswith("J")
            predicate.end = max(predicate.end, self.found[after - 1].end)
            return after, "because"
        if noun == "전":
            return on + 1 + self.tag(on + 1).startswith("J"), "before"
        if noun == "시작" and self.form(on + 1) == "하":
            predicate.modal = "begin to"
            return on + 2, "goes on"
        if noun in ("싫", "좋", "쉽", "어렵", "힘들"):
            predicate.modal = "want to" if noun in ("싫", "좋") else ""
            predicate.negative = noun == "싫"
            return on + 1, "goes on"
        if noun == "위하":
            return self._rest(on + 1, predicate)[0], "to"
        return on, "and"

    def _rest(self, at: int, predicate: Predicate) -> tuple[int, str]:
        """Endings after a bound noun: tense, and the conjunction to the next clause."""
        while self.tag(at).startswith("E"):
            m = self.found[at]
            predicate.end = max(predicate.end, m.end)
            predicate.past = predicate.past or m.form in ("었", "았")
            at += 1
            if m.tag == "EC":
                return at, LINKS.get(m.form, "and")
            if m.tag == "ETM":
                return at, "modifies"
        return at, ""


# Corrections of the morphological analyser's frequent mistakes.

NOUNS = frozenset(["NNG", "NNP", "NNB", "NP", "NR", "SN", "SL", "SH", "XR"])
BEGINS = NOUNS | {"MM", "XPN"}
"""Tags that can start a noun phrase."""
LONE = group("lone")
"""Nouns of time and manner that stand alone, without a particle."""
_NAMED_TIMES = group("named_times")
_LIVED_IN = group("lived_in")


def mended(found: Sequence[Morpheme]) -> list[Morpheme]:
    """Morphemes with the analyser's mistakes corrected, e.g. verbs: initial 나는 (I), 지난 before a time (last)."""
    mended: list[Morpheme] = []
    at = 0
    while at < len(found):
        m, after = found[at], found[at + 1] if at + 1 < len(found) else None
        begins = not mended or mended[-1].tag in ("EC", "SF", "SP", "MAJ")
        noun_follows = at + 2 < len(found) and found[at + 2].tag in BEGINS | {"MAG"}
        if after is not None and m.tag == "VV" and after.tag == "ETM" and noun_follows:
            if m.form == "나" and after.form == "는" and begins:
                mended += [m._replace(tag="NP"), after._replace(tag="JX")]
                at += 2
                continue
            bought = bool(mended) and mended[-1].tag == "JKO"
            if m.form == "사" and after.form == "는" and found[at + 2].form in _LIVED_IN and not bought:
                m = m._replace(form="살")
            lone = not mended or not mended[-1].tag.startswith("J") or mended[-1].tag == "JX"
            noun = found[at + 2].form
            is_time = noun.endswith("요일") or noun in _NAMED_TIMES
            if m.form == "지나" and after.form == "ᆫ" and lone and is_time:
                mended.append(Morpheme("지난", "NNG", m.start, after.end))
                at += 2
                continue
        if mended and (name := _called(mended[-1], m, after)):
            mended[-1] = name
            at += 1
            if after is not None and after.tag == "ETM":
                mended.append(after._replace(tag="JX"))
                at += 1
            continue
        if mended and mended[-1].end == m.start and mended[-1].form + m.form in LONE:  # 밤사이
            mended[-1] = mended[-1]._replace(form=mended[-1].form + m.form, end=m.end)
            at += 1
            continue
        if m.tag == "JKB" and m.form == "ᆯ로":  # 뭘로
            m = m._replace(form="으로")
        mended.append(m)
        at += 1
    return mended


def _called(noun: Morpheme, m: Morpheme, after: Morpheme | None) -> Morpheme | None:
    """A noun that is a given name, recognised by 이 before its particle: 하늘이는, 콩이를."""
    if noun.tag not in ("NNG", "NNP") or m.form != "이" or m.start != noun.end or after is None:
        return None
    particle = m.tag == "JKS" and after.tag[0] == "J" and after.start == m.end
    if particle or (m.tag == "VCP" and after.tag == "ETM" and after.form == "는"):
        return Morpheme(noun.form + "이", "NNP", noun.start, m.end)
    return None


# From Korean morphemes to clauses with phrases, particles and conjunctions.
#
# A shallow parse by the order of morphemes alone: particles end noun phrases, endings end clauses, and a clause before
# a noun modifies it. What no rule covers stays in place.

MAX_OF_SENTENCE = 300
"""Maximum morphemes of a sentence; longer text without a full stop is cut."""
MAX_OF_PHRASE = 60
_VERBS = frozenset(("VV", "VA", "VX", "VCN"))


def parse(text: str) -> list[Sentence]:
    """The sentences of a Korean text."""
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
            if at - begun > MAX_OF_SENTENCE:
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
        for _ in range(MAX_OF_PHRASE):
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


# Counts in a Korean text: each number with the noun that it counts.

HOW_MANY = "몇"


class Count(NamedTuple):
    """A number with its counter, and the noun that it counts."""

    number: str
    noun: str
    span: Span


def counts(text: str) -> list[Count]:
    """The numbers of a text that count something, in order; without times and dates.

    >>> [(count.number, count.noun) for count in counts("교실에 학생이 스물네 명 있었다. 사과 두 개를 샀다.")]
    [('스물네', '학생'), ('두', '사과')]
    """
    return [count for sentence in parse(text) for clause in sentence.clauses for count in _counts(clause)]


def is_of_another(span: Span, question: str, passage: str) -> bool:
    """Whether a question asks for a count that the passage states, but the span counts something else."""
    asked = next((count for count in counts(question) if count.number == HOW_MANY), None)
    if asked is None or asked.noun not in passage:
        return False
    found = [c for c in counts(passage) if c.span.start < span.end and span.start < c.span.end]
    alike = (c.noun.endswith(asked.noun) or asked.noun.endswith(c.noun) for c in found)
    return bool(found) and not any(alike)


def _counts(clause: Clause) -> Iterator[Count]:
    for at, phrase in enumerate(clause.phrases):
        part: Phrase | None = phrase
        while part is not None:
            for inner in part.clauses:
                yield from _counts(inner)
            if part.number is not None and not is_time(part):
                noun = part.last if part.nouns else _before(clause.phrases[:at])
                if noun:
                    end = part.counter.end if part.counter else part.number.end
                    yield Count(part.number.form, noun, Span(part.number.start, end))
            part = part.joined


def _before(phrases: list[Phrase]) -> str:
    """The counted noun before its number: 학생이 스물네 명, 사과를 두 개."""
    named = [p for p in phrases if p.nouns and (p.cases & {"JKS", "JKO", "JX"}) and not p.cases & {"JKB"}]
    return named[-1].nouns[-1].form if named else ""
