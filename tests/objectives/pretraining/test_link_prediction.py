from dataclasses import replace

import torch

from kgqa.models.encoders.variants import ENCODERS, EncoderSettings, build_language_model
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.pretraining import knowledge as link_prediction
from kgqa.objectives.pretraining.knowledge import LinkPrediction, is_fact, without

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def make(vocab_size: int, **options: float) -> LinkPrediction:
    torch.manual_seed(0)
    settings = EncoderSettings(variant="modernbert", max_position_embeddings=64, **SIZES)  # type: ignore[arg-type]
    model = build_language_model(settings, vocab_size)
    sizes = ReasonerSettings(name="fused", graph_size=32, num_layers=1, num_heads=2)
    reader = Reader(model.base_model, sizes)  # type: ignore[arg-type]
    return LinkPrediction(model, ENCODERS["modernbert"].predict, reader, **options)  # type: ignore[arg-type]


def test_held_out_loss_falls(grounded, tokenizer, learn) -> None:  # type: ignore[no-untyped-def]
    objective = make(tokenizer.get_vocab_size())
    before, after = learn(objective, steps=40, rate=3e-3, part="link", batch=grounded)
    assert after < before - 0.3
    objective.eval()
    assert float(objective(grounded(10_000)).parts["link_accuracy"]) > 0.8


def test_held_out_facts_are_not_read(grounded, tokenizer) -> None:  # type: ignore[no-untyped-def]
    objective = make(tokenizer.get_vocab_size(), held_out=0.5)
    graph = grounded(0).graph
    torch.manual_seed(0)
    held = objective.draw(graph)
    assert 0.3 < float(held.float().mean()) < 0.7
    rest = without(graph, held)
    assert rest.edge_index.shape[1] == int((~held).sum()) == len(rest.edge_label) == len(rest.edge_weight)
    assert make(tokenizer.get_vocab_size(), held_out=0.0).draw(graph).sum() == 1, "one at least"


def test_distmult_by_hand(tokenizer) -> None:  # type: ignore[no-untyped-def]
    objective = make(tokenizer.get_vocab_size())
    head, relation, tail = torch.randn(3, 5, 32)
    expected = torch.stack([(head[i] @ torch.diag(relation[i]) @ tail[i]) / 32**0.5 for i in range(5)])
    assert torch.allclose(objective.score(head, relation, tail), expected, atol=1e-5)


def test_a_graph_without_facts_leaves_the_text(grounded, tokenizer) -> None:  # type: ignore[no-untyped-def]
    batch = grounded(0)
    bare = without(batch.graph, torch.ones(batch.graph.edge_index.shape[1], dtype=torch.bool))
    loss = make(tokenizer.get_vocab_size())(replace(batch, graph=bare))
    assert loss.parts["link"] == 0 and torch.isfinite(loss.total)


def test_a_fact_is_no_wrong_fact(grounded) -> None:  # type: ignore[no-untyped-def]
    graph = grounded(0).graph
    head, tail = graph.edge_index
    assert is_fact(graph, head, graph.edge_label, tail).all()
    assert not is_fact(graph, tail, graph.edge_label, head).any()
    assert not is_fact(graph, head, graph.edge_label + 1, tail).any()
    wide = is_fact(graph, head.unsqueeze(1).expand(-1, 3), graph.edge_label.unsqueeze(1), tail.unsqueeze(1))
    assert wide.shape == (len(head), 3) and wide.all()


def test_true_facts_teach_nothing_as_wrong_ones(grounded, tokenizer, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    objective, batch = make(tokenizer.get_vocab_size()), grounded(0)
    monkeypatch.setattr(
        link_prediction,
        "is_fact",
        lambda _graph, head, _r, tail: torch.ones_like(head + tail, dtype=torch.bool),
    )
    torch.manual_seed(0)
    assert float(objective(batch).parts["link_accuracy"]) == 0, (
        "nothing is left to be told from the right one"
    )


def test_wrong_facts_are_made_of_their_own_subgraph(grounded, tokenizer, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    objective = make(tokenizer.get_vocab_size())
    batch, seen = grounded(0), []
    plain = objective.read

    def read(*arguments):  # type: ignore[no-untyped-def]
        fused, mlm = plain(*arguments)
        marked = torch.zeros_like(fused.nodes)
        marked[:, 0] = batch.graph.batch + 1.0
        return replace(fused, nodes=marked), mlm

    def score(head, _relation, tail):  # type: ignore[no-untyped-def]
        seen.append((head[..., 0] == tail[..., 0]).all())
        return (head * tail).sum(-1)

    monkeypatch.setattr(objective, "read", read)
    monkeypatch.setattr(objective, "score", score)
    objective(batch)
    assert len(seen) == 2 and all(seen)


def test_no_wrong_fact_is_about_one_node(grounded, tokenizer, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Every other node that is drawn is the fact's own other end: nothing is left to score against."""
    objective, batch = make(tokenizer.get_vocab_size(), held_out=0.99).eval(), grounded(0)
    head, tail = batch.graph.edge_index
    far = dict(zip([*head.tolist(), *tail.tolist()], [*tail.tolist(), *head.tolist()], strict=True))
    monkeypatch.setattr(
        link_prediction, "others", lambda _graph, nodes: torch.tensor([far[n] for n in nodes.tolist()])
    )
    assert objective(batch).parts["link_accuracy"] == 0
    monkeypatch.setattr(link_prediction.LinkPrediction, "score", lambda _self, h, _r, _t: h.sum(-1) * 0.0)
    loss = objective(batch)
    assert torch.allclose(loss.parts["link"], torch.tensor(2.0).log(), atol=1e-5), "of the right facts alone"
