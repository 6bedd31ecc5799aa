from kgqa.qa.state import QAState
from kgqa.types import Candidate, Question, Source


def test_a_draft_is_given_away_as_an_answer() -> None:
    best = Candidate("trowel", Source.KNOWLEDGE, 0.8, concept="x:trowel")
    state = QAState(Question("what"), candidates=(best,), best=best, source=best.source, confidence=0.5)
    answer = state.spent(read=2.0).spent(decide=1.0).answer("toy", "tools")
    assert (answer.text, answer.confidence, answer.model, answer.graph) == ("trowel", 0.5, "toy", "tools")
    assert answer.timing_ms == {"read": 2.0, "decide": 1.0, "total": 3.0}
    assert QAState(Question("what"), candidates=(best,), source=Source.NONE).answer("", "").text is None
