"""Masked and causal language models: token likelihoods, relevance of concepts, answers by prompt."""

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

# Answers by prompt: a causal language model continues a text that ends where the answer begins.


UNKNOWN = "unknown"
"""Text of "no answer", in the examples of a prompt and in the model's output."""
ANSWER_TOKENS = 16
"""Maximum length of the answer to an open question, in tokens."""
TOP_K = 40
"""Number of most probable tokens that are sampled from (top-k sampling)."""
ChoiceScore = Literal["token", "sum", "unconditional"]
"""Score of a choice: mean token log-probability, total log-probability, or the latter minus that after "A:" alone
(PMI)."""


class Prompter:
    """A causal language model as a reader (Radford et al., 2019, section 3; Brown et al., 2020, section 2).

    Zero-shot without `examples`, else one- or few-shot: they precede each question in the prompt. Nothing is trained.
    Open questions are answered by greedy decoding up to the end of the line, choices are ranked by their likelihood.
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
                f"{name or 'the model'}: a masked language model cannot continue a text; use a causal one (GPT)"
            )
        self.language, self.examples, self.name = language, list(examples), name
        self.choice_score = choice_score
        self.max_tokens = min(longest_row(language.model.base_model), 2048)

    def answer(self, question: Question) -> Answer:
        """The answer to a question; its confidence is a likelihood."""
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
        """Token ids of examples and question, at most `room`: examples are dropped first, then the start of the
        passage."""
        asked = self._ids(prompt_of(question))
        examples = [
            self._ids(f"{prompt_of(example.question)} {answer_text(example)}\n\n")
            for example in self.examples
        ]
        while examples and 1 + sum(map(len, examples)) + len(asked) > room:
            examples = examples[1:]
        ids = [token for part in examples for token in part] + asked
        return [self.language.special_tokens.start, *ids[-(room - 1) :]]

    def generate(
        self, text: str, max_new_tokens: int = 40, *, temperature: float = 0.0, seed: int = 0
    ) -> str:
        """Continue a text: by greedy decoding, or by sampling if a temperature is given."""
        ids = [self.language.special_tokens.start, *self._ids(text)][
            -max(self.max_tokens - max_new_tokens, 1) :
        ]
        torch.manual_seed(seed)
        drawn = {"temperature": temperature, "top_k": TOP_K} if temperature else {}
        return self._decoded(self._generate(ids, max_new_tokens, do_sample=bool(temperature), **drawn))

    def _open(self, question: Question) -> list[Candidate]:
        ids = self.prompt(question, self.max_tokens - ANSWER_TOKENS)
        tokens = self._generate(ids, ANSWER_TOKENS, do_sample=False)
        completion = first_generated_line(self._decoded(tokens))
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


def prompt_of(question: Question) -> str:
    """The prompt of a question: a line for the passage, one for the question, and the start of the answer's."""
    passage = f"{question.passage_text}\n" if question.passage_text else ""
    return f"{passage}Q: {question.text}\nA:"


def answer_text(example: Example) -> str:
    """The answer of an example in the prompt."""
    return example.golds[0] if example.golds else UNKNOWN


def first_generated_line(text: str) -> str:
    """The first line of a continuation, up to the next question, without surrounding quotes and full stop."""
    line = re.split(r"\n|\b[qQ] ?:", text.strip(), maxsplit=1)[0]
    return line.strip(" \t.\"'")


def load_prompter(
    folder: Path,
    examples: Sequence[Example] = (),
    *,
    device: str = "auto",
    choice_score: ChoiceScore = "token",
) -> Prompter:
    """Load the causal language model of a Hugging Face folder as a reader."""
    language = load_language_model(folder, device=device)
    if language is None:
        raise InputError(f"{folder}: contains no language model; `kgqa pretrain` trains one (GPT)")
    return Prompter(language, examples, name=folder.name, choice_score=choice_score)


# Token likelihoods by a masked or causal language model of a Hugging Face folder.


@dataclass(frozen=True)
class LanguageModel:
    """A masked or causal language model in evaluation mode, with its tokenizer."""

    model: Any
    tokenizer: Tokenizer
    special_tokens: SpecialTokens
    causal: bool

    @property
    def device(self) -> torch.device:
        found: torch.device = next(self.model.parameters()).device
        return found

    @torch.inference_mode()
    def losses(
        self, rows: Sequence[Sequence[int]], targets: Sequence[tuple[Sequence[int], Tensor]]
    ) -> Tensor:
        """Negative log-likelihoods (n,), concatenated, of `targets[i]` = (tokens, their positions) in row i."""
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
        """Negative log-likelihoods (n,) of the tokens of each ending after the same prompt."""
        targets = [(ending, torch.arange(len(prompt), len(prompt) + len(ending))) for ending in endings]
        losses = self.losses([[*prompt, *ending] for ending in endings], targets)
        return list(torch.split(losses, [len(ending) for ending in endings]))


def load_language_model(
    folder: Path, from_scratch: bool = False, device: str = "auto"
) -> LanguageModel | None:
    """The language model of a Hugging Face folder, or the generator of an RTD run; None if there is neither.

    With `from_scratch`, the architecture gets seeded random weights, as a baseline.
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
        return None  # XLNet computes likelihoods in its query stream, which is not supported here
    if from_scratch:
        torch.manual_seed(0)
        model = from_config(kind, config)
    else:
        try:
            model, info = load_pretrained(kind, source, dtype=torch.float32, output_loading_info=True)
        except InputError as error:
            if isinstance(error.__cause__, ValueError):  # the architecture has no such head
                return None
            raise
        if info["missing_keys"]:
            return None
    return LanguageModel(model.eval().to(find_device(device)), tokenizer, special_tokens, causal)


def is_causal(model_type: str, architectures: Sequence[str]) -> bool:
    """Whether a configuration is that of a causal (left-to-right) language model."""
    names = " ".join(architectures)
    return model_type in CAUSAL_TYPES or "CausalLM" in names or ("LMHead" in names and model_type != "xlnet")


# Relevance of a concept to a text by a language model (QA-GNN, Yasunaga et al., 2021, section 3.1).

LABEL_TOKENS = 8
TEXT_TOKENS = 96
ROWS = 64
"""Batch size of a causal model."""


class LabelRelevance:
    """Relevance as the mean log-probability of the tokens of a concept's label after the text.

    A masked model reads the text and as many masks as the label has tokens, so one pass serves all labels of the same
    length; the paper's code instead reads one sequence per concept, and takes the loss of its unmasked words. A causal
    model reads text and label. An instance is passed to `retrieve_subgraphs(relevance=...)`.
    """

    def __init__(self, language: LanguageModel) -> None:
        self.language = language
        room = longest_row(language.model.base_model) - LABEL_TOKENS - 2
        self.text_tokens = min(TEXT_TOKENS, room)

    def __call__(self, text: str, labels: Sequence[str]) -> NDArray[np.float64]:
        """Relevance of each label, (N,), at most 0. A long text is truncated at the start, a long label at the end."""
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
    """Load the language model of a folder or shipped name for scoring relevance; None for no name."""
    if not name:
        return None
    language = load_language_model(find_encoder(name))
    if language is None:
        raise InputError(
            f"{name}: contains no language model to score relevance with; use an encoder with its prediction head"
        )
    return LabelRelevance(language)


def language_model_fingerprint(name: str) -> str:
    """Fingerprint of the language model in a folder."""
    return checksum(*sorted(find_encoder(name).rglob("*.safetensors")), size=8)
