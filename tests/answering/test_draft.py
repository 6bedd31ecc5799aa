import torch

from kgqa.answering.draft import NONE, Draft, HeadScores
from kgqa.types import Candidate, Question, Source


def test_a_new_score_for_none_leaves_the_old_ones_as_they_were() -> None:
    scores = HeadScores(torch.tensor([0.0, 1.0, 2.0]))
    other = scores.with_none(torch.tensor(-5.0))
    assert scores.gate[NONE] == 2.0 and other.gate[NONE] == -5.0 and other.gate[0] == 0.0
    assert HeadScores(torch.zeros(5)).tells_verdicts and not scores.tells_verdicts


def test_a_draft_is_given_away_as_an_answer() -> None:
    best = Candidate("trowel", Source.KNOWLEDGE, 0.8, concept="x:trowel")
    draft = Draft(Question("what"), candidates=(best,), best=best, source=best.source, confidence=0.5)
    answer = draft.spent(read=2.0).spent(decide=1.0).answer("toy", "tools")
    assert (answer.text, answer.confidence, answer.model, answer.graph) == ("trowel", 0.5, "toy", "tools")
    assert answer.timing_ms == {"read": 2.0, "decide": 1.0, "total": 3.0}
    assert Draft(Question("what"), candidates=(best,), source=Source.NONE).answer("", "").text is None
