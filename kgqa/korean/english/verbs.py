"""Translates Korean predicates, by dictionary, graph and context, and inflects them."""

from __future__ import annotations

from kgqa.data.synthetic.inflection import gerund, past, plural, third
from kgqa.korean.english.nouns import MADE, Piece, Said, Translate
from kgqa.korean.reading.clauses import FELT, Clause, Phrase, Predicate, Roles
from kgqa.korean.words import lexicon, romanise

_PARTICIPLES = {
    "break": "broken", "write": "written", "eat": "eaten", "take": "taken", "give": "given", "see": "seen",
    "do": "done", "steal": "stolen", "choose": "chosen", "draw": "drawn", "tear": "torn", "wear": "worn",
    "throw": "thrown", "know": "known", "freeze": "frozen", "hide": "hidden", "drive": "driven",
}  # fmt: skip
_SMALL = frozenset(("up", "out", "off", "down", "on", "in", "over"))
_LOOSE = frozenset(("it", "your", "one's", "someone", "something", "sth", "and", "or", "yourself"))
"""Placeholder words in the label of an action."""
MANY = frozenset(("we", "they", "you"))


class Verbs:
    """Translates the predicates of a text."""

    def __init__(self, text: str, translate: Translate, said: Said) -> None:
        self.text, self.translate, self.said = text, translate, said
        self.words = lexicon()

    def verb(self, clause: Clause, roles: Roles) -> tuple[str, Roles]:
        """The predicate in English, and the roles without the phrases that it has absorbed."""
        predicate = clause.predicate
        assert predicate is not None
        if predicate.form == "어떻다":
            return "be how", roles
        if predicate.tag in ("VCP", "VCN"):
            return "be", roles
        beside = self.said.beside
        phrase, english = self._phrase_before(clause, predicate)
        if phrase is not None:
            roles.remove(phrase)
            if phrase is clause.phrases[-1]:
                predicate.start = min(predicate.start, phrase.start)
            if ":" not in english:  # it rains
                self.said.deeds[predicate.form] = english
            if (english, predicate.form) == ("like", "들다"):  # in Korean the thing liked is the subject
                roles.subjects, roles.objects = roles.objects, roles.subjects
            elif "JKS" in phrase.cases and roles.objects and "JX" in roles.objects[0].cases:
                roles.topics.insert(0, roles.objects.pop(0))  # 현우는 배탈이 나다
            return english, roles
        if deed := self._deed(clause, predicate, roles):
            return deed, roles
        felt = FELT.get(predicate.form)
        if felt and roles.settle_felt(predicate.form):
            return felt, roles
        known = self.words.predicate(predicate.helped, False, beside)
        found = known or self.words.predicate(predicate.form, predicate.tag == "VA", beside)
        usual = self.words.predicate(predicate.form, predicate.tag == "VA", ())
        if found is not None and found == usual:
            found = self.said.verbs.get(predicate.form, found)
            if not (roles.objects or roles.bare):
                found = self.said.deeds.get(predicate.form, found)
        elif found is not None:
            self.said.verbs[predicate.form] = found
        if predicate.form == "하다" and not roles.objects and not roles.bare:
            found = "be"
        made = [p for p in roles.adverbials if p.particle in ("으로", "로")]
        if predicate.form in MADE and made and roles.topics and not roles.subjects and not roles.objects:
            found = "be made"
        if found is None:
            phrase, english = self._concept_before(clause, predicate)
            if phrase is not None:
                roles.remove(phrase)
                return english, roles
            found = self.translate(predicate.form) or self._made_verb(predicate)
        if predicate.helped.endswith("지다") and not known and not predicate.becoming:
            first, _, rest = found.partition(" ")
            found = f"be {participle(first)} {rest}".strip()
        if predicate.becoming and found.startswith("be "):
            found = "become" + found[2:]
        return found, roles

    def _made_verb(self, predicate: Predicate) -> str:
        """A verb that is not in the dictionary: the English of its noun (before 하다, 되다), or the romanized stem."""
        noun = predicate.form[:-2] if predicate.form.endswith(("하다", "되다")) else ""
        if noun:
            return (self.words.noun(noun, self.said.beside) or self.translate(noun) or romanise(noun)).lower()
        return romanise(predicate.form[:-1])

    def _phrase_before(self, clause: Clause, predicate: Predicate) -> tuple[Phrase | None, str]:
        """The phrase that forms one expression with the predicate, and its translation."""
        for phrase in reversed(clause.phrases):
            if not phrase.is_mere_noun:
                continue
            noun = self.text[phrase.nouns[0].start : phrase.nouns[-1].end]
            for particle in _particles(phrase):
                if english := self.words.phrases.get(f"{noun}{particle} {predicate.form}"):
                    return phrase, english
        return None, ""

    def _deed(self, clause: Clause, predicate: Predicate, roles: Roles) -> str:
        """The verb of the graph's concept for a predicate with its object; the object keeps its own translation."""
        if len(roles.objects) != 1 or roles.objects[0] not in clause.phrases or predicate.helped:
            return ""
        phrase = roles.objects[0]
        if not phrase.is_mere_noun or phrase.plural or roles.count:
            return ""
        noun = self.text[phrase.nouns[0].start : phrase.nouns[-1].end]
        known = self.translate(f"{noun}{_particles(phrase)[0]} {predicate.form}") or predicate.form
        verb, *rest = known.split()
        if rest and rest[0] in _SMALL:
            verb, rest = f"{verb} {rest[0]}", rest[1:]
        if not rest or _LOOSE.intersection(rest):
            return ""
        usual = self.words.predicate(predicate.form, predicate.tag == "VA", self.said.beside) or ""
        thing = self.words.noun(noun, self.said.beside) or self.translate(noun) or ""
        last = thing.rpartition(" ")[2]
        same = rest[-1] == last or plural(rest[-1]) == plural(last)
        verbs_agree = verb.partition(" ")[0] == usual.partition(" ")[0]
        if (usual and not verbs_agree) or (not same and (not verbs_agree or len(rest) > 2)):
            return ""  # another action that happens to have the same label
        phrase.said = " ".join(rest)
        if " " not in verb and predicate.form not in ("가다", "오다", "하다"):
            self.said.verbs[predicate.form] = verb
        return verb

    def _concept_before(self, clause: Clause, predicate: Predicate) -> tuple[Phrase | None, str]:
        """The phrase that, with a predicate missing from the dictionary, is a concept of the graph."""
        last = clause.phrases[-1] if clause.phrases else None
        if last is None or not last.is_mere_noun or not last.cases & {"JKO", "JKB"}:
            return None, ""
        noun = self.text[last.nouns[0].start : last.nouns[-1].end]
        for particle in _particles(last):
            if english := self.translate(f"{noun}{particle} {predicate.form}"):
                return last, english
        return None, ""


def finite(verb: str, predicate: Predicate, many: bool, person: str) -> list[Piece]:
    """The verb with its tense, negation and auxiliaries."""
    first, _, rest = verb.partition(" ")
    spot = (predicate.start, predicate.end)
    negative = predicate.negative and person != "nobody"
    if first == "not":
        negative, (first, _, rest) = not negative, rest.partition(" ")
    if predicate.modal == "to":
        predicate.modal = ""
    if predicate.modal == "can":
        helper = "could" if predicate.past else "can"
        return [Piece(helper + (" not" if negative else ""), *spot), Piece(f"{first} {rest}".strip(), *spot)]
    if predicate.modal:
        modal, _, to = predicate.modal.partition(" ")
        rest, first = f"{to} {first} {rest}".strip(), modal
    if first == "be":
        said = be(predicate.past, many, person) + (" not" if negative else "")
        return [Piece(f"{said} {rest}".strip(), *spot)]
    if predicate.lasting:
        helper = be(predicate.past, many, person) + (" not" if negative else "")
        return [Piece(f"{helper} {gerund(first)} {rest}".strip(), *spot)]
    if negative:
        return [Piece(f"{do(predicate.past, many, person)} not {first} {rest}".strip(), *spot)]
    if predicate.past:
        first = past(first)
    elif not many and person not in ("I", "we", "you", "they"):
        first = third(first)
    return [Piece(f"{first} {rest}".strip(), *spot)]


def _particles(phrase: Phrase) -> tuple[str, ...]:
    """The particles under which the dictionary may list a phrase."""
    closed = (ord(phrase.last[-1]) - ord("가")) % 28 if phrase.nouns else 0
    if phrase.cases & {"JKB"}:
        return phrase.particles[:1]
    return ("을", "이") if closed else ("를", "가")


def be(in_past: bool, many: bool, person: str) -> str:
    """The form of "be" for a pronoun, or for one or many others."""
    if in_past:
        return "were" if many and person != "I" else "was"
    return "am" if person == "I" else "are" if many else "is"


def do(in_past: bool, many: bool, person: str) -> str:
    """The form of "do" for a pronoun, or for one or many others."""
    if in_past:
        return "did"
    return "do" if many or person in ("I", "we", "you", "they") else "does"


def participle(verb: str) -> str:
    """The past participle of a verb; its past form if no other is known."""
    return _PARTICIPLES.get(verb) or past(verb)
