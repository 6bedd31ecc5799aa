import torch

from kgqa.models.collation.collate import Collator
from kgqa.models.reasoners.gnn import AttentionPooling, Connections, NodeInput, RelationalAttention
from kgqa.types import Example, Question


def test_edges_run_both_ways_and_attention_sums_to_one(tokenizer, digging) -> None:
    torch.manual_seed(0)
    graph = Collator(tokenizer)([Example(Question("what"))] * 2, [[digging], [digging]]).batch.graph
    labels = torch.randn(len(graph.label_ids), 8)
    edges = Connections(8)(labels, graph)
    index, kinds, table, weight = edges
    assert index.shape[1] == 2 * 6 + 2 * 4 and kinds.max() < len(table) and weight.shape == kinds.shape
    nodes = NodeInput(8)(labels, graph)
    layer = RelationalAttention(8, 2, 0.0)
    updated, attention = layer(nodes, edges, instruction=torch.randn(len(nodes), 8))
    total = torch.zeros(len(nodes)).index_add_(0, index[1], attention)
    assert torch.allclose(total[torch.unique(index[1])], torch.ones(len(torch.unique(index[1]))), atol=1e-5)
    assert updated.shape == nodes.shape


def test_rows_do_not_see_each_other(tokenizer, digging) -> None:
    torch.manual_seed(0)
    graph = Collator(tokenizer)([Example(Question("what"))] * 2, [[digging], [digging]]).batch.graph
    nodes = torch.randn(len(graph.role), 8, requires_grad=True)
    pooled = AttentionPooling(8, 8)(torch.randn(2, 8), graph, nodes=nodes)
    pooled[0].sum().backward()
    assert nodes.grad is not None and nodes.grad[graph.batch == 1].abs().sum() == 0


def test_typed_messages_know_the_roles_of_both_ends(tokenizer, digging) -> None:
    from dataclasses import replace

    torch.manual_seed(0)
    graph = Collator(tokenizer)([Example(Question("what"))], [[digging]]).batch.graph
    labels = torch.randn(len(graph.label_ids), 8)
    plain, typed = Connections(8), Connections(8, typed=True)
    role = graph.role.clone()
    role[4] = 1  # the excavator is now one of the question's concepts
    changed = replace(graph, role=role)
    facts = slice(0, 2 * graph.edge_index.shape[1])
    reported = [
        [c(labels, g).kinds[c(labels, g).kind][facts] for g in (graph, changed)] for c in (plain, typed)
    ]
    assert torch.equal(*reported[0])
    touched = (graph.edge_index == 4).any(0).repeat(2)
    same = torch.isclose(*reported[1]).all(1)
    assert same[~touched].all() and not same[touched].any()
