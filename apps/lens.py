"""Inspect pretrained encoders: predictions for masked words, replaced-token detection, attention. No Streamlit."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from math import prod
from pathlib import Path
from typing import Any

from kgqa.models.pretrained import load_pretrained
from kgqa.types import InputError

DRAWN_FROM = 50
"""Number of top predictions from which a replacement is drawn."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A prediction for a masked word, and its probability."""

    word: str
    probability: float


def joined(pieces: Iterable[str]) -> str:
    """Word pieces joined to text; `##` continues the word before."""
    return " ".join(pieces).replace(" ##", "")


def whole_words(pieces: Sequence[str]) -> list[range]:
    """The range of pieces of each word."""
    starts = [at for at, piece in enumerate(pieces) if not at or not piece.startswith("##")]
    return [range(a, b) for a, b in pairwise([*starts, len(pieces)])]


def _opened(folder: Path, architecture: Any, **more: Any) -> tuple[Any, Any]:
    """The model of a folder, with the head of an architecture, and its tokenizer."""
    from tokenizers import Tokenizer

    try:
        model, report = load_pretrained(architecture, folder, output_loading_info=True, **more)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # tokenizers raises plain Exception
        raise InputError(f"{folder.name}: cannot be read ({str(error).splitlines()[0]})") from None
    if report["missing_keys"]:
        raise InputError(f"{folder.name}: the encoder was saved without the head of its pretraining")
    return model.float().eval(), tokenizer


class Lens:
    """A masked language model of a folder, with its tokenizer. Raises InputError if the folder holds none, or only the
    encoder without its word-guessing head.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / "config.json").is_file():
            raise InputError(f"{folder.name}: no pretrained encoder here")
        from transformers import AutoModelForMaskedLM

        self.model, self.tokenizer = _opened(folder, AutoModelForMaskedLM, attn_implementation="eager")
        self.mask: int = self.tokenizer.token_to_id("[MASK]") or 0
        config = self.model.config
        self.num_layers: int = config.num_hidden_layers
        self.num_heads: int = config.num_attention_heads

    def _ids(self, text: str) -> list[int]:
        first, last = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
        ids: list[int] = []
        for number, part in enumerate(text.split("[MASK]")):
            ids += [self.mask] if number else []
            ids += self.tokenizer.encode(part.strip(), add_special_tokens=False).ids
        return [first, *ids[:126], last]

    def words(self, text: str) -> list[str]:
        """The word pieces of a text."""
        return [self.tokenizer.id_to_token(i) for i in self._ids(text)]

    def _run(self, rows: list[list[int]]) -> Any:
        import torch

        with torch.inference_mode():
            return self.model(input_ids=torch.tensor(rows), output_attentions=True)

    def guesses(self, text: str, count: int = 6) -> list[list[Guess]]:
        """The best predictions for each [MASK]: whole words that are not in the text already.

        Small encoders tend to repeat words of the text, which would be uninformative.
        """
        ids = self._ids(text)
        probabilities = self._run([ids]).logits[0].softmax(-1)
        here = {self.tokenizer.id_to_token(i) for i in ids}
        found = []
        for at in (at for at, i in enumerate(ids) if i == self.mask):
            best = (
                g
                for g in self._best(probabilities[at], 20 * count)
                if g.word.isalpha() and g.word not in here
            )
            found.append(list(islice(best, count)))
        return found

    def each_hidden(self, text: str) -> list[tuple[str, float, Guess]]:
        """For each word: its probability when it is masked, and the best prediction.

        The pieces of a word are masked together, and their probabilities are multiplied.
        """
        ids = self._ids(text)
        words = [[at + 1 for at in word] for word in whole_words(self.words(text)[1:-1])]
        if not words:
            return []
        rows = [[self.mask if at in word else i for at, i in enumerate(ids)] for word in words]
        probabilities = self._run(rows).logits.softmax(-1)
        found = []
        for row, word in enumerate(words):
            best = [self._best(probabilities[row, at], 1)[0] for at in word]
            guess = Guess(joined(g.word for g in best), prod(g.probability for g in best))
            chance = prod(float(probabilities[row, at, ids[at]]) for at in word)
            found.append((joined(self.tokenizer.id_to_token(ids[at]) for at in word), chance, guess))
        return found

    def corrupted(self, text: str, seed: int = 0, share: float = 0.25) -> tuple[str, list[tuple[str, str]]]:
        """The text with some words sampled anew from the predictions, as a generator does for a discriminator.

        Also returns the pair of original and new word for each word (Clark et al., 2020, section 2). Only whole words
        are masked and replaced.
        """
        ids = [i for i in self._ids(text)[1:-1] if i != self.mask]
        pieces = [self.tokenizer.id_to_token(i) for i in ids]
        words = whole_words(pieces) if pieces else []
        chance = random.Random(seed)
        count = min(len(words), max(1, round(share * len(words))))
        chosen = set(chance.sample(range(len(words)), count))
        places = {at for number in chosen for at in words[number]}
        now = [joined(pieces[at] for at in word) for word in words]
        was = list(now)
        if places:
            first, last = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
            hidden = [self.mask if at in places else i for at, i in enumerate(ids)]
            probabilities = self._run([[first, *hidden, last]]).logits[0].softmax(-1)
            for number in sorted(chosen):
                found = self._best(probabilities[words[number].start + 1], DRAWN_FROM)
                whole = [guess for guess in found if guess.word.isalpha()] or found
                now[number] = chance.choices([g.word for g in whole], [g.probability for g in whole])[0]
        return joined(now), list(zip(was, now, strict=True))

    def _best(self, probabilities: Any, count: int) -> list[Guess]:
        values, indices = probabilities.topk(count)
        pairs = zip(indices.tolist(), values.tolist(), strict=True)
        return [Guess(self.tokenizer.id_to_token(i), v) for i, v in pairs]

    def attention(
        self, text: str, layer: int, head: int | None = None
    ) -> tuple[list[str], list[list[float]]]:
        """Words, and the attention of each (row) to each (column), of one head or averaged over all heads.

        Attention to [CLS] and [SEP] is left out and each row is normalized again; over the pieces of a word, rows are
        averaged and columns summed.
        """
        weights = self._run([self._ids(text)]).attentions[layer][0]
        chosen = weights.mean(0) if head is None else weights[head]
        return _looks(self.words(text)[1:-1], chosen[1:-1, 1:-1])

    def softened(self, text: str, temperatures: Sequence[float], count: int = 6) -> list[list[Guess]]:
        """The likeliest words for the first [MASK] with their probabilities at each temperature.

        They are the soft targets of distillation (Hinton et al., 2015): a higher temperature gives unlikely words more
        weight.
        """
        ids = self._ids(text)
        if self.mask not in ids:
            return []
        logits = self._run([ids]).logits[0, ids.index(self.mask)]
        best = logits.topk(count).indices.tolist()
        return [
            [Guess(self.tokenizer.id_to_token(i), float((logits / heat).softmax(-1)[i])) for i in best]
            for heat in temperatures
        ]


class TextGenerator:
    """A causal language model of a folder: generation and attention. Raises InputError if the folder holds none."""

    def __init__(self, folder: Path) -> None:
        from kgqa.models.language_model import load_prompter

        if not (folder / "config.json").is_file():
            raise InputError(f"{folder.name}: no causal language model here")
        self.prompter = load_prompter(folder, device="cpu")
        self.language = self.prompter.language
        self.language.model.set_attn_implementation("eager")
        self.num_layers: int = self.language.model.config.num_hidden_layers
        self.num_heads: int = self.language.model.config.num_attention_heads

    def generate(self, text: str, tokens: int, temperature: float, seed: int = 0) -> str:
        """A continuation of a text."""
        return self.prompter.generate(text, tokens, temperature=temperature, seed=seed).strip()

    def attention(
        self, text: str, layer: int, head: int | None = None
    ) -> tuple[list[str], list[list[float]]]:
        """As `Lens.attention`, but causal: no attention to later words."""
        import torch

        ids = self.language.tokenizer.encode(text, add_special_tokens=False).ids[:126]
        with torch.inference_mode():
            rows = torch.tensor([[self.language.special_tokens.start, *ids]])
            weights = self.language.model(input_ids=rows, output_attentions=True).attentions[layer][0]
        chosen = weights.mean(0) if head is None else weights[head]
        pieces = [(self.language.tokenizer.id_to_token(i) or "").replace("Ġ", "") for i in ids]
        return _looks(pieces, chosen[1:, 1:])


def _looks(pieces: Sequence[str], inner: Any) -> tuple[list[str], list[list[float]]]:
    """Words, and the attention between them, from pieces and their attention (T, T)."""
    words = whole_words(pieces) if pieces else []
    rows = []
    for looks in words:
        row = inner[looks.start : looks.stop].mean(0)
        sums = [float(row[seen.start : seen.stop].sum()) for seen in words]
        whole = sum(sums) or 1.0
        rows.append([value / whole for value in sums])
    return [joined(pieces[at] for at in word) for word in words], rows


class Discriminator:
    """A discriminator of replaced tokens (an encoder with its head, in ELECTRA's layout) of a folder. Raises InputError
    if the folder holds none, or only the encoder without that head.
    """

    def __init__(self, folder: Path) -> None:
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InputError(f"{folder.name}: no pretrained encoder here") from None
        if config.get("architectures") != ["ElectraForPreTraining"]:
            raise InputError(f"{folder.name}: no discriminator; expected an ElectraForPreTraining folder")
        from transformers import ElectraForPreTraining

        self.model, self.tokenizer = _opened(folder, ElectraForPreTraining)

    def replaced_probabilities(self, text: str) -> list[tuple[str, float]]:
        """For each word the probability that it was replaced."""
        import torch

        first, last = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
        ids = self.tokenizer.encode(text, add_special_tokens=False).ids[:126]
        with torch.inference_mode():
            logits = self.model(input_ids=torch.tensor([[first, *ids, last]])).logits[0]
        chances = logits.sigmoid().tolist()[1:-1]
        return [(self.tokenizer.id_to_token(i), p) for i, p in zip(ids, chances, strict=True)]
