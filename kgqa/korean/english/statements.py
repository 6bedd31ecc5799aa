"""Generates English statements and questions from clauses."""

from __future__ import annotations

from dataclasses import replace

from kgqa.data.synthetic.inflection import gerund, is_plural, plural
from kgqa.korean.english.nouns import MADE, Nouns, Piece, Said, Translate, is_animal, preposition
from kgqa.korean.english.verbs import MANY, Verbs, be, do, finite, participle
from kgqa.korean.reading.clauses import (
    PLACES,
    THERE,
    Clause,
    Phrase,
    Predicate,
    Roles,
    Word,
    is_time,
    without_last,
    words_of,
)
from kgqa.korean.reading.parse import LONE
from kgqa.korean.words import group, lexicon, number, table

# Statements in English word order: who does what with what, where and when.

ASKING_ADVERBS = table("asking_adverbs")
_PREPOSITIONS = frozenset(
    ["into", "by", "to", "of", "with", "on", "from", "at", "for", "over", "in", "after"]
)
_OF_THINGS = group("of_things")
"""Transitive verbs of things: a noun modified by such a verb is its object."""
_ENOUGH = group("enough")
_OPENING = frozenset(["그래서", "하지만", "그런데", "그러나", "그리고"])
_OWN = {"I": "my", "we": "our", "he": "his", "she": "her", "they": "their", "you": "your"}


class Telling:
    """Translates the statements of a text."""

    def __init__(self, text: str, translate: Translate, said: Said) -> None:
        self.said = said
        self.words = lexicon()
        self.nouns = Nouns(text, translate, said, self._modifiers)
        self.verbs = Verbs(text, translate, said)
        self.noun = self.nouns.noun

    def clause(self, clause: Clause, shared: bool = False, of: Phrase | None = None) -> list[Piece]:
        """A clause in English word order; `shared`: with the subject of the clause before; `of`: a relative clause of
        a noun."""
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
        """The roles of a clause; a topic that the verb acts on is the object."""
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
        """An infinitive clause: (to) "plant flowers"."""
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
        """Existential clauses ("there are"), and quantities."""
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
        """The subject (for some predicates fixed: "it rains"), and the verb."""
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
        """The number of a noun that is mentioned already: "two", not "two books", of comic books."""
        first, *unit = self.nouns.number(count)
        of_things = unit and unit[0].text in ("books", "people", "animals")
        return [self._number(count)] if of_things else [first, *unit]

    def _number(self, count: Phrase) -> Piece:
        """A number alone, aligned with number and counter: 스물네 명."""
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
        """A phrase with the preposition for its particle."""
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
        """Modifying clauses: parts before a noun (adjectives) and after it ("that ...")."""
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
    """A verb without the preposition of an omitted object: wait, not wait for."""
    first, _, last = verb.rpartition(" ")
    held = first in ("wait", "look", "listen", "look after") and last in ("for", "at", "to")
    return first if held else verb


def _many_of(thing: Piece, count: Phrase) -> Piece:
    """A noun in singular or plural by its number."""
    one = count.number is not None and number(count.number.form) == 1
    return thing if one else thing._replace(text=plural(thing.text))


def _named_before(pieces: list[Piece]) -> str:
    """The short form of a noun phrase that was mentioned before."""
    words = ""
    for piece in pieces:
        if piece.text in ("that", "to", "of"):  # the modifiers after it identify it only at the first mention
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


# Idiomatic questions: how somebody feels, what happened, how old, how long it takes.


def idiom(telling: Telling, clause: Clause, roles: Roles, predicate: Predicate) -> list[Piece]:
    """An idiomatic English question, empty if the regular form is right."""
    nouns = [p.last for p in clause.phrases if p.nouns]
    spot = (predicate.start, predicate.end)
    who = [p for p in [*roles.topics, *roles.subjects] if p.last not in ("기분", "마음")]
    asks = {a.form for a in clause.adverbs} | {p.asking for p in clause.phrases}

    def done(word: str, otherwise: str, deed: str) -> list[Piece]:
        """A question word, subject, and verb phrase."""
        subject = telling.noun(who[0], subject=True) if who else [Piece(otherwise)]
        person = subject[-1].text
        return [Piece(word), Piece(do(predicate.past, person in MANY, person)), *subject, Piece(deed, *spot)]

    if "기분" in nouns and (predicate.form in ("어떻다", "들다", "느끼다")):
        return done("how", telling.said.silent, "feel")
    if predicate.form in ("그렇다", "그러다") and "왜" in asks:
        return done("why", telling.said.subject or "he", "do that")
    named = next((p for p in clause.phrases if p.asking and p.particle == "라고"), None)
    if named is not None and predicate.form in ("부르다", "하다") and roles.objects:
        called = [p for p in roles.objects if p is not named]
        if called:
            subject = telling.noun(called[0])
            return [Piece("what", named.start, named.end), Piece(be(False, called[0].plural, "it")),
                    *subject, Piece("called", *spot)]  # fmt: skip
    happened = Piece("happened" if predicate.past else "happens", *spot)
    if predicate.form in ("일어나다", "생기다", "벌어지다", "있다") and "일" in nouns:
        return [Piece("what"), happened, *telling.rest(roles, clause, None)]
    if predicate.form == "되다" and "어떻게" in asks:
        subject = [piece for p in who for piece in (Piece("to"), *telling.noun(p))]
        return [Piece("what"), happened, *subject, *telling.rest(roles, clause, None)]
    if predicate.form == "걸리다" and ("얼마나" in asks or roles.asks("몇")):
        lasting = [p for p in [*roles.topics, *roles.subjects] if not p.asking]
        subject = telling.noun(lasting[0], subject=True) if lasting else [Piece("it")]
        return [Piece("how long"), Piece(do(predicate.past, False, "it")), *subject, Piece("take", *spot),
                *telling.rest(roles, clause, None)]  # fmt: skip
    if predicate.form == "하다" and asks & {"얼마", "얼마나"} and who and not roles.objects:
        return [Piece("how much"), Piece(be(predicate.past, False, "it"), *spot), *telling.noun(who[0])]
    if predicate.form == "들다" and "얼마" in asks:
        return [Piece("how much"), Piece(do(predicate.past, False, "it")), Piece("it cost", *spot)]
    return _copular_idiom(telling, roles, predicate)


def _copular_idiom(telling: Telling, roles: Roles, predicate: Predicate) -> list[Piece]:
    complement = roles.complement
    if predicate.tag != "VCP" or complement is None or not complement.asking:
        return []
    about = [*roles.topics, *roles.subjects]
    if roles.topics and roles.subjects and roles.subjects[0].owner is None and not complement.counter:
        about = [replace(roles.subjects[0], owner=roles.topics[0])]
    subject = telling.noun(about[0], subject=True) if about else []
    person = subject[-1].text if subject else "it"
    named = about[0].last if about and about[0].nouns else ""
    many = person in MANY or bool(about and about[0].plural) or person == "I"
    is_ = Piece(be(predicate.past, many, person), predicate.start, predicate.end)
    if named in ("여기", "거기", "이곳", "그곳"):
        return [Piece("where"), is_, Piece("this" if named in ("여기", "이곳") else "that")]
    if named in ("그때", "때"):
        return [Piece("when"), is_, Piece("that")]
    if complement.asking == "몇" and complement.counter is not None:
        if complement.counter.form in ("살", "세"):
            return [Piece("how old"), is_, *(subject or [Piece("he")])]
        has = roles.topics and roles.subjects  # 개미는 다리가 몇 개니
        counted = [roles.subjects[0]] if has else about
        things = telling.noun(counted[0], article=False) if counted else []
        things = [Piece(plural(p.text), p.start, p.end) for p in things]
        if has:
            have = Piece("have", predicate.start, predicate.end)
            return [Piece("how many"), *things, Piece(do(predicate.past, many, person)), *subject, have]
        many_be = "were" if predicate.past else "are"
        return [Piece("how many"), *things, Piece(many_be), Piece("there")]
    if named in ("이름", "제목"):
        return [Piece("what"), is_, *subject]
    return [*telling.noun(complement), is_, *(subject or [Piece("it")])]


# Questions in English word order: the question word first, the auxiliary before the subject.

_SMALL = ("up", "out", "off", "down", "on")


class Asking:
    """Translates the questions of a text, using the translator of its statements."""

    def __init__(self, telling: Telling) -> None:
        self.telling, self.said = telling, telling.said
        self.nouns, self.verbs, self.noun = telling.nouns, telling.verbs, telling.noun

    def question(self, clause: Clause) -> list[Piece]:
        """A question: the question word first, the auxiliary before the subject."""
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
        """A yes/no question: the auxiliary first."""
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
        """`wanted`: the question word is the verb's object."""
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
