import pytest
import torch
from torch import nn

from kgqa.trainer.loop import build_optimizers, factor, parameter_groups, set_rate
from kgqa.trainer.recipe import TrainerSettings


class Toy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Embedding(50, 32), nn.Linear(32, 32), nn.LayerNorm(32))
        self.head = nn.Linear(32, 2)


def settings(**values: object) -> TrainerSettings:
    return TrainerSettings(max_steps=10, **values)  # type: ignore[arg-type]


def test_every_parameter_is_in_one_group() -> None:
    toy = Toy()
    groups = parameter_groups(toy, settings(encoder_learning_rate=1e-5, optimizer="muon"))
    ids = [id(p) for g in groups for p in g["params"]]
    assert sorted(ids) == sorted(id(p) for p in toy.parameters())
    inside = {id(p) for p in toy.encoder.parameters()}
    for group in groups:
        for parameter in group["params"]:
            assert group["rate"] == (1e-5 if id(parameter) in inside else 1e-3)
            assert (group["weight_decay"] > 0) == (parameter.ndim == 2)
            assert group["muon"] == (parameter is toy.encoder[1].weight)


def test_frozen_parameters_are_left_out() -> None:
    toy = Toy()
    toy.encoder.requires_grad_(False)
    assert sum(len(g["params"]) for g in parameter_groups(toy, settings())) == 2


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_a_step_moves_everything(optimizer: str) -> None:
    toy = Toy()
    before = [p.clone() for p in toy.parameters()]
    optimizers = build_optimizers(toy, settings(optimizer=optimizer))
    assert len(optimizers) == (2 if optimizer == "muon" else 1)
    toy.head(toy.encoder(torch.arange(50))).square().sum().backward()
    for one in optimizers:
        one.step()
    assert all(not torch.equal(a, b) for a, b in zip(before, toy.parameters(), strict=True))


def test_schedules() -> None:
    linear, wsd = settings(warmup=0.1), settings(warmup=0.1, schedule="wsd", decay=0.4)
    assert factor(0.05, linear) == pytest.approx(0.5) and factor(0.1, linear) == pytest.approx(1.0)
    assert factor(0.55, linear) == pytest.approx(0.5) and factor(1.0, linear) == 0.0
    assert [factor(x, wsd) for x in (0.1, 0.3, 0.6)] == [1.0, 1.0, 1.0]
    assert factor(0.8, wsd) == pytest.approx(0.5) and factor(2.0, wsd) == 0.0
    assert factor(0.99, settings(schedule="constant", warmup=0)) == 1.0
    assert factor(0.0, linear) > 0


def test_rate_is_each_groups_own() -> None:
    optimizers = build_optimizers(Toy(), settings(encoder_learning_rate=1e-5))
    set_rate(optimizers, 0.5)
    assert {g["lr"] for o in optimizers for g in o.param_groups} == {5e-6, 5e-4}
