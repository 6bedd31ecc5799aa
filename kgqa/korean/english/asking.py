"""Clauses that ask, in English order: the question word first, the verb's helper before the subject."""

from __future__ import annotations

from dataclasses import replace

from kgqa.korean.english.idioms import idiom
from kgqa.korean.english.pieces import Piece
from kgqa.korean.english.prepositions import preposition
from kgqa.korean.english.telling import ASKING_ADVERBS, Telling, alone
from kgqa.korean.english.verbs import be, do, finite
from kgqa.korean.reading.clauses import Clause, Predicate, Word
from kgqa.korean.reading.roles import Roles, is_time, words_of
from kgqa.text.synthesis.inflection import plural

_SMALL = ("up", "out", "off", "down", "on")


class Asking:
    """Says the questions of a text with what tells its clauses."""

    def __init__(self, telling: Telling) -> None:
        self.telling, self.said = telling, telling.said
        self.nouns, self.verbs, self.noun = telling.nouns, telling.verbs, telling.noun

    def question(self, clause: Clause) -> list[Piece]:
        """A clause that asks, its question word first, the verb's helper before the subject."""
        self.said.beside = frozenset(words_of(clause))
        roles = self.telling.roles(clause)
        predicate = clause.predicate
        if predicate is None:
            return self.telling.clause(clause)
        if said := idiom(self.telling, clause, roles, predicate):
            return said
        verb, roles = self.verbs.verb(clause, roles)
        adverb = next((a for a in clause.adverbs if a.form in ASKING_ADVERBS), None)
        if verb == "be how":
            verb, adverb = "be", Word("어떻게", predicate.start, predicate.end)
            if roles.topics and roles.subjects:  # 소금은 맛이 어떠니
                roles.subjects[0] = replace(roles.subjects[0], owner=roles.topics.pop(0))
        front: list[Piece] = []
        after: list[Piece] = []
        if adverb is not None:
            front = [Piece(ASKING_ADVERBS[adverb.form], adverb.start, adverb.end)]
        elif roles.subjects and roles.subjects[0].asking:
            subject = self.noun(roles.subjects[0])
            many = bool(roles.subjects[0].number) and subject[0].text.startswith("how many")
            return [
                *subject, *finite(verb, predicate, many, ""), *self.telling.objects(roles),
                *self.telling.rest(roles, clause, verb),
            ]  # fmt: skip
        elif roles.count is not None and roles.count.asking:
            times = roles.count.counter is not None and roles.count.counter.form in ("번", "차례")
            counted = None if times else next(iter(roles.objects or roles.subjects or roles.topics), None)
            said_so = "how many times" if times else "how many"
            front = [Piece(said_so, roles.count.start, roles.count.end)]
            if counted is not None:
                front += [Piece(plural(p.text), p.start, p.end) for p in self.noun(counted, article=False)]
                acts = counted in roles.subjects
                roles.remove(counted)
            roles.count = None
            if counted is not None and acts:
                there = [Piece("there")] if verb == "be" else []
                said = [*front, *finite(verb, predicate, True, ""), *there, *self.telling.objects(roles)]
                return said + self.telling.rest(roles, clause, verb)
        elif (
            verb.startswith("be ")
            and not roles.subjects
            and not roles.topics
            and roles.objects
            and roles.objects[0].asking
        ):
            subject = self.noun(roles.objects.pop(0))
            return [*subject, *finite(verb, predicate, False, ""), *self.telling.rest(roles, clause, verb)]
        else:
            asked = next((p for group in roles.groups() for p in group if p.asking), None)
            if asked is None:
                return self.telling.clause(clause)
            roles.remove(asked)
            front = self.noun(asked)
            if asked.asking != "어디" and asked.cases & {"JKB"}:
                governed = preposition(asked, predicate)
                if asked.counter is not None or is_time(asked):
                    front = [Piece(governed), *front]
                else:
                    after = [Piece(governed)]
        wanted = adverb is None and not after
        return self.inverted(front, verb, predicate, roles, clause, after, wanted)

    def whether(self, clause: Clause) -> list[Piece]:
        """A clause that asks for yes or no, the verb's helper first."""
        self.said.beside = frozenset(words_of(clause))
        roles = self.telling.roles(clause)
        assert clause.predicate is not None
        verb, roles = self.verbs.verb(clause, roles)
        if roles.there:
            exists, *rest = self.telling.there(roles, clause.predicate, clause)
            there, be_there, *how_many = exists.text.split(" ", 2)
            return [exists._replace(text=" ".join([be_there, there, *how_many])), *rest]
        if clause.predicate.tag == "VCP" and not (roles.subjects or roles.topics):
            verb = f"it:{verb}" if self.said.subject not in ("he", "she") else verb
        return self.inverted([], verb, clause.predicate, roles, clause, [])

    def inverted(
        self,
        front: list[Piece],
        verb: str,
        predicate: Predicate,
        roles: Roles,
        clause: Clause,
        after: list[Piece],
        wanted: bool = True,
    ) -> list[Piece]:
        """`wanted`: what is asked for is what the verb governs."""
        own, colon, of_its_own = verb.partition(":")
        if colon:
            subject, verb = [Piece(own)], of_its_own
        else:
            silent = Piece(self.said.silent)
            subject = self.telling.subject(roles, False) or [silent]
        many = self.telling.many(roles, subject[-1].text)
        person = subject[-1].text
        first, _, rest = verb.partition(" ")
        spot = (predicate.start, predicate.end)
        if first == "be":
            helper = be(predicate.past, many, person)
            said = [Piece(helper, *spot), *subject, Piece(rest, *spot)]
        elif predicate.modal:
            modal, _, more = predicate.modal.partition(" ")
            if modal == "can":
                said = [Piece("could" if predicate.past else "can"), *subject, Piece(verb, *spot)]
            else:
                helper = do(predicate.past, many, person)
                said = [Piece(helper), *subject, Piece(f"{modal} {more} {verb}".replace("  ", " "), *spot)]
        else:
            said = [Piece(do(predicate.past, many, person)), *subject, Piece(verb, *spot)]
        if predicate.negative and person != "nobody":
            place = next(i for i, piece in enumerate(said) if piece in subject) + len(subject)
            said.insert(place, Piece("not"))
        objects = self.telling.objects(roles)
        if not objects and not wanted:
            said = [p._replace(text=alone(p.text)) if p.text == verb else p for p in said]
        thing = roles.topics and not self.nouns.pronoun(roles.topics[0])  # 자동차는 뭘로 움직이니
        elided = not (objects or thing) and predicate.tag == "VV" and rest in ("", *_SMALL)
        if after == [Piece("with")] and elided:
            if rest:
                said[-1] = said[-1]._replace(text=f"{first} it {rest}")
            else:
                objects = [Piece(self.said.things.get(predicate.form, "it"))]
        return [*front, *said, *objects, *self.telling.rest(roles, clause, verb), *after]
