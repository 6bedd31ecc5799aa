"""Answers by prompt: a causal language model goes on with a text that ends where the answer begins."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from kgqa.models.encoders.stepping import longest_row
from kgqa.models.language.language_model import LanguageModel, load_language_model
from kgqa.types import Answer, Candidate, Example, InputError, Question, Source, Span

UNKNOWN = "unknown"
"""What a prompt says where there is no answer, and what is taken for none."""
ANSWER_TOKENS = 16
"""Of an open question's answer."""
TOP_K = 40
"""Tokens of which one is drawn, where any is."""
Worth = Literal["token", "sum", "unconditional"]
"""How a choice is judged: log-likelihood a token, in all, or against its likelihood after a bare "A:"."""


class Prompter:
    """A causal language model as a reader (Radford et al., 2019, section 3; Brown et al., 2020, section 2).

    Without examples it answers zero-shot, with one or more one- or few-shot; no weight is changed. An open question is
    answered by greedy decoding up to the line's end, choices by their likelihood.
    `shown` are solved examples that stand before each question.

    Raises:
        InputError: the language model is not causal.
    """

    def __init__(
        self,
        language: LanguageModel,
        shown: Sequence[Example] = (),
        *,
        name: str = "",
        worth: Worth = "token",
    ) -> None:
        if not language.causal:
            raise InputError(
                f"{name or 'the model'}: guesses hidden words, and cannot go on with a text; take a GPT"
            )
        self.language, self.shown, self.name = language, list(shown), name
        self.worth = worth
        self.max_tokens = min(longest_row(language.model.base_model), 2048)

    def answer(self, question: Question) -> Answer:
        """The answer to a question, with a likelihood as its confidence."""
        begin = time.perf_counter()
        found = self._chosen(question) if question.choices else self._open(question)
        timing = {"total": 1000 * (time.perf_counter() - begin)}
        best = found[0]
        said = None if best.source is Source.NONE else best.text
        return Answer(
            question, said, best.source, best.score, tuple(found), timing_ms=timing, model=self.name
        )

    def answer_many(self, questions: Sequence[Question]) -> list[Answer]:
        """Answers to several questions, one after the other."""
        return [self.answer(question) for question in questions]

    def prompt(self, question: Question, room: int) -> list[int]:
        """Token ids of examples and question, at most `room`: examples are left out first, then the passage's begin."""
        asked = self._ids(asking(question))
        shown = [self._ids(f"{asking(example.question)} {told(example)}\n\n") for example in self.shown]
        while shown and 1 + sum(map(len, shown)) + len(asked) > room:
            shown = shown[1:]
        ids = [token for part in shown for token in part] + asked
        return [self.language.marks.start, *ids[-(room - 1) :]]

    def go_on(self, text: str, max_new_tokens: int = 40, *, temperature: float = 0.0, seed: int = 0) -> str:
        """What the model goes on with after a text: its likeliest words, or with a temperature drawn ones."""
        ids = [self.language.marks.start, *self._ids(text)][-max(self.max_tokens - max_new_tokens, 1) :]
        torch.manual_seed(seed)
        drawn = {"temperature": temperature, "top_k": TOP_K} if temperature else {}
        return self._decoded(self._generate(ids, max_new_tokens, do_sample=bool(temperature), **drawn))

    def _open(self, question: Question) -> list[Candidate]:
        ids = self.prompt(question, self.max_tokens - ANSWER_TOKENS)
        tokens = self._generate(ids, ANSWER_TOKENS, do_sample=False)
        said = first_line(self._decoded(tokens))
        used = self._ids(f" {said}")[:ANSWER_TOKENS] if said else tokens[:1]
        sure = float((-self.language.losses_after(ids, [used])[0].mean()).exp()) if used else 0.0
        if not said or said.lower().startswith(UNKNOWN):
            return [Candidate("", Source.NONE, sure)]
        at = question.passage_text.lower().find(said.lower())
        if at < 0:
            return [Candidate(said, Source.KNOWLEDGE, sure)]
        span = Span(at, at + len(said))
        return [Candidate(question.passage_text[span.start : span.end], Source.PASSAGE, sure, span=span)]

    def _chosen(self, question: Question) -> list[Candidate]:
        endings = [self._ids(f" {choice}") for choice in question.choices]
        room = self.max_tokens - max(map(len, endings))
        worth = self._worth(self.prompt(question, room), endings)
        if self.worth == "unconditional":
            worth = worth - self._worth([self.language.marks.start, *self._ids("A:")], endings)
        weights = worth.softmax(0).tolist()
        order = sorted(range(len(weights)), key=lambda n: -weights[n])
        return [Candidate(question.choices[n], Source.CHOICE, weights[n]) for n in order]

    def _worth(self, prompt: list[int], endings: Sequence[list[int]]) -> Tensor:
        losses = self.language.losses_after(prompt, endings)
        return torch.stack([-(loss.mean() if self.worth == "token" else loss.sum()) for loss in losses])

    @torch.inference_mode()
    def _generate(self, ids: list[int], max_new_tokens: int, **how: object) -> list[int]:
        rows = torch.tensor([ids], device=self.language.device)
        marks = self.language.marks
        out = self.language.model.generate(
            input_ids=rows,
            attention_mask=torch.ones_like(rows),
            max_new_tokens=max_new_tokens,
            eos_token_id=marks.end,
            pad_token_id=marks.pad,
            **how,
        )
        found: list[int] = out[0, len(ids) :].tolist()
        return found[: found.index(marks.end)] if marks.end in found else found

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self.language.tokenizer.encode(text, add_special_tokens=False).ids
        return found

    def _decoded(self, tokens: Sequence[int]) -> str:
        return self.language.tokenizer.decode(list(tokens))


def asking(question: Question) -> str:
    """A question as a prompt puts it: the passage's line, the question's, and the answer's beginning."""
    passage = f"{question.passage_text}\n" if question.passage_text else ""
    return f"{passage}Q: {question.text}\nA:"


def told(example: Example) -> str:
    """The answer of an example that is shown."""
    return example.golds[0] if example.golds else UNKNOWN


def first_line(text: str) -> str:
    """The first line of what was said, up to a next question, without quotes and full stop around it."""
    line = re.split(r"\n|\b[qQ] ?:", text.strip(), maxsplit=1)[0]
    return line.strip(" \t.\"'")


def load_prompter(
    folder: Path, shown: Sequence[Example] = (), *, device: str = "auto", worth: Worth = "token"
) -> Prompter:
    """The causal language model of a Hugging Face folder as a reader.

    Raises:
        InputError: the folder holds none.
    """
    language = load_language_model(folder, device=device)
    if language is None:
        raise InputError(f"{folder}: holds no language model; `kgqa pretrain` with a GPT makes one")
    return Prompter(language, shown, name=folder.name, worth=worth)
