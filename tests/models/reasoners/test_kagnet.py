import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.encoders.stepping import Stepper
from kgqa.models.reasoners import ReasonerSettings
from kgqa.models.reasoners.kagnet import KagNet, find_pairs
from kgqa.types import Example, Question


def test_paths_join_what_is_asked_with_what_may_answer(tokenizer, digging) -> None:
    graph = Collator(tokenizer)([Example(Question("what"))] * 2, [[digging], [digging]]).batch.graph
    pairs, paths = find_pairs(graph)
    assert (0, 1, 3) in pairs and (1, 7, 9) in pairs  # plant flowers - trowel, in both rows
    second = next(p for p in paths if pairs[p[0]] == (1, 7, 9))
    assert second[1] == (3,) and second[2] == (False,)
    two_hops = next(p for p in paths if pairs[p[0]] == (0, 2, 4))  # build house - excavator
    assert two_hops[1] == (1, 2) and two_hops[2] == (True, False)


def test_the_attended_path_is_the_explanation(tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    stepper = Stepper(encoder)
    reasoner = KagNet(stepper, ReasonerSettings(graph_size=16)).eval()
    batch = Collator(tokenizer)([Example(Question("what"))], [[digging]]).batch
    with torch.no_grad():
        fused = reasoner(stepper, batch)
    assert fused.attention is not None and (fused.attention > 0).all() and (fused.attention <= 1).all()


def test_an_answer_comes_with_its_most_attended_path(tokenizer, encoder, digging) -> None:
    torch.manual_seed(0)
    stepper = Stepper(encoder)
    reasoner = KagNet(stepper, ReasonerSettings(graph_size=16)).eval()
    batch = Collator(tokenizer)([Example(Question("what"))], [[digging]]).batch
    with torch.no_grad():
        fused = reasoner(stepper, batch)
    assert fused.paths is not None and fused.path_weight is not None
    assert fused.paths[3].tolist() == [3, -1, -1]  # trowel, by the first fact backwards
    assert fused.paths[4].tolist() == [1, 5, -1]  # excavator, over the foundation
    assert fused.path_weight[3] > 0 and fused.path_weight[1] == 0
