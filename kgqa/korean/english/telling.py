"""Clauses that tell something, in English order: who does what with what, where and when."""

from __future__ import annotations

from kgqa.korean.english.nouns import Nouns, is_animal
from kgqa.korean.english.pieces import Piece, Said, Translate
from kgqa.korean.english.prepositions import MADE, preposition
from kgqa.korean.english.verbs import MANY, Verbs, be, finite, participle
from kgqa.korean.reading.clauses import Clause, Phrase, Predicate, Word
from kgqa.korean.reading.mending import LONE
from kgqa.korean.reading.roles import PLACES, THERE, Roles, is_time, without_last, words_of
from kgqa.korean.words.lexicon import group, lexicon, table
from kgqa.korean.words.numerals import number
from kgqa.text.synthesis.inflection import gerund, is_plural, plural

ASKING_ADVERBS = table("asking_adverbs")
_PREPOSITIONS = frozenset(
    ["into", "by", "to", "of", "with", "on", "from", "at", "for", "over", "in", "after"]
)
_OF_THINGS = group("of_things")
"""What is done to things: what such a verb modifies is what it is done to."""
_ENOUGH = group("enough")
_OPENING = frozenset(["그래서", "하지만", "그런데", "그러나", "그리고"])
_OWN = {"I": "my", "we": "our", "he": "his", "she": "her", "they": "their", "you": "your"}


class Telling:
    """Says the clauses of a text."""

    def __init__(self, text: str, translate: Translate, said: Said) -> None:
        self.said = said
        self.words = lexicon()
        self.nouns = Nouns(text, translate, said, self._modifiers)
        self.verbs = Verbs(text, translate, said)
        self.noun = self.nouns.noun

    def clause(self, clause: Clause, shared: bool = False, of: Phrase | None = None) -> list[Piece]:
        """A clause in English order; `shared`: about the subject of the one before, or `of` a noun."""
        self.said.beside = frozenset(words_of(clause))
        roles = self.roles(clause)
        predicate = clause.predicate
        if predicate is None:
            parts = [*roles.subjects, *roles.topics, *roles.objects, *roles.bare]
            return [piece for p in parts for piece in self.noun(p)] + self.rest(roles, clause, None)
        verb, roles = self.verbs.verb(clause, roles)
        if roles.there:
            return self.there(roles, predicate, clause)
        subject, verb = self._subject_of(verb, predicate, roles, shared)
        if not (roles.subjects or roles.topics) and clause.adverbs and clause.adverbs[0].form == "모두":
            everybody = clause.adverbs.pop(0)
            subject = [Piece("everybody", everybody.start, everybody.end)]
        silent = ("they" if of.plural else "it") if of else self.said.silent
        person = subject[-1].text if subject else silent
        person = self.said.agrees if shared and not subject and self.said.agrees else person
        many = self.many(roles, person)
        if verb.startswith("be "):
            enough = [a for a in clause.adverbs if a.form in _ENOUGH]
            clause.adverbs = [a for a in clause.adverbs if a not in enough]
            verb = " ".join(["be", *filter(None, map(self._adverb, enough)), verb[3:]])
        verb = verb.replace("one's", _OWN.get(self.said.subject, "my"))
        opening = [a for a in clause.adverbs if a.tag == "MAJ" or a.form in _OPENING]
        clause.adverbs = [a for a in clause.adverbs if a not in opening]
        first = [Piece(e, a.start, a.end) for a in opening if (e := self._adverb(a))]
        objects = self.objects(roles)
        verb = verb if objects else alone(verb)
        if objects and len(roles.objects) == 1:
            self.said.things[predicate.form] = _named_before(objects)
        said = [*first, *subject, *finite(verb, predicate, many, person), *objects]
        return said + self.rest(roles, clause, verb)

    def roles(self, clause: Clause) -> Roles:
        """The roles of a clause; a thing that is spoken of, and that things are done to, is the object."""
        roles = Roles.of(clause)
        predicate = clause.predicate
        if not roles.topics or roles.subjects or roles.objects or roles.bare or predicate is None:
            return roles
        if predicate.form not in _OF_THINGS or predicate.form in MADE or predicate.helped:
            return roles
        about = roles.topics[0]
        spoken_of = about.nouns and about.particles[-1:] in (("은",), ("는",)) and not about.silent
        if spoken_of and not self.nouns.pronoun(about) and not is_animal(about):
            roles.objects.append(roles.topics.pop(0))
        return roles

    def bare(self, clause: Clause) -> list[Piece]:
        """A clause without subject and tense: to "plant flowers"."""
        self.said.beside = frozenset(words_of(clause))
        verb, roles = self.verbs.verb(clause, Roles.of(clause))
        predicate = clause.predicate
        assert predicate is not None
        return [
            Piece(verb, predicate.start, predicate.end),
            *self.objects(roles),
            *self.rest(roles, clause, verb),
        ]

    def there(self, roles: Roles, predicate: Predicate, clause: Clause) -> list[Piece]:
        """What there is somewhere: existence, and how many."""
        thing = roles.there[0]
        said = self.noun(thing, False)
        many = thing.plural or bool(roles.count) or is_plural(said[-1].text)
        exists = be(predicate.past, many, "it")
        spot = (predicate.start, predicate.end)
        count = [self._number(roles.count)] if roles.count else []
        nothing = " no" if predicate.negative else THERE.get(predicate.form, "")
        said = [
            _many_of(p, roles.count) if roles.count else p
            for p in self.noun(thing, not count and not nothing)
        ]
        if nothing in (" many", " a lot of", " few"):
            exists = be(predicate.past, True, "it")
            said = [Piece(plural(p.text), p.start, p.end) for p in self.noun(thing, False)]
        return [Piece(f"there {exists}{nothing}", *spot), *count, *said, *self.rest(roles, clause, "be")]

    def _subject_of(
        self, verb: str, predicate: Predicate, roles: Roles, shared: bool
    ) -> tuple[list[Piece], str]:
        """The subject, which some predicates have of their own ("it rains"), and the verb."""
        own, colon, rest = verb.partition(":")
        if colon:
            return [Piece(own, predicate.start, predicate.end)], rest
        silent = not (roles.subjects or roles.topics)
        paid = [p for p in roles.subjects if p.counter is not None and p.counter.form in ("원", "달러")]
        if predicate.form == "들다" and paid:
            verb = "cost"
        if verb == "cost" and paid or verb == "take" and predicate.form == "걸리다":
            roles.objects += roles.subjects
            roles.subjects = []
            return [Piece("it")], verb
        if silent and predicate.tag == "VCP" and not shared and self.said.subject not in ("he", "she"):
            return [Piece("it")], verb
        return self.subject(roles, shared), verb

    def subject(self, roles: Roles, shared: bool) -> list[Piece]:
        chosen = roles.subjects or roles.topics
        if not chosen:
            return [] if shared else [Piece(self.said.silent)]
        if chosen[0].silent:
            return [Piece(self.nouns.pronoun(chosen[0]) or "it")]
        said = self.noun(chosen[0], subject=True)
        if roles.count is not None and not roles.objects:
            said = [
                *self.nouns.number(roles.count),
                *(_many_of(p, roles.count) for p in self.noun(chosen[0], False)),
            ]
        pronoun = self.nouns.pronoun(chosen[0])
        animal = is_animal(chosen[0])
        self.said.near = pronoun or ("it" if animal else self.said.near)
        self.said.subject = pronoun or self.said.subject
        self.said.agrees = pronoun or ("they" if is_plural(said[-1].text) else "it")
        return said

    def many(self, roles: Roles, person: str) -> bool:
        chosen = next(iter(roles.subjects or roles.topics), None)
        if chosen is None:
            return person in MANY
        return chosen.plural or chosen.joined is not None or person in MANY or is_plural(person)

    def objects(self, roles: Roles) -> list[Piece]:
        said: list[Piece] = []
        if roles.complement is not None:
            said += self.noun(roles.complement)
        for phrase in roles.objects:
            if roles.count is not None and phrase is roles.objects[0]:
                said += self._count(roles.count)
                said += [_many_of(p, roles.count) for p in self.noun(phrase, False)]
            else:
                said += self.noun(phrase)
        for phrase in roles.bare:
            said += self.noun(phrase)
        return said

    def _count(self, count: Phrase) -> list[Piece]:
        """How many of what is named: "two", not "two books", of comic books."""
        first, *unit = self.nouns.number(count)
        of_things = unit and unit[0].text in ("books", "people", "animals")
        return [self._number(count)] if of_things else [first, *unit]

    def _number(self, count: Phrase) -> Piece:
        """A number alone; it stands for its counter too: 스물네 명."""
        return self.nouns.number(count)[0]._replace(end=count.end)

    def rest(self, roles: Roles, clause: Clause, verb: str | None) -> list[Piece]:
        said: list[Piece] = []
        predicate = clause.predicate
        for adverb in clause.adverbs:
            if adverb.form in ASKING_ADVERBS:
                continue
            english = self._adverb(adverb)
            if english:
                said.append(Piece(english, adverb.start, adverb.end))
        if any("까지" in p.particles for p in roles.adverbials):
            for phrase in roles.adverbials:
                if phrase.particle == "에서":
                    phrase.particles = ("부터",)
        governs = (verb or "").rpartition(" ")[2] in _PREPOSITIONS
        for phrase in reversed(roles.adverbials):
            first, *more = self.adverbial(phrase, predicate)
            held = governs and first.text in _PREPOSITIONS and not roles.objects
            held = held and "에서" not in phrase.particles
            if verb and first.text.startswith(verb.rpartition(" ")[2] + " ") and " " in verb:  # go out out of
                first = first._replace(text=first.text.partition(" ")[2])
            said += more if held else [first, *more]
        return said

    def _adverb(self, adverb: Word) -> str:
        english = self.words.adverbs.get(adverb.form)
        if english is not None:
            return "" if english == "-" else english
        if adverb.form in LONE:
            return self.words.noun(adverb.form, ()) or ""
        if adverb.tag.endswith("다"):
            found = self.words.predicate(adverb.tag, True, ())
            return _adverb_of(found.removeprefix("be ")) if found else ""
        return ""

    def adverbial(self, phrase: Phrase, predicate: Predicate | None) -> list[Piece]:
        """A phrase with the preposition that its particle stands for."""
        last = phrase.nouns[-1] if phrase.nouns else None
        if is_time(phrase) and not phrase.clauses and not phrase.owner:
            return self.nouns.time(phrase)
        of_something = len(phrase.nouns) > 1 or phrase.owner or phrase.clauses
        if last is not None and last.form in PLACES and of_something:
            owner = phrase.owner if len(phrase.nouns) == 1 else None
            if inner := self.noun(owner or without_last(phrase)):
                return [Piece(PLACES[last.form], last.start, last.end), *inner]
        if last is not None and last.form == "때문":
            cause = phrase.owner or without_last(phrase)
            return [Piece("because of", last.start, last.end), *self.noun(cause)]
        governed = preposition(phrase, predicate)
        mark = Piece(governed, phrase.end - 1, phrase.end) if governed else Piece("")
        if phrase.each:
            return [mark, *self.noun(phrase), Piece("at a time")]
        return [mark, *self.noun(phrase, article=governed != "every")]

    def _modifiers(self, phrase: Phrase) -> tuple[list[Piece], list[Piece]]:
        """What clauses put before a noun (adjectives) and after it ("that ...")."""
        before: list[Piece] = []
        after: list[Piece] = []
        for clause in phrase.clauses:
            predicate = clause.predicate
            if predicate is None:
                continue
            one = len(clause.phrases) == 1 and "JKS" in clause.phrases[0].cases
            verb, left = (
                self.verbs.verb(clause, Roles.of(clause)) if one or not clause.phrases else ("", None)
            )
            if left is not None and not any(left.groups()) and not left.there and not predicate.negative:
                adverbs = [Piece(e, a.start, a.end) for a in clause.adverbs if (e := self._adverb(a))]
                if verb.startswith(("be ", "become ")):
                    verb = "be " + verb.partition(" ")[2]
                    before += [*adverbs, Piece(verb[3:], predicate.start, predicate.end)]
                    continue
                if not adverbs and " " not in verb:
                    form = participle(verb) if predicate.past else gerund(verb)
                    before.append(Piece(form, predicate.start, predicate.end))
                    continue
            roles = Roles.of(clause)
            own = bool(roles.subjects or roles.topics)
            subject, beside, near = self.said.subject, self.said.beside, self.said.near
            if predicate.modal == "to":
                after += [Piece("to", predicate.start, predicate.end), *self.bare(clause)]
                self.said.beside = beside
                continue
            gap = not own and not roles.objects and predicate.form in _OF_THINGS
            said = self.clause(clause, shared=not own and not gap, of=None if own or gap else phrase)
            self.said.subject, self.said.beside, self.said.near = subject, beside, near
            after += [Piece("that"), *said]
        return before, after


def alone(verb: str) -> str:
    """A verb without the preposition of an object that is not said: wait, not wait for."""
    first, _, last = verb.rpartition(" ")
    held = first in ("wait", "look", "listen", "look after") and last in ("for", "at", "to")
    return first if held else verb


def _many_of(thing: Piece, count: Phrase) -> Piece:
    """A thing in the number that it is counted with."""
    one = count.number is not None and number(count.number.form) == 1
    return thing if one else thing._replace(text=plural(thing.text))


def _named_before(pieces: list[Piece]) -> str:
    """How a thing is called that has been named."""
    words = ""
    for piece in pieces:
        if piece.text in ("that", "to", "of"):  # what follows tells it apart the first time
            break
        words = f"{words} {piece.text}".strip()
    first, _, rest = words.partition(" ")
    return f"the {rest}" if first in ("a", "an") else words


def _adverb_of(adjective: str) -> str:
    if adjective in ("long", "fast", "hard", "high", "low", "late", "early", "well", "straight"):
        return adjective
    if adjective.endswith("y"):
        return adjective[:-1] + "ily"
    return adjective[:-1] + "y" if adjective.endswith("le") else adjective + "ly"
