import pytest
import torch

from kgqa.answering.deciding import Decision, decide
from kgqa.answering.draft import Computed, Draft, HeadScores
from kgqa.types import Candidate, Evidence, InputError, Question, Source

SPADE = Candidate("spade", Source.KNOWLEDGE, 0.9, concept="x:spade")
THREE = Candidate("3", Source.KNOWLEDGE, 0.7)


def draft(gate: tuple[float, ...], computed: Computed | None = None) -> Draft:
    return Draft(
        Question("what"), scores=HeadScores(torch.tensor(gate), concepts=(SPADE,)), computed=computed
    )


def test_the_likeliest_source_answers_and_no_answer_is_one() -> None:
    known, silent = decide((draft((-9.0, 2.0, 0.0)), draft((-9.0, 0.0, 2.0))), Decision())
    assert known.source is Source.KNOWLEDGE and known.candidates[0].text == "spade"
    assert silent.source is Source.NONE and silent.best.source is Source.NONE
    assert [c.text for c in silent.candidates] == ["spade"] and silent.confidence == pytest.approx(
        0.88, abs=0.01
    )


def test_what_was_computed_comes_first_and_what_cannot_be_is_no_answer() -> None:
    evidence = Evidence(query="ASK {}")
    counted, lacking = decide(
        (draft((-9.0, 2.0, 0.0), Computed(THREE, evidence)), draft((-9.0, 2.0, 0.0), Computed(None))),
        Decision(),
    )
    assert [c.text for c in counted.candidates] == ["3", "spade"] and counted.evidence == evidence
    assert lacking.source is Source.NONE and lacking.candidates[0].text == "spade"


def test_confidence_is_as_the_card_says() -> None:
    decision = Decision.of_card({"calibration": {"knowledge": [1.0, -1.0]}, "second_opinion": [0.3, 0.7]})
    assert decision.confidence(SPADE) < 0.9 and decision.second_opinion == (0.3, 0.7)
    assert Decision.of_card({}).confidence(SPADE) == pytest.approx(0.9)
    with pytest.raises(InputError, match="the reader's card"):
        Decision.of_card({"calibration": ["knowledge"]})


def test_none_is_said_where_it_is_likelier_than_a_user_allows() -> None:
    drafts = (draft((-9.0, 2.0, 0.0)), draft((-9.0, 0.0, 2.0)))  # none at 0.12 and 0.88
    for none_above, said in ((None, "ks"), (0.1, "ss"), (0.5, "ks"), (0.9, "kk")):
        found = decide(drafts, Decision(none_above=none_above))
        assert "".join("s" if d.source is Source.NONE else "k" for d in found) == said
        assert [d.none for d in found] == pytest.approx([0.12, 0.88], abs=0.01)
        assert all(d.candidates[0].text == "spade" for d in found)
    assert Decision.of_card({"none_above": 0.4}).none_above == 0.4
    assert Decision.of_card({}).none_above is None
