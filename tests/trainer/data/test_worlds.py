from kgqa.trainer.data.worlds import asked_worlds


def test_questions_come_with_a_subgraph_of_their_own_world() -> None:
    asked = list(asked_worlds(40, seed=0, max_nodes=60))
    assert len(asked) > 20
    found = [set(example.concepts) & set(graphs[0].labels) for example, graphs in asked if example.concepts]
    assert sum(map(bool, found)) > 0.8 * len(found)
