"""A masked or causal language model: what it thinks of tokens, and how relevant it finds a concept."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import cross_entropy

from kgqa.data.corpus.tokenizer import load_tokenizer
from kgqa.models.collation.sentence_batch import SpecialTokens, pad_rows, special_tokens_of
from kgqa.models.devices import find_device
from kgqa.models.encoders.layerwise import CAUSAL_TYPES, longest_row
from kgqa.models.encoders.variants import ENCODERS
from kgqa.models.pretrained import checksum, from_config, load_config, load_pretrained
from kgqa.settings import find_encoder
from kgqa.types import Answer, Candidate, Example, InputError, Question, Source, Span

# Answers by prompt: a causal language model goes on with a text that ends where the answer begins.


UNKNOWN = "unknown"
"""What a prompt says where there is no answer, and what is taken for none."""
ANSWER_TOKENS = 16
"""Of an open question's answer."""
TOP_K = 40
"""Tokens of which one is drawn, where any is."""
ChoiceScore = Literal["token", "sum", "unconditional"]
"""How a choice is judged: log-likelihood a token, in all, or against its likelihood after a bare "A:"."""


class Prompter:
    """A causal language model as a reader (Radford et al., 2019, section 3; Brown et al., 2020, section 2).

    Without examples it answers zero-shot, with one or more one- or few-shot; no weight is changed. An open question is
    answered by greedy decoding up to the line's end, choices by their likelihood.
    `examples` are solved examples that stand before each question.
    """

    def __init__(
        self,
        language: LanguageModel,
        examples: Sequence[Example] = (),
        *,
        name: str = "",
        choice_score: ChoiceScore = "token",
    ) -> None:
        if not language.causal:
            raise InputError(
                f"{name or 'the model'}: guesses hidden words, and cannot go on with a text; take a GPT"
            )
        self.language, self.examples, self.name = language, list(examples), name
        self.choice_score = choice_score
        self.max_tokens = min(longest_row(language.model.base_model), 2048)

    def answer(self, question: Question) -> Answer:
        """The answer to a question, with a likelihood as its confidence."""
        begin = time.perf_counter()
        found = self._chosen(question) if question.choices else self._open(question)
        timing = {"total": 1000 * (time.perf_counter() - begin)}
        best = found[0]
        completion = None if best.source is Source.NONE else best.text
        return Answer(
            question, completion, best.source, best.score, tuple(found), timing_ms=timing, model=self.name
        )

    def answer_many(self, questions: Sequence[Question]) -> list[Answer]:
        """Answers to several questions, one after the other."""
        return [self.answer(question) for question in questions]

    def prompt(self, question: Question, room: int) -> list[int]:
        """Token ids of examples and question, at most `room`: examples are left out first, then the passage's begin."""
        asked = self._ids(asking(question))
        examples = [
            self._ids(f"{asking(example.question)} {answer_text(example)}\n\n") for example in self.examples
        ]
        while examples and 1 + sum(map(len, examples)) + len(asked) > room:
            examples = examples[1:]
        ids = [token for part in examples for token in part] + asked
        return [self.language.special_tokens.start, *ids[-(room - 1) :]]

    def generate(
        self, text: str, max_new_tokens: int = 40, *, temperature: float = 0.0, seed: int = 0
    ) -> str:
        """What the model goes on with after a text: its likeliest words, or with a temperature drawn ones."""
        ids = [self.language.special_tokens.start, *self._ids(text)][
            -max(self.max_tokens - max_new_tokens, 1) :
        ]
        torch.manual_seed(seed)
        drawn = {"temperature": temperature, "top_k": TOP_K} if temperature else {}
        return self._decoded(self._generate(ids, max_new_tokens, do_sample=bool(temperature), **drawn))

    def _open(self, question: Question) -> list[Candidate]:
        ids = self.prompt(question, self.max_tokens - ANSWER_TOKENS)
        tokens = self._generate(ids, ANSWER_TOKENS, do_sample=False)
        completion = first_line(self._decoded(tokens))
        used = self._ids(f" {completion}")[:ANSWER_TOKENS] if completion else tokens[:1]
        sure = float((-self.language.losses_after(ids, [used])[0].mean()).exp()) if used else 0.0
        if not completion or completion.lower().startswith(UNKNOWN):
            return [Candidate("", Source.NONE, sure)]
        at = question.passage_text.lower().find(completion.lower())
        if at < 0:
            return [Candidate(completion, Source.KNOWLEDGE, sure)]
        span = Span(at, at + len(completion))
        return [Candidate(question.passage_text[span.start : span.end], Source.PASSAGE, sure, span=span)]

    def _chosen(self, question: Question) -> list[Candidate]:
        endings = [self._ids(f" {choice}") for choice in question.choices]
        room = self.max_tokens - max(map(len, endings))
        choice_score = self._choice_score(self.prompt(question, room), endings)
        if self.choice_score == "unconditional":
            choice_score = choice_score - self._choice_score(
                [self.language.special_tokens.start, *self._ids("A:")], endings
            )
        weights = choice_score.softmax(0).tolist()
        order = sorted(range(len(weights)), key=lambda n: -weights[n])
        return [Candidate(question.choices[n], Source.CHOICE, weights[n]) for n in order]

    def _choice_score(self, prompt: list[int], endings: Sequence[list[int]]) -> Tensor:
        losses = self.language.losses_after(prompt, endings)
        return torch.stack(
            [-(loss.mean() if self.choice_score == "token" else loss.sum()) for loss in losses]
        )

    @torch.inference_mode()
    def _generate(self, ids: list[int], max_new_tokens: int, **how: object) -> list[int]:
        rows = torch.tensor([ids], device=self.language.device)
        special_tokens = self.language.special_tokens
        out = self.language.model.generate(
            input_ids=rows,
            attention_mask=torch.ones_like(rows),
            max_new_tokens=max_new_tokens,
            eos_token_id=special_tokens.end,
            pad_token_id=special_tokens.pad,
            **how,
        )
        found: list[int] = out[0, len(ids) :].tolist()
        return found[: found.index(special_tokens.end)] if special_tokens.end in found else found

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self.language.tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def _decoded(self, tokens: Sequence[int]) -> str:
        return self.language.tokenizer.decode(list(tokens))


def asking(question: Question) -> str:
    """A question as a prompt puts it: the passage's line, the question's, and the answer's beginning."""
    passage = f"{question.passage_text}\n" if question.passage_text else ""
    return f"{passage}Q: {question.text}\nA:"


def answer_text(example: Example) -> str:
    """The answer of an example that is shown."""
    return example.golds[0] if example.golds else UNKNOWN


def first_line(text: str) -> str:
    """The first line of what was said, up to a next question, without quotes and full stop around it."""
    line = re.split(r"\n|\b[qQ] ?:", text.strip(), maxsplit=1)[0]
    return line.strip(" \t.\"'")


def load_prompter(
    folder: Path,
    examples: Sequence[Example] = (),
    *,
    device: str = "auto",
    choice_score: ChoiceScore = "token",
) -> Prompter:
    """The causal language model of a Hugging Face folder as a reader."""
    language = load_language_model(folder, device=device)
    if language is None:
        raise InputError(f"{folder}: holds no language model; `kgqa pretrain` with a GPT makes one")
    return Prompter(language, examples, name=folder.name, choice_score=choice_score)


# A masked or causal language model of a Hugging Face folder, and what it thinks of tokens.


@dataclass(frozen=True)
class LanguageModel:
    """A masked or causal language model in evaluation mode, with its tokenizer."""

    model: Any
    tokenizer: Tokenizer
    special_tokens: SpecialTokens
    causal: bool

    @property
    def device(self) -> torch.device:
        """Where its weights lie."""
        found: torch.device = next(self.model.parameters()).device
        return found

    @torch.inference_mode()
    def losses(
        self, rows: Sequence[Sequence[int]], targets: Sequence[tuple[Sequence[int], Tensor]]
    ) -> Tensor:
        """Negative log-likelihoods (n,), one after the other, of `targets[i]` = (tokens, their places) in row i."""
        device = self.device
        batch = pad_rows([(ids, len(ids)) for ids in rows], self.special_tokens.pad).to(device)
        row = torch.cat([torch.full((len(at),), i) for i, (_, at) in enumerate(targets)]).to(device)
        place = torch.cat([at for _, at in targets]).to(device) - int(self.causal)
        gold = torch.tensor([token for tokens, _ in targets for token in tokens], device=device)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask.long()}
            kinds = [v.predict for v in ENCODERS.values() if v.model_type == self.model.config.model_type]
            if kinds:
                logits = kinds[0](self.model, self.model.base_model(**inputs).last_hidden_state[row, place])
            else:
                logits = self.model(**inputs).logits[row, place]
        return cross_entropy(logits.float(), gold, reduction="none").cpu()

    def losses_after(self, prompt: Sequence[int], endings: Sequence[Sequence[int]]) -> list[Tensor]:
        """Negative log-likelihoods (n,) of each ending's tokens after the same prompt."""
        targets = [(ending, torch.arange(len(prompt), len(prompt) + len(ending))) for ending in endings]
        losses = self.losses([[*prompt, *ending] for ending in endings], targets)
        return list(torch.split(losses, [len(ending) for ending in endings]))


def load_language_model(
    folder: Path, from_scratch: bool = False, device: str = "auto"
) -> LanguageModel | None:
    """The language model of a Hugging Face folder, else the generator of our RTD runs, else None.

    `from_scratch` takes the architecture only, with seeded random weights, for comparison.
    """
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    generator = folder / "generator"
    source = generator if (generator / "config.json").is_file() else folder
    config = load_config(source)
    causal = is_causal(config.model_type, config.architectures or ())
    kind: Any = AutoModelForCausalLM if causal else AutoModelForMaskedLM
    tokenizer = load_tokenizer(folder)
    special_tokens = special_tokens_of(tokenizer)
    if config.model_type == "xlnet" or (not causal and special_tokens.mask is None):
        return None  # XLNet gives a token's likelihood by its query stream alone, which these do not ask
    if from_scratch:
        torch.manual_seed(0)
        model = from_config(kind, config)
    else:
        try:
            model, info = load_pretrained(kind, source, dtype=torch.float32, output_loading_info=True)
        except InputError as error:
            if isinstance(error.__cause__, ValueError):  # no such head for this architecture
                return None
            raise
        if info["missing_keys"]:
            return None
    return LanguageModel(model.eval().to(find_device(device)), tokenizer, special_tokens, causal)


def is_causal(model_type: str, architectures: Sequence[str]) -> bool:
    """Whether a configuration is that of a language model that reads from left to right."""
    names = " ".join(architectures)
    return model_type in CAUSAL_TYPES or "CausalLM" in names or ("LMHead" in names and model_type != "xlnet")


# How relevant a concept is to a text, as a language model sees it (QA-GNN, Yasunaga et al., 2021, section 3.1).

LABEL_TOKENS = 8
TEXT_TOKENS = 96
ROWS = 64
"""Of a causal model, read together."""


class LabelRelevance:
    """The probability of a concept's words after the text: mean log-probability of their tokens.

    A masked model sees the text and as many masks as the label has tokens, so one pass serves all labels of a length;
    the paper's code reads a sequence a concept and takes the loss of its unhidden words. A causal model reads text and
    label. What `retrieve(relevance=...)` takes.
    """

    def __init__(self, language: LanguageModel) -> None:
        self.language = language
        room = longest_row(language.model.base_model) - LABEL_TOKENS - 2
        self.text_tokens = min(TEXT_TOKENS, room)

    def __call__(self, text: str, labels: Sequence[str]) -> NDArray[np.float64]:
        """Relevance of each label, (N,), at most 0; of a text too long its end is read, of a label its beginning."""
        language, special_tokens = self.language, self.language.special_tokens
        encode = language.tokenizer.encode
        prefix_ids = [special_tokens.start, *encode(text, add_special_tokens=False).ids[-self.text_tokens :]]
        ids = [
            encode(f" {label}", add_special_tokens=False).ids[:LABEL_TOKENS] or [special_tokens.end]
            for label in labels
        ]
        found = np.zeros(len(labels))
        if language.causal:
            for at in range(0, len(ids), ROWS):
                each = language.losses_after(prefix_ids, ids[at : at + ROWS])
                found[at : at + ROWS] = [-float(part.mean()) for part in each]
            return found
        assert special_tokens.mask is not None
        for size in sorted({len(label) for label in ids}):
            mine = [number for number, label in enumerate(ids) if len(label) == size]
            places = torch.arange(len(prefix_ids), len(prefix_ids) + size).repeat(len(mine))
            tokens = [token for number in mine for token in ids[number]]
            losses = language.losses(
                [[*prefix_ids, *[special_tokens.mask] * size, special_tokens.end]], [(tokens, places)]
            )
            found[mine] = -losses.view(len(mine), size).mean(1).numpy()
        return found


def open_relevance(name: str) -> LabelRelevance | None:
    """The language model of a folder or shipped name as a judge of relevance; None for no name."""
    if not name:
        return None
    language = load_language_model(find_encoder(name))
    if language is None:
        raise InputError(
            f"{name}: holds no language model to judge relevance by; take an encoder with its head"
        )
    return LabelRelevance(language)


def fingerprint(name: str) -> str:
    """What tells the judge of a folder from any other."""
    return checksum(*sorted(find_encoder(name).rglob("*.safetensors")), size=8)
