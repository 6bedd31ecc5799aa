from pathlib import Path

import pytest
import torch
from support.tiny import language_model
from torch import Tensor

from kgqa.batch import TextBatch
from kgqa.objectives.pretraining.mlm import MLMWithPairs


def pairs(seed: int, task: str, stream: Tensor, half: int = 8) -> TextBatch:
    draw = torch.Generator().manual_seed(seed)
    rows, label = [], torch.randint(0, 2, (32,), generator=draw)
    for swapped in label.tolist():
        start = int(torch.randint(0, len(stream) - 2 * half, (1,), generator=draw))
        first, second = stream[start : start + half], stream[start + half : start + 2 * half]
        if swapped and task == "sop":
            first, second = second, first
        elif swapped:
            second = torch.full_like(second, 100)
        rows.append(torch.cat([torch.tensor([2]), first, torch.tensor([3]), second, torch.tensor([3])]))
    ids = torch.stack(rows)
    segments = (torch.arange(ids.shape[1]) > half + 1).long().expand_as(ids)
    return TextBatch(ids, torch.ones_like(ids, dtype=torch.bool), segments, label)


@pytest.mark.parametrize(("variant", "task"), [("bert", "nsp"), ("albert", "sop")])
def test_both_losses_fall(variant: str, task: str, stream: Tensor, learn) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    objective = MLMWithPairs(*language_model(variant))
    before, after = learn(objective, steps=40, batch=lambda step: pairs(step, task, stream))
    assert after < before - 0.5
    if task == "nsp":
        assert objective.eval()(pairs(999, task, stream)).parts["pair_accuracy"] > 0.8


def test_segments_reach_the_encoder(stream: Tensor) -> None:
    torch.manual_seed(0)
    objective = MLMWithPairs(*language_model()).eval()
    batch = pairs(0, "nsp", stream)
    flat = TextBatch(batch.input_ids, batch.attention_mask, torch.zeros_like(batch.input_ids), batch.label)
    losses = []
    for given in (batch, flat):
        torch.manual_seed(1)
        losses.append(objective(given).total)
    assert not torch.allclose(*losses)


@pytest.mark.parametrize("variant", ["roberta", "distilbert", "mpnet", "deberta", "modernbert"])
def test_encoders_without_segments_read_two_sentences_and_start_with_the_head(
    variant: str, stream: Tensor, tmp_path: Path
) -> None:
    def make(seed: int) -> MLMWithPairs:
        torch.manual_seed(seed)
        return MLMWithPairs(*language_model(variant))

    objective = make(0)
    loss = objective(pairs(0, "nsp", stream))
    loss.total.backward()
    assert torch.isfinite(loss.total) and objective.pair_head.out.weight.grad is not None
    objective.export(tmp_path)
    other = make(1)
    other.start(tmp_path)
    ours, theirs = objective.pair_head.state_dict(), other.pair_head.state_dict()
    assert all(torch.equal(value, theirs[name]) for name, value in ours.items())


@pytest.mark.parametrize("sharing", ["bert", "all", "attention", "mobilebert"])
def test_what_is_exported_loads_whole_and_judges_pairs_alike(
    sharing: str, stream: Tensor, tmp_path: Path
) -> None:
    from transformers import AutoModel, AutoModelForMaskedLM, AutoModelForPreTraining

    torch.manual_seed(0)
    variant = "albert" if sharing in ("all", "attention") else sharing
    shared = {"sharing": sharing} if variant == "albert" else {}
    objective = MLMWithPairs(*language_model(variant, **shared)).eval()
    objective.export(tmp_path)
    for kind in (AutoModel, AutoModelForMaskedLM, AutoModelForPreTraining):
        model, reported = kind.from_pretrained(tmp_path, output_loading_info=True)
        assert not reported["missing_keys"], reported
    batch = pairs(0, "sop", stream)
    with torch.no_grad():
        inputs = {"attention_mask": batch.attention_mask.long(), "token_type_ids": batch.token_type_ids}
        output = model.eval()(input_ids=batch.input_ids, **inputs)
        ours = objective.pair_head(objective.encoder(input_ids=batch.input_ids, **inputs).last_hidden_state)
    theirs = output.sop_logits if variant == "albert" else output.seq_relationship_logits
    assert torch.allclose(ours, theirs, atol=1e-5)
    again = MLMWithPairs(*language_model(variant, **shared))
    again.start(tmp_path)
    assert torch.equal(again.pair_head.out.weight, objective.pair_head.out.weight)
    assert torch.equal(again.pair_head.dense.bias, objective.pair_head.dense.bias)
