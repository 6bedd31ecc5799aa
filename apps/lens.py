"""A look inside the pretrained encoder: what it says for hidden words, and where its heads look. No Streamlit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgqa.types import InputError


@dataclass(frozen=True, slots=True)
class Guess:
    """A word for a hidden place, and its probability."""

    word: str
    probability: float


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

    def _best(self, probabilities: Any, count: int) -> list[Guess]:
        values, indices = probabilities.topk(count)
        pairs = zip(indices.tolist(), values.tolist(), strict=True)
        return [Guess(self.tokenizer.id_to_token(i), v) for i, v in pairs]

    def attention(self, text: str, layer: int, head: int) -> list[list[float]]:
        """How much each word (row) looks at each word (column), in one head."""
        rows: list[list[float]] = self._run([self._ids(text)]).attentions[layer][0, head].tolist()
        return rows
