from kgqa.models.collation.collate import Collator
from kgqa.models.reader import Reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.finetuning import QA
from kgqa.types import Example, Question


def test_the_loss_is_the_readers_and_export_saves_it(tokenizer, encoder, digging, tmp_path) -> None:
    reader = Reader(encoder, ReasonerSettings(graph_size=16, num_layers=2, num_heads=2, dropout=0.0)).eval()
    saved = []
    objective = QA(reader, lambda trained, folder: saved.append((trained, folder)))
    batch = Collator(tokenizer)([Example(Question("what"), concepts=("trowel",))], [[digging]], True).batch
    assert objective(batch).total.item() == reader.loss(batch).total.item()
    objective.export(tmp_path)
    assert saved == [(reader, tmp_path)]
    assert {id(p) for p in objective.encoder.parameters()} < {id(p) for p in objective.parameters()}
