"""The endings of a predicate with its helping verbs: tense, negation, and how its clause goes on."""

from __future__ import annotations

from collections.abc import Sequence

from kgqa.graph.linking.morphology import Morpheme
from kgqa.korean.reading.clauses import Predicate
from kgqa.korean.words.lexicon import group, lexicon, table

LINKS = table("links")
"""How a clause with an ending goes on, in English; "then" joins verbs that follow each other at once."""
_DROPPED = group("dropped")
_KEPT = frozenset(["주", "드리", "가", "오", "내", "놓"])
"""Helping verbs that make one meaning with theirs."""
_AFTER_A_CLAUSE = {
    "때": "when",
    "동안": "while",
    **dict.fromkeys(("후", "뒤", "다음"), "after"),
    "전": "before",
}


class Endings:
    """The morphemes of a text, read from where a predicate ends."""

    def __init__(self, text: str, found: Sequence[Morpheme]) -> None:
        self.text, self.found = text, found

    def tag(self, at: int) -> str:
        """The tag of a morpheme, nothing after the last."""
        return self.found[at].tag if at < len(self.found) else ""

    def form(self, at: int) -> str:
        """The plain form of a morpheme, nothing after the last."""
        return self.found[at].form if at < len(self.found) else ""

    def past_particles(self, at: int) -> int:
        """Where the particles end that begin at a morpheme."""
        while self.tag(at).startswith("J"):
            at += 1
        return at

    def read(self, at: int, predicate: Predicate) -> tuple[int, str, str]:
        """Read endings from `at` into a predicate: where they end, how its clause goes on, and by which ending."""
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
        """Where the endings go on after a helping verb, or the same place where there is none."""
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
        """After a nominal ending: reasons, times, beginnings, or a deed as a noun."""
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
        """Endings after a helping noun: tense, and how the clause goes on."""
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
