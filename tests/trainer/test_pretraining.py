from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from support.tiny import changed, tiny
from tokenizers import Tokenizer

from kgqa.batch import QABatch, TextBatch
from kgqa.data.corpus.tokenizer import load_tokenizer, save_tokenizer, train_tokenizer
from kgqa.models.entity_vectors import EntityVectors, load_entities
from kgqa.models.reader import load_reader
from kgqa.objectives.distillation import DistilBERT, MobileBERT, TinyBERT
from kgqa.objectives.pretraining.knowledge import EntityDenoising, LinkPrediction
from kgqa.objectives.pretraining.mlm import CLM, MLM, MPLM, PLM, MLMWithPairs
from kgqa.objectives.pretraining.rtd import RTD
from kgqa.trainer import pretraining
from kgqa.trainer.pretraining import (
    CorpusSettings,
    PretrainingRecipe,
    RowBatches,
    build_objective,
    grounded_batches,
    in_turn,
    open_batches,
    passages,
    prepare_corpus,
    run_recipe,
    word_insides,
)
from kgqa.types import InputError
from training.pack import pack

SENTENCES = ["The cook stirs the soup with a spoon.", "The farmer digs the field with a spade.", "They rest."]


@pytest.fixture
def recipe(tmp_path: Path) -> PretrainingRecipe:
    text = "\n\n".join("\n".join([*SENTENCES, f"It is day {n}."]) for n in range(400))
    (tmp_path / "days.txt").write_text(text)
    (tmp_path / "facts.tsv").write_text("spoon\tUsedFor\tstir soup\nspade\tUsedFor\tdig\n" * 50)
    return PretrainingRecipe.model_validate(
        {
            "encoder": tiny("modernbert", max_position_embeddings=64).model_dump(),
            "tokenizer": {"vocab_size": 320},
            "data": {
                "folder": str(tmp_path),
                "sources": {"days": 1.0},
                "facts": str(tmp_path / "facts.tsv"),
                "held_out": 0.1,
                "sequence_tokens": 24,
                "batch_rows": 8,
            },
            "trainer": {"max_steps": 20, "evaluate_every_steps": 10, "learning_rate": 5e-3},
        }
    )


def test_from_text_to_encoder(recipe: PretrainingRecipe, tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    result = run_recipe(recipe, tmp_path / "run")
    assert result.steps == 20 and result.metrics["loss"] < 5.5
    export = tmp_path / "run" / "export"
    tokens = AutoTokenizer.from_pretrained(export)("The cook digs.", return_tensors="pt")
    hidden = AutoModel.from_pretrained(export)(tokens["input_ids"]).last_hidden_state
    assert hidden.shape[-1] == 32 and torch.isfinite(hidden).all()
    assert json.loads((tmp_path / "run" / "recipe.json").read_text())["trainer"]["max_steps"] == 20
    logged = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert all(line["mfu"] >= 0 for line in logged if "tokens_per_s" in line)  # a share of what was timed
    sources = json.loads((tmp_path / "run" / "corpus" / "manifest.json").read_text())["sources"]
    assert sources["facts"]["documents"] > 5


def test_held_out_figure_repeats(recipe: PretrainingRecipe, tmp_path: Path) -> None:
    shared = changed(recipe, data={"corpus": str(tmp_path / "corpus")})
    runs = [run_recipe(shared, tmp_path / name).metrics for name in ("a", "b")]
    assert runs[0] == runs[1]


def test_what_is_not_measured_is_refused_before_training(recipe: PretrainingRecipe, tmp_path: Path) -> None:
    wrong = changed(recipe, trainer={"best_metric": "mlm"})
    with pytest.raises(InputError, match="best_metric='mlm' is not measured"):
        run_recipe(wrong, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_another_tokenizer_is_refused(recipe: PretrainingRecipe, tmp_path: Path) -> None:
    prepare_corpus(recipe, tmp_path / "a")
    prepare_corpus(changed(recipe, name="other"), tmp_path / "a")
    save_tokenizer(train_tokenizer(["nothing alike"], vocab_size=320), tmp_path / "words")
    with pytest.raises(InputError, match="another tokenizer"):
        prepare_corpus(changed(recipe, tokenizer={"folder": str(tmp_path / "words")}), tmp_path / "a")


def test_other_text_rates_or_shards_are_not_taken_for_these(
    recipe: PretrainingRecipe, tmp_path: Path
) -> None:
    shared = changed(recipe, data={"corpus": str(tmp_path / "corpus")})
    run_recipe(shared, tmp_path / "run")
    with pytest.raises(InputError, match="learning_rate=0.005"):
        run_recipe(changed(shared, trainer={"learning_rate": 1e-3}), tmp_path / "run")
    with pytest.raises(InputError, match="sources.days=1.0, the recipe has 0.5"):
        run_recipe(changed(shared, data={"sources": {"days": 0.5}}), tmp_path / "new")
    (tmp_path / "days.txt").write_text((tmp_path / "days.txt").read_text().replace("spoon", "ladle"))
    with pytest.raises(InputError, match="days.hash"):
        run_recipe(shared, tmp_path / "run")


@pytest.mark.parametrize("objective", ["nsp", "sop"])
def test_pairs_from_the_corpus(recipe: PretrainingRecipe, objective: str, tmp_path: Path) -> None:
    pairs = changed(recipe, objective={"name": objective}, encoder={"variant": "bert"})
    assert run_recipe(pairs, tmp_path / "run").steps == 20


@pytest.mark.parametrize("objective", ["entity_denoising", "link_prediction"])
def test_text_with_subgraphs(
    recipe: PretrainingRecipe,
    objective: str,
    tools_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = "\n\n".join(f"On day {n} I had to plant flowers. I took a trowel." for n in range(300))
    (tmp_path / "days.txt").write_text(text)
    data = {"graph": str(tools_file), "passages": 64, "sequence_tokens": 48, "facts": None}
    budget = {"max_steps": 4, "evaluate_every_steps": 2}
    grounded = changed(recipe, objective={"name": objective}, data=data, trainer=budget)
    result = run_recipe(grounded, tmp_path / "run")
    assert result.steps == 4 and {"mlm", "loss"} < set(result.metrics)
    assert (tmp_path / "run" / "export" / "reader.json").exists()
    if objective == "link_prediction":
        return
    names = load_reader(tmp_path / "run" / "export")[0].state_dict()
    vectors = EntityVectors(["a", "b"], np.ones((2, 6), dtype=np.float16), {})
    (tmp_path / "vectors").mkdir()
    vectors.save(tmp_path / "vectors" / "entities.safetensors")
    run_recipe(changed(grounded, data={"entities": str(tmp_path / "vectors")}), tmp_path / "told")
    kept, card = load_reader(tmp_path / "told" / "export")
    assert kept.settings.entity_size == 6 and kept.state_dict().keys() > names.keys()
    assert load_entities(tmp_path / "told" / "export").size == 6


def test_whole_words(recipe: PretrainingRecipe, tmp_path: Path) -> None:
    assert run_recipe(changed(recipe, objective={"whole_words": True}), tmp_path / "run").steps == 20
    pieces = word_insides(load_tokenizer(tmp_path / "run" / "corpus"))
    assert 0 < pieces.sum() < 320 and not pieces[:5].any()
    bpe = train_tokenizer(["the digging gardener digs . " * 9], vocab_size=320, kind="bpe")
    inside = word_insides(bpe)
    assert not inside[bpe.token_to_id("Ġ")] and not inside[bpe.token_to_id(".")] and not inside[:5].any()
    assert inside[bpe.token_to_id("g")]


def test_every_row_once_an_epoch_in_a_fixed_order(recipe: PretrainingRecipe, tmp_path: Path) -> None:
    corpus = prepare_corpus(recipe, tmp_path)[0]
    batches = open_batches(recipe, corpus)
    assert isinstance(batches, RowBatches)
    for epoch in range(2):
        steps = range(epoch * batches.steps_per_epoch, (epoch + 1) * batches.steps_per_epoch)
        seen = torch.cat([batches[step].input_ids for step in steps])
        assert len(seen) == batches.steps_per_epoch * 8
        assert torch.equal(batches[steps[0]].input_ids, seen[:8])
    again = open_batches(recipe, corpus)
    assert torch.equal(again[3].input_ids, batches[3].input_ids)
    assert not torch.equal(batches[0].input_ids, batches[batches.steps_per_epoch].input_ids)


def test_rows_on_the_device_are_the_same() -> None:
    rows = np.random.default_rng(0).integers(0, 1 << 16, (40, 8)).astype(np.uint16)
    there, here = RowBatches(rows, 6, 3, torch.device("cpu")), RowBatches(rows, 6, 3)
    assert all(torch.equal(there[step].input_ids, here[step].input_ids) for step in range(14))
    assert int(here[0].input_ids.max()) > 1 << 15, "ids are unsigned"


@pytest.mark.parametrize("objective", ["mlm", "rtd", "nsp"])
def test_two_halves_of_a_pretraining_equal_one_run(
    recipe: PretrainingRecipe, objective: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = changed(
        recipe,
        objective={"name": objective, "warm_steps": 3},
        encoder={"variant": "electra", "dropout": 0.1},
        trainer={"max_steps": 8, "optimizer": "muon"},
        data={"corpus": str(tmp_path / "corpus")},
    )
    run_recipe(short, tmp_path / "one")
    fetch, seen = pretraining.open_batches, []

    def interrupted(*arguments: Any) -> Any:
        batches = fetch(*arguments)
        kind = type(batches)

        class Stopping(kind):  # type: ignore[misc,valid-type]
            def __getitem__(self, step: int) -> TextBatch:
                seen.append(step)
                if step == 4 and len(seen) < 8:
                    os.kill(os.getpid(), signal.SIGTERM)
                return super().__getitem__(step)

        batches.__class__ = Stopping
        return batches

    monkeypatch.setattr(pretraining, "open_batches", interrupted)
    first = run_recipe(short, tmp_path / "two")
    monkeypatch.setattr(pretraining, "open_batches", fetch)
    assert first.interrupted and first.steps < 8
    assert run_recipe(short, tmp_path / "two").steps == 8
    weights = [load_file(tmp_path / run / "export" / "model.safetensors") for run in ("one", "two")]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_exports_load_where_this_package_is_not(recipe: PretrainingRecipe, tmp_path: Path) -> None:
    run_recipe(recipe, tmp_path / "run")
    shipped = Path(__file__).parents[2] / "training" / "models" / "kgqa-mini"
    folders = [str(tmp_path / "run" / "export"), str(shipped)]
    code = (
        "import sys; sys.modules['kgqa'] = None\n"
        "from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer\n"
        "for folder in sys.argv[1:]:\n"
        "    tokens = AutoTokenizer.from_pretrained(folder)('I dig.', return_tensors='pt')\n"
        "    model, more = AutoModel.from_pretrained(folder, output_loading_info=True)\n"
        "    assert not more['missing_keys'], more\n"
        "    assert model(tokens['input_ids']).last_hidden_state.isfinite().all()\n"
        "    whole, more = AutoModelForMaskedLM.from_pretrained(folder, output_loading_info=True)\n"
        "    assert not more['missing_keys'], more\n"
        "try:\n    import kgqa\nexcept ImportError:\n    print('without')\n"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *folders], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout.strip() == "without", done.stderr


def test_document_rows_come_with_a_mask(recipe: PretrainingRecipe, tmp_path: Path) -> None:
    apart = changed(recipe, data={"packing": "doc_sentences", "sequence_tokens": 64})
    corpus = prepare_corpus(apart, tmp_path)[0]
    batch = open_batches(apart, corpus)[0]
    assert batch.attention_mask is not None and not batch.attention_mask.all()


def test_a_tokenizer_with_other_special_ids_is_refused(recipe: PretrainingRecipe, tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models

    bert = Tokenizer(models.WordPiece({"[PAD]": 0, "the": 1, "[UNK]": 2}, unk_token="[UNK]"))
    (tmp_path / "bert").mkdir()
    bert.save(str(tmp_path / "bert" / "tokenizer.json"))
    with pytest.raises(InputError, match="is id 2"):
        prepare_corpus(changed(recipe, tokenizer={"folder": str(tmp_path / "bert")}), tmp_path / "a")


def assembled_recipe(
    variant: str = "bert", objective: str = "mlm", start: str | None = None, **options: object
) -> PretrainingRecipe:
    return PretrainingRecipe.model_validate(
        {
            "encoder": tiny(variant).model_dump(),
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
    assert type(built(assembled_recipe(variant, objective))) is kind


@pytest.mark.parametrize(
    ("variant", "objective", "kind"),
    [("distilbert", "distilbert", DistilBERT), ("tinybert", "tinybert", TinyBERT)],
)
def test_students_of_a_saved_teacher(variant: str, objective: str, kind: type, tmp_path: Path) -> None:
    built(assembled_recipe("bert")).export(tmp_path)
    student = built(assembled_recipe(variant, objective, teacher=str(tmp_path)))
    assert type(student) is kind
    ids = torch.randint(5, 128, (2, 16))
    student(TextBatch(ids)).total.backward()


@pytest.mark.parametrize(
    ("variant", "before", "objective"),
    [
        ("bert", "mlm", "mlm"),
        ("electra", "rtd", "rtd"),
        ("modernbert", "rtd", "rtd"),
        ("modernbert", "mlm", "rtd"),
    ],
)
def test_going_on_from_weights_alone(variant: str, before: str, objective: str, tmp_path: Path) -> None:
    first = built(assembled_recipe(variant, before)).eval()
    with torch.no_grad():
        for parameter in first.parameters():
            parameter += 0.01 * torch.randn_like(parameter)
    first.export(tmp_path)
    second = built(assembled_recipe(variant, objective, start=str(tmp_path))).eval()
    ids = torch.randint(5, 128, (2, 16))
    one, two = (o.encoder(input_ids=ids).last_hidden_state for o in (first, second))
    assert torch.allclose(one, two, atol=1e-5)


@pytest.mark.parametrize(("variant", "objective"), [("bert", "mlm"), ("modernbert", "rtd")])
def test_a_deeper_encoder_begins_with_the_layers_of_a_shallower_one(
    variant: str, objective: str, tmp_path: Path
) -> None:
    built(assembled_recipe(variant, objective)).export(tmp_path)
    recipe = assembled_recipe(variant, objective, start=str(tmp_path))
    weights = built(changed(recipe, encoder={"num_hidden_layers": 4})).encoder.state_dict()
    layers = [
        {name.split(f".{n}.", 1)[1]: weights[name] for name in sorted(weights) if f".{n}." in name}
        for n in range(4)
    ]
    for low, high in ((0, 2), (1, 3)):
        assert all(torch.equal(value, layers[high][name]) for name, value in layers[low].items())
    assert not all(torch.equal(value, layers[3][name]) for name, value in layers[2].items())


def test_a_run_starts_from_weights_in_eight_bits(tmp_path: Path) -> None:
    first = built(assembled_recipe("modernbert")).eval()
    first.export(tmp_path / "whole")
    pack(tmp_path / "whole", tmp_path / "packed")
    second = built(assembled_recipe("modernbert", start=str(tmp_path / "packed"))).eval()
    ids = torch.randint(5, 128, (2, 16))
    one, two = (o.encoder(input_ids=ids).last_hidden_state for o in (first, second))
    assert torch.allclose(one, two, atol=0.05)


def test_what_does_not_fit_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [
        (assembled_recipe("gpt2", "mlm"), "take clm"),
        (assembled_recipe("bert", "clm"), "does not fit"),
        (assembled_recipe("bert", "plm"), "plm needs xlnet"),
        (assembled_recipe("bert", "mplm"), "use mpnet"),
        (assembled_recipe("xlnet", "nsp"), "plm needs xlnet"),
        (assembled_recipe("distilbert", "distilbert"), "objective.teacher"),
        (assembled_recipe("distilbert", "distilbert", teacher=str(tmp_path)), "pretrain the teacher"),
        (assembled_recipe("bert", start=str(tmp_path)), "no weights"),
        (assembled_recipe("bert", "rtd", generator=tiny(hidden_size=16).model_dump()), "dimension"),
    ]
    for given, message in cases:
        with pytest.raises(InputError, match=message):
            built(given)
    built(assembled_recipe("bert")).export(tmp_path)
    with pytest.raises(InputError, match="does not fit"):
        built(assembled_recipe("albert", start=str(tmp_path)))


def test_an_unknown_objective_is_refused_with_the_recipe() -> None:
    with pytest.raises(ValueError, match=r"objective.name\n.*unknown objective .*mlm, .*nsp, "):
        assembled_recipe("bert", "nonesuch")


def test_an_unknown_encoder_is_refused_before_anything_is_made(
    recipe: PretrainingRecipe, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="did you mean 'bert'"):
        run_recipe(changed(recipe, encoder={"variant": "brt"}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_distilbert_begins_with_its_teachers_layers(tmp_path: Path) -> None:
    teacher = built(assembled_recipe("bert"))
    teacher.export(tmp_path)
    student = built(assembled_recipe("distilbert", "distilbert", teacher=str(tmp_path), temperature=3.0))
    theirs = teacher.encoder.encoder.layer[0].attention.self.query.weight
    assert torch.equal(student.encoder.transformer.layer[0].attention.q_lin.weight, theirs)
    assert student.temperature == 3.0


def test_a_mobilebert_begins_with_its_teachers_embedding(tmp_path: Path) -> None:
    teacher = built(assembled_recipe("ib-bert"))
    teacher.export(tmp_path)
    student = built(assembled_recipe("mobilebert", "mobilebert", teacher=str(tmp_path), transfer_steps=4))
    assert type(student) is MobileBERT and student.layer == 0
    assert torch.equal(*(o.encoder.get_input_embeddings().weight for o in (teacher, student)))


def test_a_narrower_generator() -> None:
    objective = built(assembled_recipe("electra", "rtd", generator_form="narrower", sharing="es"))
    small = objective.model.config
    assert (small.num_hidden_layers, small.hidden_size, small.intermediate_size) == (2, 8, 16)
    assert objective.discriminator.embeddings is objective.model.electra.embeddings
    assert built(assembled_recipe("electra", "rtd")).model.config.num_hidden_layers == 1


def test_a_setting_is_heard_or_refused(tmp_path: Path) -> None:
    teacher = built(assembled_recipe())
    teacher.export(tmp_path)
    student = built(
        assembled_recipe("tinybert", "tinybert", teacher=str(tmp_path), prediction=True, temperature=3.0)
    )
    assert isinstance(student, TinyBERT) and student.temperature == 3.0
    for options in (
        {"temperature": 2.0},
        {"objective": "tinybert", "teacher": str(tmp_path), "temperature": 2.0},
        {"objective": "tinybert", "teacher": str(tmp_path), "whole_words": True},
        {"variant": "gpt2", "objective": "clm", "whole_words": True},
        {"variant": "electra", "objective": "rtd", "static_masks": True},
        {"variant": "electra", "objective": "replace_mlm", "whole_words": True},
    ):
        with pytest.raises(InputError, match="has no effect"):
            built(assembled_recipe(**options))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"objective.options.decodr is unknown; did you mean 'decoder'?"):
        built(assembled_recipe("xlnet", "plm", options={"decodr": None}))


def test_sources_take_turns() -> None:
    first, second = [["a"], ["b"], ["c"]], [["x"]]
    assert list(in_turn([iter(first), iter(second)])) == [["a"], ["x"], ["b"], ["c"]]


def test_passages_are_whole_sentences() -> None:
    document = ["one two three", "four five", "six " * 40, "seven"]
    assert list(passages(document, 12)) == ["one two three four five", ("six " * 8), "seven"]
    assert list(passages([], 12)) == []


def data(graph: Path, **changed: object) -> CorpusSettings:
    sizes = {"sequence_tokens": 48, "batch_rows": 4, "passages": 16, "max_nodes": 8, "held_out": 0.2}
    return CorpusSettings.model_validate({"sources": {"x": 1.0}, "graph": str(graph), **sizes, **changed})


def documents() -> list[list[str]]:
    return [[f"On day {n} I wanted to plant flowers.", "So I took a trowel."] for n in range(40)]


def test_text_meets_its_facts(
    tools_file: Path, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    train = grounded_batches(data(tools_file), [iter(documents())], tokenizer, "train", 0)
    batch = train[0]
    assert isinstance(batch, QABatch) and batch.num_questions == 4
    assert len(batch.graph.mention_row) >= 8 and batch.graph.edge_index.shape[1] >= 4
    again = grounded_batches(data(tools_file), [iter(documents())], tokenizer, "train", 0)
    assert (again[5].tokens.input_ids == train[5].tokens.input_ids).all()
    held_out = grounded_batches(data(tools_file), [iter(documents())], tokenizer, "held_out", 0)
    seen = {e.question.passage_text for e in train.parts[0].examples}
    assert not seen & {e.question.passage_text for e in held_out.parts[0].examples}


def test_text_that_names_nothing_is_refused(
    tools_file: Path, tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(InputError, match="mentions its concepts"):
        grounded_batches(data(tools_file), [iter([["Nothing here."]] * 9)], tokenizer, "train", 0)


def test_rows_longer_than_the_encoder_and_shares_above_one_are_refused(
    recipe: PretrainingRecipe, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="sequence_tokens=65 exceeds encoder.max_position_embeddings=64"):
        run_recipe(changed(recipe, data={"sequence_tokens": 65}), tmp_path / "run")
    values = recipe.data.model_dump() | {"sources": {"days": 2.0}}
    with pytest.raises(ValueError, match="less than or equal to 1"):
        PretrainingRecipe.model_validate({"data": values})


def test_weights_of_another_vocabulary_are_refused(recipe: PretrainingRecipe, tmp_path: Path) -> None:
    run_recipe(recipe, tmp_path / "run")
    earlier = str(tmp_path / "run" / "export")
    (tmp_path / "days.txt").write_text("\n\n".join(f"Nobody knows what {n} bees hum." for n in range(400)))
    for values in ({"start": earlier}, {"objective": {"name": "distilbert", "teacher": earlier}}):
        other = PretrainingRecipe.model_validate(recipe.model_dump() | values)
        with pytest.raises(InputError, match=f"another vocabulary; set tokenizer.folder={earlier}"):
            run_recipe(other, tmp_path / f"other-{next(iter(values))}")
