"""Korean text as English words in English order, each with the Korean characters it stands for.

No translation: a reader of English is told who does what with what, so that it can answer, and every stretch of the
English text leads back to Korean words.
"""

from __future__ import annotations

from dataclasses import replace

from kgqa.korean.lexicon import group, lexicon
from kgqa.korean.nouns import Nouns, is_animal
from kgqa.korean.parsing import Clause, Phrase, Predicate, Sentence, Word, parse
from kgqa.korean.pieces import Gloss, Piece, Said, Translate, joined
from kgqa.korean.prepositions import MADE, preposition
from kgqa.korean.restating import restated
from kgqa.korean.roles import PLACES, THERE, Roles, is_time, without_last, words_of
from kgqa.korean.verbs import MANY, Verbs, be, do, finite, participle
from kgqa.text.synthesis.inflection import gerund, is_plural, plural

_ASKING_ADVERBS = {
    "왜": "why",
    "언제": "when",
    "어떻게": "how",
    "얼마나": "how long",
    "어디": "where",
    "어째서": "why",
}
_SMALL = ("up", "out", "off", "down", "on")
_PREPOSITIONS = frozenset(
    ["into", "by", "to", "of", "with", "on", "from", "at", "for", "over", "in", "after"]
)
_LINKING = {"and": "and", "then": "and", "but": "but", "or": "or", "so that": "so that"}
_OPENING = {"because": "because", "when": "when", "while": "while", "if": "if", "although": "although",
            "after": "after", "before": "before"}  # fmt: skip
_OF_THINGS = group("of_things")
"""What is done to things: what such a verb modifies is what it is done to."""
_ENOUGH = group("enough")
_OWN = {"I": "my", "we": "our", "he": "his", "she": "her", "they": "their", "you": "your"}
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
        self.words = lexicon()
        self.nouns = Nouns(text, translate, said, self._modifiers)
        self.verbs = Verbs(text, translate, said)
        self.noun = self.nouns.noun

    def sentence(self, sentence: Sentence) -> list[Piece]:
        """Clauses joined; a question begins with its question word."""
        sentence = restated(sentence)
        *before, last = sentence.clauses
        _inherit_tense(sentence.clauses)
        self.said.near = ""
        self.said.asked_alone = sentence.question and not self.said.named
        asked = sentence.question and self._asks(last)
        said: list[Piece] = []
        opened: list[Piece] = []
        shared = False
        aim: list[Piece] = []
        for clause in before:
            own, linked = self._linked(clause, shared, sentence)
            if linked == "to":
                aim += own
                continue
            shared = linked in ("and", "then", "but") and not self._has_subject_of_own(clause, sentence)
            (opened if asked else said).extend([*own[: _cut(own)], *aim, *own[_cut(own) :]])
            aim = []
        if last.link == "is because":
            reason = self.clause(last)
            said = said if before else [Piece("it is")]
            spot = (last.predicate.start, last.predicate.end) if last.predicate else (0, 0)
            return [*said, Piece("because", *spot), *reason, Piece(".")]
        if sentence.question and last.predicate is None and not asked and last.phrases:
            *others, wanted = last.phrases
            rest = [piece for phrase in others for piece in self.adverbial(phrase, None)]
            return [*said[: _cut(said)], Piece("what is"), *self.noun(wanted), *rest, Piece("?")]
        tail = [Piece(","), *opened[: _cut(opened)]] if opened else []
        if asked:
            return [*self.question(last), *aim, *tail, Piece("?")]
        if sentence.question and aim and last.predicate and (front := self._asked_aim(before)):
            verb, roles = self.verbs.verb(last, Roles.of(last))
            inverted = self._inverted(front, verb, last.predicate, roles, last, [])
            return [*inverted, *(p for p in aim if p not in front), *tail, Piece("?")]
        return [*said, *self.clause(last, shared=shared), *aim, Piece("?" if sentence.question else ".")]

    def _linked(self, clause: Clause, shared: bool, sentence: Sentence) -> tuple[list[Piece], str]:
        link, after = clause.link, sentence.clauses[sentence.clauses.index(clause) + 1]
        predicate = clause.predicate
        end = (predicate.start, predicate.end) if predicate else (0, 0)
        weather = any(p.nouns and p.nouns[-1].form in ("비", "눈") for p in clause.phrases)
        others = any("JKS" in p.cases for p in after.phrases)
        if link == "because" and predicate and predicate.form in _MOVING and not (weather or others):
            link = "and"
        if link == "because" and self._goes_on(clause, after):
            link = "and"
        if link == "to":
            return [Piece("to", *end), *self.bare(clause)], link
        said = self.clause(clause, shared=shared and link not in _OPENING)
        if link in _OPENING:
            return [Piece(_OPENING[link], *end), *said, Piece(",")], link
        if link == "fact":
            return said, link
        comma = [Piece(",")] if link == "but" else []
        return [*said, *comma, Piece(_LINKING.get(link, "and"))], link

    def _asked_aim(self, clauses: list[Clause]) -> list[Piece]:
        """The question word of a clause that says what for: 누구를 만나러 갔니 is "who did he go to meet"."""
        asked = [p for c in clauses if c.link == "to" for p in c.phrases if p.asking and "JKO" in p.cases]
        return self.noun(asked[0]) if asked else []

    @staticmethod
    def _goes_on(clause: Clause, after: Clause) -> bool:
        """Whether what is done to a thing is followed by what the same one does next: took it "and" left."""
        one, next_one = clause.predicate, after.predicate
        if (
            not one
            or not next_one
            or one.tag != "VV"
            or one.negative
            or clause.ending not in ("어서", "아서")
        ):
            return False
        acts = any("JKS" in p.cases for p in after.phrases)
        done = any("JKO" in p.cases for p in clause.phrases)
        plain = next_one.tag == "VV" and not (next_one.negative or next_one.modal)
        return done and plain and not acts and next_one.form not in _MOVED and one.form not in _LOSING

    def _has_subject_of_own(self, clause: Clause, sentence: Sentence) -> bool:
        after = sentence.clauses[sentence.clauses.index(clause) + 1]
        return any(p.cases & {"JKS"} or p.cases == {"JX"} for p in after.phrases)

    def _asks(self, clause: Clause) -> bool:
        if clause.predicate is not None and clause.predicate.form in ("어떻다", "어떠하다"):
            return True
        return any(p.asking for p in clause.phrases) or any(a.form in _ASKING_ADVERBS for a in clause.adverbs)

    def clause(self, clause: Clause, shared: bool = False, of: Phrase | None = None) -> list[Piece]:
        """A clause in English order; `shared`: about the subject of the one before, or `of` a noun."""
        self.said.beside = frozenset(words_of(clause))
        roles = self._roles(clause)
        predicate = clause.predicate
        if predicate is None:
            parts = [*roles.subjects, *roles.topics, *roles.objects, *roles.bare]
            return [piece for p in parts for piece in self.noun(p)] + self._rest(roles, clause, None)
        verb, roles = self.verbs.verb(clause, roles)
        if roles.there:
            return self._there(roles, predicate, clause)
        subject, verb = self._subject_of(verb, predicate, roles, shared)
        if not (roles.subjects or roles.topics) and clause.adverbs and clause.adverbs[0].form == "모두":
            everybody = clause.adverbs.pop(0)
            subject = [Piece("everybody", everybody.start, everybody.end)]
        silent = ("they" if of.plural else "it") if of else self.said.near or self.said.subject or "I"
        person = subject[-1].text if subject else silent
        person = self.said.agrees if shared and not subject and self.said.agrees else person
        many = self._many(roles, person)
        if verb.startswith("be "):
            enough = [a for a in clause.adverbs if a.form in _ENOUGH]
            clause.adverbs = [a for a in clause.adverbs if a not in enough]
            verb = " ".join(["be", *filter(None, map(self._adverb, enough)), verb[3:]])
        verb = verb.replace("one's", _OWN.get(self.said.subject, "my"))
        opening = [
            a
            for a in clause.adverbs
            if a.tag == "MAJ" or a.form in ("그래서", "하지만", "그런데", "그러나", "그리고")
        ]
        clause.adverbs = [a for a in clause.adverbs if a not in opening]
        first = [Piece(e, a.start, a.end) for a in opening if (e := self._adverb(a))]
        objects = self._objects(roles)
        verb = verb if objects else _alone(verb)
        if objects and len(roles.objects) == 1:
            self.said.things[predicate.form] = _named_before(objects)
        said = [*first, *subject, *finite(verb, predicate, many, person), *objects]
        return said + self._rest(roles, clause, verb)

    def _roles(self, clause: Clause) -> Roles:
        """The roles of a clause; a thing that is spoken of, and that things are done to, is the object."""
        roles = Roles.of(clause)
        about = (
            roles.topics[0] if roles.topics and not (roles.subjects or roles.objects or roles.bare) else None
        )
        if about is None or clause.predicate is None or clause.predicate.form not in _OF_THINGS:
            return roles
        if (
            about.nouns
            and about.particles[-1] in ("은", "는")
            and not about.silent
            and not clause.predicate.helped
            and clause.predicate.form not in MADE
            and not self.nouns.pronoun(about)
            and not is_animal(about)
        ):
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
            *self._objects(roles),
            *self._rest(roles, clause, verb),
        ]

    def question(self, clause: Clause) -> list[Piece]:
        """A clause that asks, its question word first, the verb's helper before the subject."""
        self.said.beside = frozenset(words_of(clause))
        roles = self._roles(clause)
        predicate = clause.predicate
        if predicate is None:
            return self.clause(clause)
        idiom = self._idiom(clause, roles, predicate)
        if idiom:
            return idiom
        verb, roles = self.verbs.verb(clause, roles)
        adverb = next((a for a in clause.adverbs if a.form in _ASKING_ADVERBS), None)
        if verb == "be how":
            verb, adverb = "be", Word("어떻게", predicate.start, predicate.end)
        front: list[Piece] = []
        after: list[Piece] = []
        if adverb is not None:
            front = [Piece(_ASKING_ADVERBS[adverb.form], adverb.start, adverb.end)]
        elif roles.subjects and roles.subjects[0].asking:
            subject = self.noun(roles.subjects[0])
            many = bool(roles.subjects[0].number) and subject[0].text.startswith("how many")
            return [
                *subject, *finite(verb, predicate, many, ""), *self._objects(roles),
                *self._rest(roles, clause, verb),
            ]  # fmt: skip
        elif roles.count is not None and roles.count.asking:
            counted = next(iter(roles.objects or roles.subjects or roles.topics), None)
            front = [Piece("how many", roles.count.start, roles.count.end)]
            if counted is not None:
                front += [Piece(plural(p.text), p.start, p.end) for p in self.noun(counted, article=False)]
                roles.remove(counted)
            roles.count = None
        elif (
            verb.startswith("be ")
            and not roles.subjects
            and not roles.topics
            and roles.objects
            and roles.objects[0].asking
        ):
            subject = self.noun(roles.objects.pop(0))
            return [*subject, *finite(verb, predicate, False, ""), *self._rest(roles, clause, verb)]
        else:
            asked = next((p for group in roles.groups() for p in group if p.asking), None)
            if asked is None:
                return self.clause(clause)
            roles.remove(asked)
            front = self.noun(asked)
            if asked.asking != "어디" and asked.cases & {"JKB"}:
                governed = preposition(asked, predicate)
                if asked.counter is not None or is_time(asked):
                    front = [Piece(governed), *front]
                else:
                    after = [Piece(governed)]
        wanted = adverb is None and not after
        return self._inverted(front, verb, predicate, roles, clause, after, wanted)

    def _inverted(
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
        subject = self._subject(roles, False) or [Piece(self.said.near or self.said.subject or "I")]
        many = self._many(roles, subject[-1].text)
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
        objects = self._objects(roles)
        if not objects and not wanted:
            said = [p._replace(text=_alone(p.text)) if p.text == verb else p for p in said]
        thing = roles.topics and not self.nouns.pronoun(roles.topics[0])  # 자동차는 뭘로 움직이니
        elided = not (objects or thing) and predicate.tag == "VV" and rest in ("", *_SMALL)
        if after == [Piece("with")] and elided:
            if rest:
                said[-1] = said[-1]._replace(text=f"{first} it {rest}")
            else:
                objects = [Piece(self.said.things.get(predicate.form, "it"))]
        return [*front, *said, *objects, *self._rest(roles, clause, verb), *after]

    def _idiom(self, clause: Clause, roles: Roles, predicate: Predicate) -> list[Piece]:
        """Questions that English asks in words of its own."""
        nouns = [p.nouns[-1].form for p in clause.phrases if p.nouns]
        spot = (predicate.start, predicate.end)
        who = [
            p
            for p in [*roles.topics, *roles.subjects]
            if not p.nouns or p.nouns[-1].form not in ("기분", "마음")
        ]
        asks = {a.form for a in clause.adverbs} | {p.asking for p in clause.phrases}
        if "기분" in nouns and (predicate.form in ("어떻다", "들다", "느끼다")):
            subject = (
                self.noun(who[0], subject=True)
                if who
                else [Piece(self.said.near or self.said.subject or "I")]
            )
            person = subject[-1].text
            return [
                Piece("how"),
                Piece(do(predicate.past, person in MANY, person)),
                *subject,
                Piece("feel", *spot),
            ]
        if predicate.form in ("그렇다", "그러다") and "왜" in asks:
            subject = self.noun(who[0], subject=True) if who else [Piece(self.said.subject or "he")]
            person = subject[-1].text
            return [
                Piece("why"),
                Piece(do(predicate.past, person in MANY, person)),
                *subject,
                Piece("do that", *spot),
            ]
        named = next((p for p in clause.phrases if p.asking and p.particles[:1] == ("라고",)), None)
        if named is not None and predicate.form in ("부르다", "하다") and roles.objects:
            called = [p for p in roles.objects if p is not named]
            if called:
                subject = self.noun(called[0])
                return [Piece("what", named.start, named.end), Piece(be(False, called[0].plural, "it")),
                        *subject, Piece("called", *spot)]  # fmt: skip
        if predicate.form in ("일어나다", "생기다", "벌어지다", "있다") and "일" in nouns:
            return [Piece("what"), Piece("happened" if predicate.past else "happens", *spot),
                    *self._rest(roles, clause, None)]  # fmt: skip
        if predicate.form == "되다" and "어떻게" in asks:
            subject = [piece for p in who for piece in (Piece("to"), *self.noun(p))]
            return [Piece("what"), Piece("happened" if predicate.past else "happens", *spot), *subject,
                    *self._rest(roles, clause, None)]  # fmt: skip
        if predicate.form == "걸리다" and ("얼마나" in asks or roles.asks("몇")):
            lasting = [p for p in [*roles.topics, *roles.subjects] if not p.asking]
            subject = self.noun(lasting[0], subject=True) if lasting else [Piece("it")]
            return [Piece("how long"), Piece(do(predicate.past, False, "it")), *subject, Piece("take", *spot),
                    *self._rest(roles, clause, None)]  # fmt: skip
        if predicate.form == "들다" and "얼마" in asks:
            return [Piece("how much"), Piece(do(predicate.past, False, "it")), Piece("it cost", *spot)]
        return self._copular_idiom(roles, predicate)

    def _copular_idiom(self, roles: Roles, predicate: Predicate) -> list[Piece]:
        complement = roles.complement
        if predicate.tag != "VCP" or complement is None or not complement.asking:
            return []
        about = [*roles.topics, *roles.subjects]
        if roles.topics and roles.subjects and roles.subjects[0].owner is None and not complement.counter:
            about = [replace(roles.subjects[0], owner=roles.topics[0])]
        subject = self.noun(about[0], subject=True) if about else []
        person = subject[-1].text if subject else "it"
        named = about[0].nouns[-1].form if about and about[0].nouns else ""
        many = person in MANY or bool(about and about[0].plural) or person == "I"
        is_ = Piece(be(predicate.past, many, person), predicate.start, predicate.end)
        if named in ("여기", "거기", "이곳", "그곳"):
            return [Piece("where"), is_, Piece("this" if named in ("여기", "이곳") else "that")]
        if named in ("그때", "때"):
            return [Piece("when"), is_, Piece("that")]
        if complement.asking == "몇" and complement.counter is not None:
            if complement.counter.form in ("살", "세"):
                return [Piece("how old"), is_, *(subject or [Piece("he")])]
            things = self.noun(about[0], article=False) if about else []
            things = [Piece(plural(p.text), p.start, p.end) for p in things]
            many_be = "were" if predicate.past else "are"
            return [Piece("how many"), *things, Piece(many_be), Piece("there")]
        if named == "이름" or named == "제목":
            return [Piece("what"), is_, *subject]
        front = self.noun(complement)
        return [*front, is_, *(subject or [Piece("it")])]

    def _there(self, roles: Roles, predicate: Predicate, clause: Clause) -> list[Piece]:
        """What there is somewhere: existence, and how many."""
        thing = roles.there[0]
        said = self.noun(thing, False)
        many = thing.plural or bool(roles.count) or is_plural(said[-1].text)
        exists = be(predicate.past, many, "it")
        spot = (predicate.start, predicate.end)
        count = self.nouns.number(roles.count)[:1] if roles.count else []
        nothing = " no" if predicate.negative else THERE.get(predicate.form, "")
        said = [
            Piece(plural(p.text), p.start, p.end) if roles.count else p
            for p in self.noun(thing, not count and not nothing)
        ]
        many = many or nothing in (" many", " a lot of", " few")
        if nothing.strip() in ("many", "a lot of", "few"):
            exists = be(predicate.past, True, "it")
            said = [Piece(plural(p.text), p.start, p.end) for p in self.noun(thing, False)]
        return [Piece(f"there {exists}{nothing}", *spot), *count, *said, *self._rest(roles, clause, "be")]

    def _subject_of(
        self, verb: str, predicate: Predicate, roles: Roles, shared: bool
    ) -> tuple[list[Piece], str]:
        """The subject, which some predicates have of their own ("it rains"), and the verb."""
        own, colon, rest = verb.partition(":")
        if colon:
            return [Piece(own, predicate.start, predicate.end)], rest
        silent = not (roles.subjects or roles.topics)
        if verb == "take" and predicate.form == "걸리다":
            roles.objects += roles.subjects
            roles.subjects = []
            return [Piece("it")], verb
        if silent and predicate.tag == "VCP" and not shared and self.said.subject not in ("he", "she"):
            return [Piece("it")], verb
        return self._subject(roles, shared), verb

    def _subject(self, roles: Roles, shared: bool) -> list[Piece]:
        chosen = roles.subjects or roles.topics
        if not chosen:
            return [] if shared else [Piece(self.said.near or self.said.subject or "I")]
        if chosen[0].silent:
            return [Piece(self.nouns.pronoun(chosen[0]) or "it")]
        said = self.noun(chosen[0], subject=True)
        if roles.count is not None and not roles.objects:
            said = [
                *self.nouns.number(roles.count),
                *(Piece(plural(p.text), p.start, p.end) for p in self.noun(chosen[0], False)),
            ]
        pronoun = self.nouns.pronoun(chosen[0])
        animal = is_animal(chosen[0])
        self.said.near = pronoun or ("it" if animal else self.said.near)
        self.said.subject = pronoun or self.said.subject
        self.said.agrees = pronoun or ("they" if is_plural(said[-1].text) else "it")
        return said

    def _many(self, roles: Roles, person: str) -> bool:
        chosen = next(iter(roles.subjects or roles.topics), None)
        if chosen is None:
            return person in MANY
        return chosen.plural or chosen.joined is not None or person in MANY or is_plural(person)

    def _objects(self, roles: Roles) -> list[Piece]:
        said: list[Piece] = []
        if roles.complement is not None:
            said += self.noun(roles.complement)
        for phrase in roles.objects:
            if roles.count is not None and phrase is roles.objects[0]:
                said += self._count(roles.count)
                said += [Piece(plural(p.text), p.start, p.end) for p in self.noun(phrase, False)]
            else:
                said += self.noun(phrase)
        for phrase in roles.bare:
            said += self.noun(phrase)
        return said

    def _count(self, count: Phrase) -> list[Piece]:
        """How many of what is named: "two", not "two books", of comic books."""
        first, *unit = self.nouns.number(count)
        return [first] if unit and unit[0].text in ("books", "people", "animals") else [first, *unit]

    def _rest(self, roles: Roles, clause: Clause, verb: str | None) -> list[Piece]:
        said: list[Piece] = []
        predicate = clause.predicate
        for adverb in clause.adverbs:
            if adverb.form in _ASKING_ADVERBS:
                continue
            english = self._adverb(adverb)
            if english:
                said.append(Piece(english, adverb.start, adverb.end))
        if any("까지" in p.particles for p in roles.adverbials):
            for phrase in roles.adverbials:
                if phrase.particles[:1] == ("에서",):
                    phrase.particles = ("부터",)
        governs = (verb or "").rpartition(" ")[2] in _PREPOSITIONS
        for phrase in reversed(roles.adverbials):
            first, *more = self.adverbial(phrase, predicate)
            held = (
                governs
                and first.text in _PREPOSITIONS
                and "에서" not in phrase.particles
                and not roles.objects
            )
            if verb and first.text.startswith(verb.rpartition(" ")[2] + " ") and " " in verb:  # go out out of
                first = first._replace(text=first.text.partition(" ")[2])
            said += more if held else [first, *more]
        return said

    def _adverb(self, adverb: Word) -> str:
        english = self.words.adverbs.get(adverb.form)
        if english is not None:
            return "" if english == "-" else english
        if adverb.tag.endswith("다"):
            found = self.words.predicate(adverb.tag, True, ())
            return _adverb_of(found.removeprefix("be ")) if found else ""
        return ""

    def adverbial(self, phrase: Phrase, predicate: Predicate | None) -> list[Piece]:
        """A phrase with the preposition that its particle stands for."""
        last = phrase.nouns[-1] if phrase.nouns else None
        if is_time(phrase) and not phrase.clauses and not phrase.owner:
            return self.nouns.time(phrase)
        if (
            last is not None
            and last.form in PLACES
            and (len(phrase.nouns) > 1 or phrase.owner or phrase.clauses)
        ):
            if phrase.owner is not None and len(phrase.nouns) == 1:
                inner = self.noun(phrase.owner)
            else:
                inner = self.noun(without_last(phrase))
            if inner:
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
                kept = self.said.beside
                after += [Piece("to", predicate.start, predicate.end), *self.bare(clause)]
                self.said.beside = kept
                continue
            gap = not own and not roles.objects and predicate.form in _OF_THINGS
            said = self.clause(clause, shared=not own and not gap, of=None if own or gap else phrase)
            self.said.subject, self.said.beside, self.said.near = subject, beside, near
            after += [Piece("that"), *said]
        return before, after


def _alone(verb: str) -> str:
    """A verb without the preposition of an object that is not said: wait, not wait for."""
    first, _, last = verb.rpartition(" ")
    return (
        first if first in ("wait", "look", "listen", "look after") and last in ("for", "at", "to") else verb
    )


def _named_before(pieces: list[Piece]) -> str:
    """How a thing is called that has been named."""
    words = ""
    for piece in pieces:
        if piece.text in ("that", "to", "of"):  # what follows tells it apart the first time
            break
        words = f"{words} {piece.text}".strip()
    first, _, rest = words.partition(" ")
    return f"the {rest}" if first in ("a", "an") else words


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


def _adverb_of(adjective: str) -> str:
    if adjective in ("long", "fast", "hard", "high", "low", "late", "early", "well", "straight"):
        return adjective
    if adjective.endswith("y"):
        return adjective[:-1] + "ily"
    return adjective[:-1] + "y" if adjective.endswith("le") else adjective + "ly"
