"""Korean morphemes to clauses: who does what with which particle, and how one clause goes on to the next.

A shallow parse by the order of morphemes alone: particles end noun phrases, endings end clauses, and a clause before a
noun modifies it. What no rule knows is left where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from kgqa.graph.linking.morphology import Morpheme, morphemes
from kgqa.graph.linking.person_names import korean_names
from kgqa.korean.lexicon import group, lexicon
from kgqa.korean.numerals import number

ASKING = group("asking")
LINKS = {
    "고": "and", "며": "and", "으며": "and", "어": "then", "아": "then", "면서": "while", "으면서": "while",
    "어서": "because", "아서": "because", "으니까": "because", "니까": "because", "니": "because",
    "으니": "because", "느라": "because", "느라고": "because", "어서인지": "because", "므로": "because",
    "으므로": "because", "으려고": "to", "려고": "to", "으러": "to", "러": "to", "고자": "to", "자": "when",
    "자마자": "when", "면": "if", "으면": "if", "다면": "if", "라면": "if", "지만": "but", "으나": "but", "나": "but",
    "는데": "but", "은데": "but", "ᆫ데": "but", "도록": "so that", "게": "so that", "다가": "and", "더니": "and",
    "으려면": "to", "려면": "to",
    "어도": "although", "아도": "although", "더라도": "although", "거나": "or",
    "라": "because", "라서": "because",
}  # fmt: skip
"""How a clause with an ending goes on, in English; "then" joins verbs that follow each other at once."""
FELT = {
    "무섭다": "be afraid of", "좋다": "like", "싫다": "hate", "그립다": "miss", "부럽다": "envy", "필요하다": "need",
    "두렵다": "be afraid of", "생각나다": "remember", "없다": "not have", "있다": "have",
}  # fmt: skip
"""What somebody feels or has, said in Korean of the thing: to whom the thing is frightening, dear, there."""
_NOUNS = frozenset(["NNG", "NNP", "NNB", "NP", "NR", "SN", "SL", "SH", "XR"])
_ABOUT = frozenset(("JKS", "JX"))
_BEGINS = _NOUNS | {"MM", "XPN"}
_VERBS = frozenset(("VV", "VA", "VX", "VCN"))
_LONE = group("lone")
"""Nouns of time and manner that stand alone, without a particle."""
_DROPPED = group("dropped")
_NAMED_TIMES = group("named_times")
_LIVED_IN = group("lived_in")
_AFTER_A_CLAUSE = {
    "때": "when",
    "동안": "while",
    "후": "after",
    "뒤": "after",
    "다음": "after",
    "전": "before",
}


@dataclass(slots=True)
class Word:
    """A word in its plain form with its characters."""

    form: str
    start: int
    end: int
    tag: str = ""


@dataclass(slots=True)
class Phrase:
    """A noun phrase: its words, what stands before them, and its particles. `end` leaves the particles out."""

    nouns: list[Word] = field(default_factory=list)
    determiners: list[Word] = field(default_factory=list)
    owner: Phrase | None = None
    clauses: list[Clause] = field(default_factory=list)
    number: Word | None = None
    counter: Word | None = None
    plural: bool = False
    each: bool = False
    silent: bool = False
    """Whether a pronoun stands for it here, since the next clause says it."""
    particles: tuple[str, ...] = ()
    cases: frozenset[str] = frozenset()
    joined: Phrase | None = None
    """What comes before "and"."""
    said: str = ""
    """Its English, where a graph knows it together with its predicate."""

    @property
    def asking(self) -> str:
        """The question word in it, or nothing."""
        words = [*self.determiners, *self.nouns, *([self.number] if self.number else [])]
        return next((word.form for word in words if word.form in ASKING), "")

    @property
    def start(self) -> int:
        return min([word.start for word in self._words()], default=0)

    @property
    def end(self) -> int:
        return max([word.end for word in self._words()], default=0)

    def _words(self) -> list[Word]:
        own = [*self.determiners, *self.nouns, *(w for w in (self.number, self.counter) if w)]
        return own + (self.joined._words() if self.joined else [])


@dataclass(slots=True)
class Predicate:
    """A verb, adjective or copula in dictionary form with what its endings say."""

    form: str
    tag: str
    start: int
    end: int
    past: bool = False
    negative: bool = False
    lasting: bool = False
    becoming: bool = False
    done: bool = False
    """Whether it is over before the next begins."""
    modal: str = ""
    helped: str = ""
    """The verb together with one that helps it, such as 보여주다, or 만들어지다."""


@dataclass(slots=True)
class Clause:
    """A predicate with its noun phrases and adverbs; `link` says how it goes on, empty at the end of a sentence."""

    phrases: list[Phrase] = field(default_factory=list)
    adverbs: list[Word] = field(default_factory=list)
    predicate: Predicate | None = None
    link: str = ""
    ending: str = ""
    """The ending that joins it to the next."""


@dataclass(slots=True)
class Sentence:
    """Clauses in order, and whether they ask."""

    clauses: list[Clause]
    question: bool


def parse(text: str) -> list[Sentence]:
    """The sentences of a Korean text."""
    return _Parser(text, _mended(morphemes(text))).sentences()


def _mended(found: Sequence[Morpheme]) -> list[Morpheme]:
    """Morphemes with what an analyser takes for a verb: 나는 at a beginning (I), 지난 before a time (last)."""
    mended: list[Morpheme] = []
    at = 0
    while at < len(found):
        m, after = found[at], found[at + 1] if at + 1 < len(found) else None
        begins = not mended or mended[-1].tag in ("EC", "SF", "SP", "MAJ")
        noun_follows = at + 2 < len(found) and found[at + 2].tag in _BEGINS | {"MAG"}
        if after is not None and m.tag == "VV" and after.tag == "ETM" and noun_follows:
            if m.form == "나" and after.form == "는" and begins:
                mended += [m._replace(tag="NP"), after._replace(tag="JX")]
                at += 2
                continue
            bought = bool(mended) and mended[-1].tag == "JKO"
            if m.form == "사" and after.form == "는" and found[at + 2].form in _LIVED_IN and not bought:
                m = m._replace(form="살")
            lone = not mended or not mended[-1].tag.startswith("J") or mended[-1].tag == "JX"
            if m.form == "지나" and after.form == "ᆫ" and lone and _is_named_time(found[at + 2].form):
                mended.append(Morpheme("지난", "NNG", m.start, after.end))
                at += 2
                continue
        if mended and mended[-1].end == m.start and mended[-1].form + m.form in _LONE:  # 밤사이
            mended[-1] = mended[-1]._replace(form=mended[-1].form + m.form, end=m.end)
            at += 1
            continue
        if m.tag == "JKB" and m.form == "ᆯ로":  # 뭘로
            m = m._replace(form="으로")
        mended.append(m)
        at += 1
    return mended


def _is_named_time(noun: str) -> bool:
    return noun.endswith("요일") or noun in _NAMED_TIMES


class _Parser:
    def __init__(self, text: str, found: Sequence[Morpheme]) -> None:
        self.text, self.found = text, found
        self.done: list[Sentence] = []
        self._begin()

    def _begin(self) -> None:
        self.clauses: list[Clause] = []
        self.clause = Clause()
        self.modifying: list[Clause] = []
        self.joined: Phrase | None = None

    def sentences(self) -> list[Sentence]:
        at = 0
        while at < len(self.found):
            m = self.found[at]
            if m.tag in _NOUNS or m.tag in ("MM", "XPN"):
                at = self._phrase(at)
            elif (m.tag in ("XSV", "XSA") or m.form == "하") and self._adverb_before(m):
                base = self.clause.adverbs.pop()
                at = self._predicate(at, Word(base.form + m.form, base.start, m.end))
            elif m.tag in _VERBS or m.tag in ("VCP", "XSV", "XSA"):
                at = self._predicate(at, Word(m.form, m.start, m.end))
            else:
                if m.tag in ("MAG", "MAJ"):
                    self.clause.adverbs.append(_word(m))
                elif m.tag == "SF":
                    self._end(m.form == "?")
                at += 1
        self._end(False)
        return self.done

    def _adverb_before(self, m: Morpheme) -> bool:
        """Whether an adverb is written to a verb: 번쩍하다."""
        return bool(self.clause.adverbs) and self.clause.adverbs[-1].end == m.start

    def _end(self, question: bool) -> None:
        if self.clause.phrases or self.clause.adverbs or self.clause.predicate:
            self.clauses.append(self.clause)
        if self.clauses:
            self._share_topics()
            if self.clauses[-1].link != "is because":
                self.clauses[-1].link = ""
            self.done.append(Sentence(self.clauses, question))
        self._begin()

    def _share_topics(self) -> None:
        """Let a topic be named where it governs: 지수는 배가 고파서 먹었다 is "because he was hungry, Jisu ate"."""
        for clause, after in pairwise(self.clauses):
            if clause.link in ("", "and", "then", "fact", "but") or any(
                p.cases & _ABOUT for p in after.phrases
            ):
                continue
            subjects = [place for place, p in enumerate(clause.phrases) if "JKS" in p.cases]
            if (
                len(subjects) > 1
                and clause.predicate
                and clause.predicate.tag == "VA"
                and not self._felt(clause)
            ):
                first, second = clause.phrases[subjects[0]], clause.phrases[subjects[1]]
                one_meaning = (
                    f"{second.nouns[-1].form}{second.particles[0]} {clause.predicate.form}"
                    in lexicon().phrases
                )
                if one_meaning:  # 아기가 배가 고파서
                    clause.phrases[subjects[0]] = replace(first, silent=True)
                else:  # 손님들이 국이 맛있다며
                    del clause.phrases[subjects[0]]
                after.phrases.insert(0, first)
                continue
            for place, phrase in enumerate(clause.phrases):
                if (
                    "JX" in phrase.cases
                    and phrase.particles[-1] in ("은", "는")
                    and not phrase.cases & {"JKB", "JKO"}
                ):
                    clause.phrases[place] = replace(phrase, silent=True)
                    after.phrases.insert(0, phrase)
                    break

    def _tag(self, at: int) -> str:
        return self.found[at].tag if at < len(self.found) else ""

    def _form(self, at: int) -> str:
        return self.found[at].form if at < len(self.found) else ""

    def _phrase(self, at: int) -> int:
        """Read a noun phrase and its particles; what makes it a predicate is read too."""
        phrase = Phrase(clauses=self.modifying, joined=self.joined)
        self.modifying, self.joined = [], None
        while at < len(self.found):
            m = self.found[at]
            last = phrase.nouns[-1].form if phrase.nouns else ""
            if (last == "동안" or (last in _LONE and not phrase.number)) and m.start > phrase.end:
                hour = m.tag in ("NR", "SN", "MM") and "시" in (self._form(at + 1), self._form(at + 2))
                if m.tag in _BEGINS and not hour:
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
            elif m.tag == "XPN" and self._tag(at + 1) in _NOUNS:  # 한여름, 맨손
                noun = self.found[at + 1]
                phrase.nouns.append(Word(m.form + noun.form, m.start, noun.end, noun.tag))
                at += 1
            elif m.tag in _NOUNS or m.tag == "XPN":
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
            elif m.tag == "JC" or (m.form in ("와", "과", "하고") and m.tag == "JKB" and phrase.counter):
                self.joined = phrase
                return at + 1
            else:
                break
            at += 1
        if self._tag(at) == "VCP":
            if self._tag(at + 1) == "ETM" and phrase.nouns and phrase.nouns[-1].tag == "NNP":  # 하준이는
                phrase.particles, phrase.cases = ("는",), frozenset(("JX",))
                self.clause.phrases.append(phrase)
                return at + 2
            self.clause.phrases.append(phrase)
            if self._form(at + 1) == "라고" and phrase.asking:  # 뭐라고
                phrase.particles, phrase.cases = ("라고",), frozenset(("JKO",))
                return at + 2
            phrase.cases = frozenset(("VCP",))
            m = self.found[at]
            return self._predicate(at, Word("이", m.start, m.end))
        first = at
        while self._tag(at).startswith("J"):
            at += 1
        phrase.particles = tuple(m.form for m in self.found[first:at])
        phrase.cases = frozenset(m.tag for m in self.found[first:at])
        self.clause.phrases.append(phrase)
        return at

    @staticmethod
    def _is_counter(m: Morpheme) -> bool:
        return m.tag == "NNB" or (m.form in lexicon().counters and m.tag[0] != "J")

    def _counts(self, at: int) -> bool:
        """Whether a determiner is a number: the next word is what it counts."""
        counted = self._tag(at + 1) in ("NNB", "NR", "MM") or self._form(at + 1) in lexicon().counters
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
        at += 1
        link = ""
        while at < len(self.found):
            m, after = self.found[at], self._form(at + 1)
            predicate.end = max(predicate.end, m.end)
            if m.tag == "EP":
                predicate.past = predicate.past or m.form in ("었", "았")
                at += 1
            elif m.tag == "EC":
                helped = self._helped(at, predicate)
                if helped == at:
                    link = LINKS.get(m.form, "and")
                    self.clause.ending = m.form
                    at += 1
                    break
                at = helped
                if self._tag(at)[:1] != "E":
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
        if link == "modifies":
            self._modify()
        elif self.found[at - 1].form == "게" and (not self.clause.phrases or self._adverbial()):
            self.clause.predicate = None
            self.clause.adverbs.append(
                Word(self.text[base.start : predicate.end], base.start, predicate.end, predicate.form)
            )
        else:
            self._give_back_subject()
            if predicate.tag == "VCN":
                predicate.negative = True
                link = link and "but"
            if predicate.done:
                link = "after"
            self.clause.link = link
            self.clauses.append(self.clause)
            self.clause = Clause()
            self._move_on(self.clauses[-1])
        return at

    def _move_on(self, clause: Clause) -> None:
        """Move what a clause cannot be about to the next: who acts in order to, whose trousers are too small."""
        subject = any("JKS" in p.cases for p in clause.phrases)
        for phrase in clause.phrases[:]:
            topic = (
                "JX" in phrase.cases
                and phrase.particles[-1] in ("은", "는")
                and not phrase.cases & {"JKB", "JKO"}
            )
            if (clause.link == "to" and (topic or "JKS" in phrase.cases)) or (
                clause.link in ("because", "when", "but")
                and topic
                and subject
                and not self._felt(clause)
                and not _is_one_meaning(clause)
            ):
                clause.phrases.remove(phrase)
                self.clause.phrases.append(phrase)

    @staticmethod
    def _felt(clause: Clause) -> bool:
        return clause.predicate is not None and clause.predicate.form in FELT

    def _adverbial(self) -> bool:
        """Whether an adjective before a verb says how: 눈을 크게 뜨다."""
        return self.clause.predicate is not None and self.clause.predicate.tag == "VA"

    def _give_back_subject(self) -> None:
        """Give a clause without a subject that of a modifying clause at its beginning: 누나가 새로 산 모자를 썼다."""
        phrases = self.clause.phrases
        if not phrases or any(p.cases & {"JKS", "JX", "VCP"} for p in phrases):
            return
        clauses = phrases[0].clauses or (phrases[0].owner.clauses if phrases[0].owner else [])
        if not clauses:
            return
        inner = clauses[0]
        if len(inner.phrases) and "JKS" in inner.phrases[0].cases:
            phrases.insert(0, inner.phrases.pop(0))

    def _helped(self, at: int, predicate: Predicate) -> int:
        """Where the endings go on after a helping verb, or the same place where there is none."""
        ending = self.found[at].form
        on = at + 1
        while self._tag(on) in ("JX", "JKO"):
            on += 1
        if self._tag(on) == "MAG" and self._form(on) == "못" and ending == "지":
            predicate.negative, predicate.modal = True, "can"
            return on + 2
        helper = self._form(on)
        tried = ending in ("어", "아") and helper == "보"
        if self._tag(on) not in ("VX", "VV", "VA") or (
            self._tag(on) != "VX" and helper not in ("하", "되", "있") and not tried
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
        elif ending in ("어", "아") and helper == "지" and predicate.tag == "VA":
            predicate.becoming = True
            predicate.helped = predicate.form[:-1] + ending + "지다"
        elif ending in ("어", "아") and helper == "지":
            predicate.helped = predicate.form[:-1] + ending + "지다"
        elif helper != "보" and (self._tag(on) != "VX" or helper not in _DROPPED):
            return at
        elif ending in ("어", "아", "어다", "아다", "어다가") and helper in (
            "주",
            "드리",
            "가",
            "오",
            "내",
            "놓",
        ):
            said = self.text[predicate.start : self.found[on].start].replace(" ", "")
            predicate.helped = said + ("주" if helper == "드리" else helper) + "다"
        return on + 1

    def _before_noun(self, at: int, predicate: Predicate) -> tuple[int, str]:
        """After an ending that modifies a noun: can and may, times, reasons, or a noun of its own."""
        past = self.found[at].form in ("은", "ᆫ", "던") and predicate.tag == "VV"
        meant = self.found[at].form in ("ᆯ", "을") and predicate.tag == "VV"
        noun, on = self._form(at + 1), at + 2
        while self._tag(on).startswith("J"):
            on += 1
        if noun == "수" and self._form(on) in ("있", "없"):
            predicate.modal = "can"
            predicate.negative = self._form(on) == "없"
            return self._rest(on + 1, predicate)
        if noun in ("것", "거") and self._tag(on) == "VCP" and self.found[at].form in ("ᆯ", "을"):
            return self._rest(on + 1, predicate)
        predicate.past = predicate.past or past
        if noun in ("것", "거") and self._form(on) == "같":  # it seems that
            return self._rest(on + 1, predicate)
        if noun in ("것", "거") and self._tag(at + 2) == "JX":
            return on, "fact"
        if noun == "때문":
            return on, "because"
        if noun == "데" and not self._tag(at + 2).startswith("JKB"):
            return on, "but" if self.found[at + 1].start == self.found[at].end else "to"
        if noun in _AFTER_A_CLAUSE and (
            noun != "다음" or self._tag(at + 2) in ("JKB", "SP", "NNG", "NP", "VV")
        ):
            return on, _AFTER_A_CLAUSE[noun]
        predicate.modal = "to" if meant and not predicate.modal else predicate.modal
        return at + 1, "modifies"

    def _as_noun(self, at: int, predicate: Predicate) -> tuple[int, str]:
        """After a nominal ending: reasons, times, beginnings, or a deed as a noun."""
        on = at + 1
        while self._tag(on).startswith("J"):
            on += 1
        noun = self._form(on)
        if noun == "때문":
            if self._tag(on + 1) == "VCP":
                at, _ = self._rest(on + 2, Predicate("", "", 0, 0))
                predicate.end = max(predicate.end, self.found[at - 1].end)
                return at, "is because"
            after = on + 1 + self._tag(on + 1).startswith("J")
            predicate.end = max(predicate.end, self.found[after - 1].end)
            return after, "because"
        if noun == "전":
            return on + 1 + self._tag(on + 1).startswith("J"), "before"
        if noun == "시작" and self._form(on + 1) == "하":
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
        """Endings after a helping noun: tense, and how the clause goes on."""
        while self._tag(at).startswith("E"):
            m = self.found[at]
            predicate.end = max(predicate.end, m.end)
            predicate.past = predicate.past or m.form in ("었", "았")
            at += 1
            if m.tag == "EC":
                return at, LINKS.get(m.form, "and")
            if m.tag == "ETM":
                return at, "modifies"
        return at, ""

    def _modify(self) -> None:
        """Let the clause modify the next noun: it takes the phrases after the topic, an adjective only its subject."""
        inner, outer = self.clause, Clause()
        assert inner.predicate is not None
        adjective = inner.predicate.tag == "VA"
        kept = 0
        for place, phrase in enumerate(inner.phrases):
            topic = "JX" in phrase.cases and not phrase.cases & {"JKB", "JKO"}
            if topic or (adjective and (place + 1 < len(inner.phrases) or "JKS" not in phrase.cases)):
                kept = place + 1
        outer.phrases, inner.phrases = inner.phrases[:kept], inner.phrases[kept:]
        edge = outer.phrases[-1].end if outer.phrases else -1
        outer.adverbs = [word for word in inner.adverbs if word.start < edge]
        inner.adverbs = [word for word in inner.adverbs if word.start >= edge]
        self.clause = outer
        self.modifying = [*self.modifying, inner]


def _is_one_meaning(clause: Clause) -> bool:
    """Whether a subject and its predicate are said in one: 배가 고프다."""
    subject = next((p for p in reversed(clause.phrases) if "JKS" in p.cases and p.nouns), None)
    if subject is None or clause.predicate is None:
        return False
    return f"{subject.nouns[-1].form}{subject.particles[0]} {clause.predicate.form}" in lexicon().phrases


def _name(m: Morpheme) -> Word:
    """A noun, a given name without the 이 that it is called with: 서연이."""
    if m.form.endswith("이") and m.form[:-1] in korean_names():
        return Word(m.form[:-1], m.start, m.end - 1, "NNP")
    return Word(m.form, m.start, m.end, "NNP" if m.form in korean_names() and m.tag == "NNP" else m.tag)


def _word(m: Morpheme) -> Word:
    return Word(m.form, m.start, m.end, m.tag)
