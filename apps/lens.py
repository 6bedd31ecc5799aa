"""A look inside pretrained encoders: guesses for hidden words, verdicts on words, attention. No Streamlit."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.types import InputError

DRAWN_FROM = 50
"""Guesses among which a corrupted word is drawn."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A word for a hidden place, and its probability."""

    word: str
    probability: float


def joined(pieces: Iterable[str]) -> str:
    """Pieces of words as a text; `##` goes on with the word before."""
    return " ".join(pieces).replace(" ##", "")


class Lens:
    """A masked language model of a folder, with its tokenizer.

    Raises:
        InputError: the folder holds none, or only the encoder without its word-guessing head.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / "config.json").is_file():
            raise InputError(f"{folder.name}: no pretrained encoder here")
        from tokenizers import Tokenizer
        from transformers import AutoModelForMaskedLM

        try:
            model, told = AutoModelForMaskedLM.from_pretrained(
                folder, local_files_only=True, output_loading_info=True, attn_implementation="eager"
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(f"{folder.name}: cannot guess words ({str(error).splitlines()[0]})") from None
        if told["missing_keys"]:
            raise InputError(f"{folder.name}: the encoder was saved without its word-guessing head")
        self.model: Any = model.float().eval()
        self.tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
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
        """The pieces that the encoder reads."""
        return [self.tokenizer.id_to_token(i) for i in self._ids(text)]

    def _run(self, rows: list[list[int]]) -> Any:
        import torch

        with torch.inference_mode():
            return self.model(input_ids=torch.tensor(rows), output_attentions=True)

    def guesses(self, text: str, count: int = 6) -> list[list[Guess]]:
        """The best words for each [MASK], best first."""
        ids = self._ids(text)
        probabilities = self._run([ids]).logits[0].softmax(-1)
        return [self._best(probabilities[at], count) for at, i in enumerate(ids) if i == self.mask]

    def each_hidden(self, text: str) -> list[tuple[str, float, Guess]]:
        """For each word: its probability when it is hidden, and the best word there."""
        ids = self._ids(text)
        places = range(1, len(ids) - 1)
        rows = [[*ids[:at], self.mask, *ids[at + 1 :]] for at in places]
        if not rows:
            return []
        probabilities = self._run(rows).logits.softmax(-1)
        found = []
        for row, at in enumerate(places):
            here = probabilities[row, at]
            word = self.tokenizer.id_to_token(ids[at])
            found.append((word, float(here[ids[at]]), self._best(here, 1)[0]))
        return found

    def corrupted(self, text: str, seed: int = 0, share: float = 0.25) -> tuple[str, list[tuple[str, str]]]:
        """The text with some words drawn anew from the guesses, as a generator does for a discriminator.

        Also, for each word, what stood there and what stands there now (Clark et al., 2020, section 2).
        """
        ids = [i for i in self._ids(text)[1:-1] if i != self.mask]
        chance = random.Random(seed)
        count = min(len(ids), max(1, round(share * len(ids))))
        places = sorted(chance.sample(range(len(ids)), count))
        hidden = [self.mask if at in places else i for at, i in enumerate(ids)]
        new = list(ids)
        if places:
            first, last = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
            probabilities = self._run([[first, *hidden, last]]).logits[0].softmax(-1)
            for at in places:
                values, indices = probabilities[at + 1].topk(DRAWN_FROM)
                new[at] = chance.choices(indices.tolist(), values.tolist())[0]
        pairs = [
            (self.tokenizer.id_to_token(a), self.tokenizer.id_to_token(b))
            for a, b in zip(ids, new, strict=True)
        ]
        return joined([now for _, now in pairs]), pairs

    def _best(self, probabilities: Any, count: int) -> list[Guess]:
        values, indices = probabilities.topk(count)
        pairs = zip(indices.tolist(), values.tolist(), strict=True)
        return [Guess(self.tokenizer.id_to_token(i), v) for i, v in pairs]

    def attention(self, text: str, layer: int, head: int) -> list[list[float]]:
        """How much each word (row) looks at each word (column), in one head."""
        rows: list[list[float]] = self._run([self._ids(text)]).attentions[layer][0, head].tolist()
        return rows


class Discriminator:
    """An encoder that tells which words were replaced, with its head (ELECTRA's layout), of a folder.

    Raises:
        InputError: the folder holds none, or only the encoder without that head.
    """

    def __init__(self, folder: Path) -> None:
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InputError(f"{folder.name}: no pretrained encoder here") from None
        if config.get("architectures") != ["ElectraForPreTraining"]:
            raise InputError(f"{folder.name}: no discriminator; expected an ElectraForPreTraining folder")
        from tokenizers import Tokenizer
        from transformers import ElectraForPreTraining

        try:
            loaded: Any = ElectraForPreTraining.from_pretrained(
                folder, local_files_only=True, output_loading_info=True
            )
            self.tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # tokenizers raises plain Exception
            raise InputError(f"{folder.name}: cannot be read ({str(error).splitlines()[0]})") from None
        model, told = loaded
        if told["missing_keys"]:
            raise InputError(f"{folder.name}: the encoder was saved without its discriminating head")
        self.model: Any = model.float().eval()

    def verdicts(self, text: str) -> list[tuple[str, float]]:
        """For each word the probability that it was replaced."""
        import torch

        first, last = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
        ids = self.tokenizer.encode(text, add_special_tokens=False).ids[:126]
        with torch.inference_mode():
            logits = self.model(input_ids=torch.tensor([[first, *ids, last]])).logits[0]
        chances = logits.sigmoid().tolist()[1:-1]
        return [(self.tokenizer.id_to_token(i), p) for i, p in zip(ids, chances, strict=True)]
