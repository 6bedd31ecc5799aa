import pytest
import torch

from kgqa.qa.decide import DecisionConfig, decide, merged, one_form_each, whole_probability, with_yes_no
from kgqa.qa.state import ComputedAnswer, HeadScores, QAState
from kgqa.types import Candidate, Evidence, Passage, Question, Source, Span

SPADE = Candidate("spade", Source.KNOWLEDGE, 0.9, concept="x:spade")
THREE = Candidate("3", Source.KNOWLEDGE, 0.7)
NOTHING = Candidate("", Source.NONE, 0.8)


def state(answer_type: tuple[float, ...], computed: ComputedAnswer | None = None) -> QAState:
    return QAState(
        Question("what"), scores=HeadScores(torch.tensor(answer_type), concepts=(SPADE,)), computed=computed
    )


def test_the_likeliest_source_answers_and_no_answer_is_one() -> None:
    known, silent = decide((state((-9.0, 2.0, 0.0)), state((-9.0, 0.0, 2.0))), DecisionConfig())
    assert known.source is Source.KNOWLEDGE and known.candidates[0].text == "spade"
    assert silent.source is Source.NONE and silent.best.source is Source.NONE
    assert [c.text for c in silent.candidates] == ["spade"] and silent.confidence == pytest.approx(
        0.88, abs=0.01
    )


def test_what_was_computed_comes_first_and_what_cannot_be_is_no_answer() -> None:
    evidence = Evidence(query="ASK {}")
    counted, lacking = decide(
        (
            state((-9.0, 2.0, 0.0), ComputedAnswer(THREE, evidence)),
            state((-9.0, 2.0, 0.0), ComputedAnswer(NOTHING)),
        ),
        DecisionConfig(),
    )
    assert [c.text for c in counted.candidates] == ["3", "spade"] and counted.evidence == evidence
    (left,) = decide((state((-9.0, 2.0, 0.0)),), DecisionConfig())
    assert counted.candidates[1].score == pytest.approx(0.3 * left.candidates[0].score)  # what 3 leaves
    assert counted.none == pytest.approx(0.3 * left.none)
    assert lacking.source is Source.NONE and lacking.candidates[0].text == "spade"
    assert lacking.confidence == pytest.approx(0.8) == lacking.none


def test_none_is_said_where_it_is_likelier_than_a_user_allows() -> None:
    states = (state((-9.0, 2.0, 0.0)), state((-9.0, 0.0, 2.0)))  # none at 0.12 and 0.88
    for no_answer_threshold, output in ((None, "ks"), (0.1, "ss"), (0.5, "ks"), (0.9, "kk")):
        found = decide(states, DecisionConfig(no_answer_threshold=no_answer_threshold))
        assert "".join("s" if d.source is Source.NONE else "k" for d in found) == output
        assert [d.none for d in found] == pytest.approx([0.12, 0.88], abs=0.01)
        assert all(d.candidates[0].text == "spade" for d in found)


def known(name: str, score: float) -> Candidate:
    return Candidate(name, Source.KNOWLEDGE, score, concept=name)


def names(candidates: list[Candidate]) -> list[str]:
    return [candidate.text for candidate in candidates]


def test_the_gate_chooses_the_source_and_the_heads_order_within_it() -> None:
    spans = [Candidate("here", Source.PASSAGE, 0.9), Candidate("there", Source.PASSAGE, 0.1)]
    concepts = [known("trowel", 0.6), known("spade", 0.4)]
    answer_type = {Source.PASSAGE: 0.3, Source.KNOWLEDGE: 0.5, Source.NONE: 0.2}
    assert names(merged(answer_type, spans, concepts))[:3] == ["trowel", "spade", "here"]
    silent = {Source.PASSAGE: 0.3, Source.KNOWLEDGE: 0.1, Source.NONE: 0.6}
    assert merged(silent, spans, concepts)[0].source is Source.NONE


def test_yes_and_no_come_first_where_their_mean_is_likelier_than_every_source() -> None:
    ranked, sentence = [known("trowel", 0.5)], Span(0, 4)
    answer_type = {Source.KNOWLEDGE: 0.4}
    assert names(with_yes_no(ranked, answer_type, [0.4, 0.5], Source.PASSAGE, sentence)) == [
        "no",
        "yes",
        "trowel",
    ]
    assert with_yes_no(ranked, answer_type, [0.4, 0.5], Source.PASSAGE, sentence)[0].span == sentence
    assert names(with_yes_no(ranked, answer_type, [0.1, 0.5], Source.PASSAGE, sentence)) == [
        "trowel",
        "no",
        "yes",
    ]
    assert with_yes_no(ranked, answer_type, [], Source.PASSAGE, sentence) == ranked
    output = with_yes_no(ranked, answer_type, [0.4, 0.5], Source.KNOWLEDGE, None)
    assert output[0].source is Source.KNOWLEDGE and output[0].span is None


def test_a_yes_about_a_passage_rests_on_the_sentence_of_the_best_span() -> None:
    passage = Passage("It was late. I dug the ground with a trowel. Then I slept.")
    at = passage.text.index("ground")
    spans = (Candidate("ground", Source.PASSAGE, 0.6, span=Span(at, at + 6)),)
    asked = QAState(
        Question("Did I dig?", passage=passage),
        scores=HeadScores(torch.tensor([0.0, 0.0, 0.0, 3.0, 1.0]), spans),
    )
    (found,) = decide((asked,), DecisionConfig())
    assert found.best.text == "yes" and found.source is Source.PASSAGE
    assert passage.text[slice(*found.best.span)] == "I dug the ground with a trowel."
    unsaid = QAState(Question("Is it hot?"), scores=HeadScores(torch.tensor([0.0, 0.0, 0.0, 3.0, 1.0])))
    assert decide((unsaid,), DecisionConfig())[0].best == Candidate("yes", Source.KNOWLEDGE, found.best.score)


def test_spans_that_say_the_same_longer_or_shorter_share_no_confidence() -> None:
    """Left a place each, a right span among wordings of itself was told at less than half."""
    texts = {"roll up his sleeve": Span(3, 21), "to roll up his sleeve": Span(0, 21), "Samir": Span(30, 35)}
    spans = tuple(
        Candidate(text, Source.PASSAGE, 0.45 - 0.2 * (text == "Samir"), span) for text, span in texts.items()
    )
    asked = Question("What did she ask?", passage=Passage("to roll up his sleeve, she told Samir"))
    read = QAState(asked, scores=HeadScores(torch.tensor((9.0, 0.0, 0.0)), spans=spans))
    (found,) = decide((read,), DecisionConfig())
    assert found.confidence == pytest.approx(0.45 * (1 + 36 / 39), abs=1e-2)
    known = Candidate("nurse", Source.KNOWLEDGE, 0.5, concept="x:nurse")
    verdict = Candidate("yes", Source.PASSAGE, 0.5, Span(0, 21))
    assert whole_probability(known, [known, *spans]) == whole_probability(verdict, [verdict, *spans]) == 0.5


def test_past_forms_of_one_verb_are_one_candidate_in_an_open_world_only() -> None:
    concepts = (known("melt", 0.5), known("freeze", 0.3), known("melted", 0.2))
    scores = HeadScores(torch.tensor((-9.0, 2.0, 0.0)), concepts=concepts)
    asked = QAState(Question("What happened to the ice?"), scores=scores)
    (open_world,) = decide((asked,), DecisionConfig())
    (closed,) = decide((asked,), DecisionConfig(), closed_world=True)
    assert names(list(open_world.candidates)) == ["melted", "freeze"] and open_world.best.concept == "melted"
    assert names(list(closed.candidates)) == ["melt", "freeze", "melted"]
    apart = [known("Turkey", 0.6), known("turkey", 0.4)]
    assert one_form_each(apart, "What did they visit?") == apart
    assert names(one_form_each([known("glass", 0.6), known("glasses", 0.4)], "What broke?")) == [
        "glass",
        "glasses",
    ]
