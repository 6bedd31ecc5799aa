"""Generated training questions: cloze questions, Korean questions from facts, questions with logical forms."""

from __future__ import annotations

import json
import random
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice
from pathlib import Path

import numpy as np

from kgqa.data.datasets.json_lines import spans_of
from kgqa.data.files import read_json_lines
from kgqa.data.synthetic.facts import Facts
from kgqa.graph.linking.fuzzy import fuzzy_linker
from kgqa.graph.linking.linker import Linker
from kgqa.graph.linking.normalize import Morpheme, conjugated, morphemes, normalise, split_local_name, words
from kgqa.graph.load import open_graph
from kgqa.graph.retrieval.label_languages import label_in
from kgqa.graph.storage.store import GraphStore
from kgqa.qa.logical_forms.enumerate import Enumerator
from kgqa.qa.logical_forms.execute import execute
from kgqa.qa.logical_forms.graph_facts import GraphFacts
from kgqa.qa.logical_forms.graph_index import GraphIndex, NameLookup
from kgqa.qa.logical_forms.language import Form, paths
from kgqa.qa.logical_forms.mentions import question_mentions
from kgqa.qa.logical_forms.rank import NO_FORM, shortlist
from kgqa.qa.logical_forms.similarity import Similarity
from kgqa.qa.logical_forms.verbalize import Verbalizer
from kgqa.settings import write_whole
from kgqa.types import Example, InputError, Ints, KnowledgeGraph, Mention, Passage, Question, Span, Subgraph
from kgqa.verbalize.fact_sentences import SENSE
from kgqa.verbalize.korean import is_deed, with_particle

# Questions from sentences that mention both ends of a fact, with one end masked: align, mask, select (AMS, Ye
# et al., 2019, section 3).


GAP = "___"
"""Replaces the masked concept in the sentence."""
VAGUE = frozenset(
    {"related to", "synonym", "form of", "derived from", "similar to", "distinct from", "antonym"}
)
"""Relations (words of their local names) that are too vague for a sentence to determine the masked concept."""
MIN_WORDS, MAX_WORDS = 6, 40
"""Length of a sentence that is used."""
AT_ONCE = 256
"""Number of sentences linked at once."""
PER_FACT = 2
"""Maximum number of questions made from one fact."""


def aligned(
    graph: KnowledgeGraph, sentences: Iterable[str], *, count: int, seed: int = 0, choices: int = 5
) -> Iterator[Example]:
    """At most `count` multiple-choice questions from sentences and the graph's facts; deterministic for the same
    arguments.

    "A ___ is a place where you can buy stamps": the masked end of the fact is the correct choice. The distractors share
    relation and other end with it, so that the graph alone does not give the answer and the sentence must be read.
    Facts with too few distractors for so many `choices` are skipped.
    """
    linker, draw = Linker(graph), np.random.default_rng(seed)
    useful = np.array([split_local_name(r.name) not in VAGUE for r in graph.relations] or [False])
    used: dict[tuple[int, int, int], int] = {}
    source = (s for s in sentences if MIN_WORDS <= len(words(s)) <= MAX_WORDS)
    made = 0
    while made < count and (batch := list(islice(source, AT_ONCE))):
        found = linker.link_many(batch)
        for sentence, mentions in zip(batch, found, strict=True):
            example = _question(graph, sentence, mentions, useful, used, draw, choices)
            if example is None:
                continue
            yield replace(example, question=replace(example.question, id=f"ams-{seed}-{made}"))
            made += 1
            if made == count:
                return


def _question(
    graph: KnowledgeGraph,
    sentence: str,
    mentions: Sequence[Mention],
    useful: np.ndarray,
    used: dict[tuple[int, int, int], int],
    draw: np.random.Generator,
    choices: int,
) -> Example | None:
    places = {m.entities[0]: m for m in mentions if m.entities and m.certainty == 1.0}
    if len(places) < 2:
        return None
    entities = np.array(sorted(places), dtype=np.int32)
    edges = graph.neighbours(entities)
    inside = np.isin(edges.head, entities) & np.isin(edges.tail, entities) & (edges.head != edges.tail)
    inside &= useful[edges.relation]
    rows = np.flatnonzero(inside)
    for row in draw.permutation(rows).tolist():
        fact = int(edges.head[row]), int(edges.relation[row]), int(edges.tail[row])
        one, other = places[fact[0]], places[fact[2]]
        if used.get(fact, 0) >= PER_FACT or (one.start < other.end and other.start < one.end):
            continue
        for hidden_tail in draw.permutation([True, False]).tolist():
            kept, hidden = (fact[0], fact[2]) if hidden_tail else (fact[2], fact[0])
            side, beyond = (edges.head, edges.tail) if hidden_tail else (edges.tail, edges.head)
            # the concepts that the kept end is joined to by the same relation, in the same direction
            distractors = np.unique(beyond[(edges.relation == fact[1]) & (side == kept)])
            labels = _labels(graph, distractors, hidden, sentence, draw, choices)
            if labels is None:
                continue
            used[fact] = used.get(fact, 0) + 1
            order = draw.permutation(choices)
            mention = places[hidden]
            text = f"{sentence[: mention.start]}{GAP}{sentence[mention.end :]}"
            return Example(Question(text, tuple(labels[i] for i in order)), choice=int(np.argmin(order)))
    return None


def _labels(
    graph: KnowledgeGraph,
    distractors: Ints,
    hidden: int,
    sentence: str,
    draw: np.random.Generator,
    choices: int,
) -> list[str] | None:
    """The masked concept's label, then those of distractors that the sentence does not mention; None if too few."""
    if len(distractors) < choices:
        return None
    drawn = [hidden, *(int(e) for e in draw.permutation(distractors)[: 3 * choices] if e != hidden)]
    labels = [label.replace("_", " ") for label in graph.labels(np.array(drawn, dtype=np.int32))]
    normalised = f" {normalise(sentence)} "
    chosen = [labels[0]]
    for label in labels[1:]:
        key = normalise(label)
        if key and f" {key} " not in normalised and key not in {normalise(c) for c in chosen}:
            chosen.append(label)
    return chosen[:choices] if len(chosen) >= choices else None


NOUNS = frozenset(("NNG", "NNP", "SN", "SL", "SH", "NR", "XSN", "XPN"))
NUMBERS = frozenset(("SN", "NR"))
TOPICS = ("은", "는")
PARTICLES = ("로", "으로", "가", "이", "를", "을", "와", "과")
"""Particles whose form depends on the sound before them."""
MOST = 2
"""Maximum number of questions from one statement."""
_MAX_PLACES = 2
_ENDINGS = {
    "했다": "했는가",
    "었다": "었는가",
    "았다": "았는가",
    "였다": "였는가",
    "이다": "인가",
    "있다": "있는가",
}


def cloze_questions(
    statements: Sequence[Example], seed: int = 0, unanswerable: float = 0.15
) -> Iterator[Example]:
    """Questions with answers in the statements' passages; a share of them gets another passage, so they are
    unanswerable."""
    draw = random.Random(f"cloze/{seed}")
    borne_out = [example for example in statements if example.yes_no_label]
    for example in borne_out:
        made = list(_made(example))
        for question in draw.sample(made, min(MOST, len(made))):
            other = draw.choice(borne_out).question.passage
            answer = question.question.passage_text[slice(*question.spans[0])]
            if draw.random() < unanswerable and other is not None and answer not in other.text:
                yield replace(question, question=replace(question.question, passage=other), spans=())
            else:
                yield question


def _made(example: Example) -> Iterator[Example]:
    """A question for each noun of a statement that occurs in the passage, in few places."""
    question, statement = example.question, example.question.text.strip().rstrip(".?")
    found = morphemes(statement)
    for begin, end in _runs(found):
        start, stop = found[begin].start, found[end - 1].end
        noun = statement[start:stop]
        after = found[end] if end < len(found) else None
        spans = spans_of(question.passage_text, [noun])
        if not spans or len(spans) > _MAX_PLACES or (after and after.form in TOPICS):
            continue
        if len(noun) < 2 or not (after is None or after.tag[0] in "JS" or after.tag == "VCP"):
            continue
        text = statement[:start] + _fitting(_question_word(found[begin:end], after), statement[stop:])
        yield Example(replace(question, text=_asked(text), id=f"{question.id}-{begin}"), spans=spans)


def _runs(found: Sequence[Morpheme]) -> Iterator[tuple[int, int]]:
    """Half-open morpheme ranges of noun sequences; a number and its counter are one."""
    begin = 0
    while begin < len(found):
        end = begin
        while end < len(found) and (
            found[end].tag in NOUNS
            or (found[end].tag == "NNB" and end > begin and found[end - 1].tag in NUMBERS)
        ):
            end += 1
        if end > begin:
            yield begin, end
        begin = max(end, begin + 1)


def _question_word(run: Sequence[Morpheme], after: Morpheme | None) -> str:
    if run[-1].tag == "NNB":
        return f"몇 {run[-1].form}"
    if run[0].tag in NUMBERS:
        return "얼마"
    return "어디" if after and after.form == "에서" else "무엇"


def _fitting(word: str, rest: str) -> str:
    """A word with the rest of the sentence, with the particle in the form for the word's last sound."""
    given = next(filter(rest.startswith, PARTICLES), "")
    return with_particle(word, given) + rest.removeprefix(given)


def _asked(text: str) -> str:
    ending = next((end for end in _ENDINGS if text.endswith(end)), "")
    return text.removesuffix(ending) + _ENDINGS.get(ending, "") + "?"


# Subgraphs with labels in another language, so that a reader learns to choose among those too.


class OtherLabels:
    """Replaces the labels of concepts by those in a given language; concepts without one keep theirs."""

    def __init__(self, graph: KnowledgeGraph, language: str) -> None:
        if not isinstance(graph, GraphStore):
            raise InputError(f"{graph.name}: labels in {language} need a local graph; import it first")
        self.graph, self.language = graph, language
        self._known: dict[str, str] = {}

    def of_subgraph(self, subgraph: Subgraph) -> Subgraph:
        unknown = [name for name in subgraph.nodes if name not in self._known]
        for name, entity in zip(unknown, self.graph.ids(unknown).tolist(), strict=True):
            self._known[name] = self.of_entity(entity) if entity >= 0 else ""
        labels = zip(subgraph.nodes, subgraph.labels, strict=True)
        return replace(subgraph, labels=tuple(self._known[name] or label for name, label in labels))

    def of_example(self, example: Example) -> Example:
        """The example with labels in that language among the accepted answers."""
        if not example.concepts:
            return example
        found = self.graph.find(list(example.concepts))
        more = [self.of_entity(entity) for ids in found for entity in ids.tolist()]
        return replace(example, concepts=tuple(dict.fromkeys([*example.concepts, *filter(None, more)])))

    def of_entity(self, entity: int) -> str:
        """Label of an entity in that language; "" if it has none."""
        return label_in(self.graph, entity, self.language)


# Korean common-sense questions, generated from facts of a graph that have Korean labels.
#
# A short passage states that somebody does something; the question asks for what it leaves unsaid: with what, where,
# why. In some, the passage states the answer, and some are unanswerable, so that a reader learns to choose the source.

PAST = (("었", "EP"), ("다", "EF"))
STATED, UNANSWERABLE, WITHOUT_PASSAGE, DISTRACTED = 0.2, 0.1, 0.15, 0.3
"""Shares of questions: answered by the passage, unanswerable, without a passage, with a distracting sentence."""
MAX_ANSWERS = 40
_TEMPLATES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PEOPLE: list[str] = _TEMPLATES["people"].split(", ")
_UNKNOWN: list[str] = _TEMPLATES["unknown"]
_DEEDS: dict[str, list[str]] = _TEMPLATES["deeds"]
_THINGS: dict[str, list[str]] = _TEMPLATES["things"]
_PARTICLES: dict[str, str] = _TEMPLATES["particles"]


class KoreanQuestions:
    """Generates questions from a graph's facts."""

    def __init__(self, graph: KnowledgeGraph, seed: int = 0) -> None:
        self.graph, self.facts = graph, Facts(graph)
        labels = OtherLabels(graph, "ko")
        self.label = [SENSE.sub("", labels.of_entity(entity)) for entity in self.facts.ids.tolist()]
        self.named = self.facts.labels
        self.draw = random.Random(f"korean/{seed}")
        table = {True: _DEEDS, False: _THINGS}
        self.asked = [
            (kind, head)
            for kind in {**_DEEDS, **_THINGS}
            for head in self.facts.heads(kind)
            if self.label[head] and kind in table[is_deed(self.label[head])]
            if 0 < len(self._tails(kind, head)) <= MAX_ANSWERS
        ]
        self.deeds = [label for label in self.label if is_deed(label)]

    def _tails(self, kind: str, head: int) -> list[int]:
        """Answers that have a Korean label."""
        return sorted(tail for tail in self.facts.tails(head, kind) if self.label[tail])

    def __call__(self, count: int) -> Iterator[Example]:
        """Generate `count` questions; relations are sampled in proportion to the square root of their numbers of
        facts."""
        heads = defaultdict(list)
        for kind, head in self.asked:
            heads[kind].append(head)
        kinds = sorted(heads)
        weights = [len(heads[kind]) ** 0.5 for kind in kinds]
        for number in range(count):
            kind = self.draw.choices(kinds, weights)[0]
            yield self._question(kind, self.draw.choice(heads[kind]), f"ko-{number}")

    def _question(self, kind: str, head: int, identity: str) -> Example:
        label, tails = self.label[head], self._tails(kind, head)
        if not is_deed(label):
            text = self.draw.choice(_THINGS[kind]).format(
                about=label, topic=with_particle(label, "은"), means=with_particle(label, "으로")
            )
            return self._known(Question(text, (), None, identity), tails, kind)
        person = self.draw.choice(_PEOPLE)
        goals = [goal for goal in self._tails("MotivatedByGoal", head) if is_deed(self.label[goal])]
        passage = self._sentence(person, label)
        if goals and kind != "MotivatedByGoal" and self.draw.random() < 0.6:
            goal = self.draw.choice(goals)
            passage = self._sentence(person, f"{conjugated(self.label[goal], ('으려고', 'EC'))} {label}")
            tails = self._tails(kind, goal) or tails
        chance = self.draw.random()
        if chance < UNANSWERABLE:
            text = self.draw.choice(_UNKNOWN).format(person=person)
            return Example(Question(text, (), Passage(self._among(passage)), identity))
        template = self.draw.choice(_DEEDS[kind])
        text = self._asked(template, person, label)
        if chance < UNANSWERABLE + STATED and kind in _PARTICLES:
            answer = self.label[self.draw.choice(tails)]
            phrase = with_particle(answer, _PARTICLES[kind])
            before, _, verb = label.rpartition(" ")
            passage = self._among(self._sentence(person, " ".join(filter(None, (before, phrase, verb)))))
            start = passage.find(phrase)
            spans = (Span(start, start + len(answer)),)
            return Example(Question(text, (), Passage(passage), identity), spans=spans, kind=kind)
        given = (
            None if chance > 1 - WITHOUT_PASSAGE and "{verb}" in template else Passage(self._among(passage))
        )
        return self._known(Question(text, (), given, identity), tails, kind)

    def _known(self, question: Question, tails: list[int], kind: str) -> Example:
        labels = [name for tail in tails for name in (self.label[tail], self.named[tail])]
        return Example(question, concepts=tuple(dict.fromkeys(labels)), kind=kind)

    def _sentence(self, person: str, deed: str) -> str:
        predicate = conjugated(deed, *PAST).removesuffix("다") + self.draw.choice(
            ("다", "다", "어요", "습니다")
        )
        return f"{with_particle(person, self.draw.choice(('은', '이')))} {predicate}."

    def _among(self, passage: str) -> str:
        """A passage, sometimes with a distracting sentence."""
        if self.draw.random() >= DISTRACTED:
            return passage
        other = self._sentence(self.draw.choice(_PEOPLE), self.draw.choice(self.deeds))
        return f"{passage} {other}" if self.draw.random() < 0.5 else f"{other} {passage}"

    def _asked(self, template: str, person: str, deed: str) -> str:
        """Fill a question template: {verb} is the last word of an activity, {before} the words before it."""
        before, _, verb = deed.rpartition(" ")
        ending = self.draw.choice(("니", "나요", "을까", "는가", "습니까"))
        verb = conjugated(verb, *PAST).removesuffix("다") + ending
        text = template.format(topic=with_particle(person, "은"), before=before, verb=verb)
        return " ".join(text.split())


PRACTICE = Path("training/data/practice_graphs/train")
FAMILIES = Path("training/data/relation_families/train")
NEGATIVES, ABSENT = 7, 0.3
"""Number of incorrect forms per question, and share of questions whose correct form is left out."""
MAX_WRONG = 24
"""Maximum number of incorrect forms stored per question."""


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A question with the verbalizations of its correct form (None if unanswerable) and of incorrect forms."""

    text: str
    right: str | None
    wrong: tuple[str, ...]
    group: str
    """Its graph or family; groups are held out as a whole."""

    def example(self, rng: random.Random, negatives: int, absent: float) -> Example:
        """As multiple choice in random order, with "no form fits" last; sometimes the correct form is left out."""
        wrong = list(self.wrong)
        rng.shuffle(wrong)
        chosen = wrong[:negatives]
        choice = len(chosen)
        if self.right is not None and rng.random() >= absent:
            choice = rng.randint(0, choice)
            chosen.insert(choice, self.right)
        return Example(Question(self.text, (*chosen, NO_FORM)), choice=choice)


def practice_questions(folder: Path, similarity: Similarity | None = None) -> Iterator[FormQuestion]:
    """Questions with forms for a folder of Turtle graphs, each with questions in JSON lines of the same name.

    Incorrect forms are those that would be read, if they are given the similarity that is used then.
    """
    for path in sorted(folder.glob("*.jsonl")):
        graph = open_graph(str(path.with_suffix(".ttl")))
        linker, index = fuzzy_linker(graph), GraphIndex(graph)
        names = NameLookup(GraphFacts(graph))
        for number, row in read_json_lines(path):
            try:
                text, form = str(row["question"]), row["form"]
                gold = None if form is None else names.parse(form)
            except (KeyError, InputError) as error:
                raise InputError(f"{path}:{number}: {error}; a row has question and form") from None
            facts = names.facts
            asked = question_mentions(facts, linker, index, Question(text))
            found = shortlist(facts, asked, Enumerator(facts, asked, index.classes).forms(), similarity)
            if gold is None:
                wrong = [candidate.phrase for candidate in found]
                yield FormQuestion(text, None, tuple(wrong[:MAX_WRONG]), path.stem)
                continue
            result = execute(facts, gold)
            if result is None:
                continue
            own, same = (
                _relations(gold),
                {c.phrase: _relations(c.form) for c in found if c.result.key == result.key},
            )
            right = next((phrase for phrase, relations in same.items() if relations == own), None)
            right = right or Verbalizer(facts).with_result(gold, result)
            wrong = [c.phrase for c in found if c.phrase not in same and c.phrase != right]
            yield FormQuestion(text, right, tuple(wrong[:MAX_WRONG]), path.stem)


def _relations(form: Form) -> set[int]:
    return {step.relation for path in paths(form) for step in path}


def family_questions(path: Path) -> Iterator[FormQuestion]:
    """Questions of families of similar relations: the phrases of the other relations are incorrect."""
    for number, row in read_json_lines(path):
        try:
            phrases = [str(relation["phrase"]) for relation in row["relations"]]
            for n, relation in enumerate(row["relations"]):
                others = tuple(phrase for m, phrase in enumerate(phrases) if m != n)
                for text in relation["questions"]:
                    yield FormQuestion(str(text), phrases[n], others, f"{path.stem}:{number}")
        except (KeyError, TypeError):
            raise InputError(
                f"{path}:{number}: not a family of relations; a row needs thing and relations"
            ) from None


def form_examples(seed: int) -> Iterator[Example]:
    """All practice questions as multiple choice over logical forms, a third of them without the correct one."""
    rng = random.Random(seed)
    families = map(family_questions, sorted(FAMILIES.glob("*.jsonl")))
    for question in chain(practice_questions(PRACTICE), *families):
        yield question.example(rng, NEGATIVES, ABSENT)


def save_questions(questions: Iterator[FormQuestion], path: Path) -> None:
    """Write questions as JSON lines."""
    lines = [json.dumps(asdict(question), ensure_ascii=False) for question in questions]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "\n".join(lines) + "\n")


def saved_questions(path: Path) -> list[FormQuestion]:
    """Load questions written by `save_questions`."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [FormQuestion(**{**row, "wrong": tuple(row["wrong"])}) for row in rows]


def lower_case(question: FormQuestion) -> FormQuestion:
    """The question without capitals and question mark, as many people type."""
    return replace(question, text=question.text.lower().rstrip("?. "))
