from pathlib import Path

import pytest
import torch

from kgqa.batch import TextBatch
from kgqa.objectives.distillation import DistilBERT, MobileBERT, TinyBERT
from kgqa.objectives.pretraining.knowledge import EntityDenoising, LinkPrediction
from kgqa.objectives.pretraining.mlm import CLM, MLM, MPLM, PLM, MLMWithPairs
from kgqa.objectives.pretraining.rtd import RTD
from kgqa.trainer.pretraining import PretrainingRecipe, build_objective
from kgqa.types import InputError

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "embedding_size": 16,
    "max_position_embeddings": 48,
}


def recipe(
    variant: str = "bert", objective: str = "mlm", start: str | None = None, **options: object
) -> PretrainingRecipe:
    return PretrainingRecipe.model_validate(
        {
            "encoder": {"variant": variant, **SIZES},
            "objective": {"name": objective, **options},
            "data": {"sources": {"x": 1.0}},
            "start": start,
        }
    )


def built(given: PretrainingRecipe):  # type: ignore[no-untyped-def]
    return build_objective(given, 128, lambda folder: None)


@pytest.mark.parametrize(
    ("variant", "objective", "kind"),
    [
        ("bert", "nsp", MLMWithPairs),
        ("roberta", "mlm", MLM),
        ("albert", "sop", MLMWithPairs),
        ("electra", "rtd", RTD),
        ("deberta", "mlm", MLM),
        ("deberta-v3", "rtd", RTD),
        ("gpt2", "clm", CLM),
        ("xlnet", "plm", PLM),
        ("mpnet", "mplm", MPLM),
        ("mpnet", "mlm", MLM),
        ("modernbert", "rtd", RTD),
        ("bert", "entity_denoising", EntityDenoising),
        ("modernbert", "link_prediction", LinkPrediction),
    ],
)
def test_recipes_become_objectives(variant: str, objective: str, kind: type) -> None:
    assert type(built(recipe(variant, objective))) is kind


@pytest.mark.parametrize(
    ("variant", "objective", "kind"),
    [("distilbert", "distilbert", DistilBERT), ("tinybert", "tinybert", TinyBERT)],
)
def test_students_of_a_saved_teacher(variant: str, objective: str, kind: type, tmp_path: Path) -> None:
    built(recipe("bert")).export(tmp_path)
    student = built(recipe(variant, objective, teacher=str(tmp_path)))
    assert type(student) is kind
    ids = torch.randint(5, 128, (2, 16))
    student(TextBatch(ids)).total.backward()


def test_mobilebert_under_its_own_teacher(tmp_path: Path) -> None:
    built(recipe("ib-bert")).export(tmp_path)
    student = built(recipe("mobilebert", "mobilebert", teacher=str(tmp_path), transfer_steps=4))
    assert type(student) is MobileBERT and student.layer == 0


@pytest.mark.parametrize(
    ("variant", "objective"), [("bert", "mlm"), ("electra", "rtd"), ("modernbert", "rtd")]
)
def test_going_on_from_weights_alone(variant: str, objective: str, tmp_path: Path) -> None:
    first = built(recipe(variant, objective)).eval()
    with torch.no_grad():
        for parameter in first.parameters():
            parameter += 0.01 * torch.randn_like(parameter)
    first.export(tmp_path)
    second = built(recipe(variant, objective, start=str(tmp_path))).eval()
    ids = torch.randint(5, 128, (2, 16))
    one, two = (o.encoder(input_ids=ids).last_hidden_state for o in (first, second))
    assert torch.allclose(one, two, atol=1e-5)


def test_rtd_goes_on_from_a_masked_language_model(tmp_path: Path) -> None:
    first = built(recipe("modernbert")).eval()
    first.export(tmp_path)
    second = built(recipe("modernbert", "rtd", start=str(tmp_path))).eval()
    ids = torch.randint(5, 128, (2, 16))
    one, two = (o.encoder(input_ids=ids).last_hidden_state for o in (first, second))
    assert torch.allclose(one, two, atol=1e-5)


def test_what_does_not_fit_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [
        (recipe("gpt2", "mlm"), "take clm"),
        (recipe("bert", "clm"), "does not fit"),
        (recipe("bert", "plm"), "plm needs xlnet"),
        (recipe("bert", "mplm"), "use mpnet"),
        (recipe("xlnet", "nsp"), "plm needs xlnet"),
        (recipe("distilbert", "distilbert"), "objective.teacher"),
        (recipe("distilbert", "distilbert", teacher=str(tmp_path)), "pretrain the teacher"),
        (recipe("bert", start=str(tmp_path)), "no weights"),
        (recipe("bert", "rtd", generator={**SIZES, "variant": "bert", "hidden_size": 16}), "dimension"),
    ]
    for given, message in cases:
        with pytest.raises(InputError, match=message):
            built(given)
    built(recipe("bert")).export(tmp_path)
    with pytest.raises(InputError, match="does not fit"):
        built(recipe("albert", start=str(tmp_path)))


def test_an_unknown_objective_is_refused_with_the_recipe() -> None:
    with pytest.raises(ValueError, match=r"objective.name\n.*use one of mlm, nsp"):
        recipe("bert", "mlmm")


def test_a_distilbert_begins_with_its_teachers_layers(tmp_path: Path) -> None:
    teacher = built(recipe("bert"))
    teacher.export(tmp_path)
    student = built(recipe("distilbert", "distilbert", teacher=str(tmp_path), temperature=3.0))
    theirs = teacher.encoder.encoder.layer[0].attention.self.query.weight
    assert torch.equal(student.encoder.transformer.layer[0].attention.q_lin.weight, theirs)
    assert student.temperature == 3.0


def test_a_mobilebert_begins_with_its_teachers_embedding(tmp_path: Path) -> None:
    teacher = built(recipe("ib-bert"))
    teacher.export(tmp_path)
    student = built(recipe("mobilebert", "mobilebert", teacher=str(tmp_path)))
    assert torch.equal(*(o.encoder.get_input_embeddings().weight for o in (teacher, student)))


def test_a_narrower_generator() -> None:
    objective = built(recipe("electra", "rtd", generator_form="narrower", sharing="es"))
    small = objective.model.config
    assert (small.num_hidden_layers, small.hidden_size, small.intermediate_size) == (2, 8, 16)
    assert objective.discriminator.embeddings is objective.model.electra.embeddings
    assert built(recipe("electra", "rtd")).model.config.num_hidden_layers == 1


def test_a_temperature_is_heard_or_refused(tmp_path: Path) -> None:
    teacher = built(recipe())
    teacher.export(tmp_path)
    student = built(recipe("tinybert", "tinybert", teacher=str(tmp_path), prediction=True, temperature=3.0))
    assert isinstance(student, TinyBERT) and student.temperature == 3.0
    for options in (
        {"temperature": 2.0},
        {"objective": "tinybert", "teacher": str(tmp_path), "temperature": 2.0},
    ):
        with pytest.raises(InputError, match="has no effect"):
            built(recipe("bert", **options))  # type: ignore[arg-type]
