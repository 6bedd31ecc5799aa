from dataclasses import replace
from pathlib import Path

import pytest
import torch

from kgqa.models.encoders.variants import ENCODERS, EncoderSettings, build_language_model
from kgqa.models.reader import Reader, load_reader
from kgqa.models.reasoners import ReasonerSettings
from kgqa.objectives.pretraining.knowledge import Joint
from kgqa.objectives.pretraining.mlm import MASK_ID

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def make(kind: type[Joint], reasoner: str, vocab_size: int, **options: object) -> Joint:
    """An objective over a tiny ModernBERT and a reasoner."""
    torch.manual_seed(0)
    settings = EncoderSettings(variant="modernbert", max_position_embeddings=64, **SIZES)  # type: ignore[arg-type]
    model = build_language_model(settings, vocab_size)
    sizes = ReasonerSettings(name=reasoner, graph_size=32, num_layers=1, num_heads=2)
    reader = Reader(model.base_model, sizes)  # type: ignore[arg-type]
    return kind(model, ENCODERS["modernbert"].predict, reader, **options)  # type: ignore[arg-type]


def test_text_is_hidden_and_the_graph_is_read(grounded, tokenizer) -> None:  # type: ignore[no-untyped-def]
    objective = make(Joint, "fused", tokenizer.get_vocab_size(), share=0.3).eval()
    seen = []
    objective.encoder.register_forward_pre_hook(
        lambda _module, _arguments, inputs: seen.append(inputs["input_ids"]), with_kwargs=True
    )
    batch = grounded(0)
    torch.manual_seed(1)
    fused, term = objective.read(batch, batch.graph)
    loss = term.total
    assert term.count == objective.counts(batch)["mlm"] > 0
    assert (seen[0] == MASK_ID).any() and not (batch.tokens.input_ids == MASK_ID).any()
    assert fused.nodes.shape == (len(batch.graph.node_label), 32) and torch.isfinite(loss)
    loss.backward()
    assert all(p.grad is not None for p in objective.model.head.parameters())
    torch.manual_seed(1)
    empty = replace(
        batch.graph, edge_index=batch.graph.edge_index[:, :0], edge_label=batch.graph.edge_label[:0]
    )
    without = replace(empty, edge_weight=batch.graph.edge_weight[:0])
    assert not torch.allclose(objective.read(batch, without)[0].nodes, fused.nodes)


def test_export_is_a_reader_to_go_on_from(
    grounded, tokenizer, tokenizer_folder: Path, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    from transformers import AutoModel

    def save(folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (folder / name).write_bytes((tokenizer_folder / name).read_bytes())

    objective = make(Joint, "ernie", tokenizer.get_vocab_size(), save=save).eval()
    objective.export(tmp_path / "run" / "export")
    reader, card = load_reader(tmp_path / "run" / "export")
    assert reader.settings == objective.reader.settings and card["name"] == "run"
    ids = grounded(0).tokens.input_ids
    ours = objective.encoder(input_ids=ids).last_hidden_state
    loaded = AutoModel.from_pretrained(tmp_path / "run" / "export", dtype=torch.float32).eval()
    theirs = loaded(input_ids=ids).last_hidden_state
    assert torch.allclose(ours, theirs, atol=2e-2), "half precision apart"


def test_another_encoder_is_refused(tokenizer, encoder) -> None:  # type: ignore[no-untyped-def]
    model = make(Joint, "fused", tokenizer.get_vocab_size()).model
    with pytest.raises(ValueError, match="own encoder"):
        Joint(model, ENCODERS["modernbert"].predict, Reader(encoder, ReasonerSettings(name="text-only")))


@pytest.mark.parametrize("variant", ["bert", "roberta", "albert", "tinybert", "mobilebert", "ib-bert"])
def test_exports_of_encoders_without_pooler_can_be_opened(
    variant: str, tokenizer, tokenizer_folder: Path, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    settings = EncoderSettings(variant=variant, max_position_embeddings=64, embedding_size=16, **SIZES)  # type: ignore[arg-type]
    model = build_language_model(settings, tokenizer.get_vocab_size())
    reader = Reader(model.base_model, ReasonerSettings(name="text-only"))  # type: ignore[arg-type]
    Joint(model, ENCODERS[variant].predict, reader).export(tmp_path)
    opened, _ = load_reader(tmp_path)
    ids = torch.randint(5, 40, (2, 12))
    ours, theirs = (
        net.encoder.eval()(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        for net in (reader, opened)
    )
    assert torch.allclose(ours, theirs, atol=5e-2), "half precision apart"
