"""A masked or causal language model of a Hugging Face folder, and what it thinks of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import cross_entropy

from kgqa.models.collation.sentences import Marks, marks_of, pad_rows
from kgqa.models.devices import find_device
from kgqa.models.encoders.stepping import CAUSAL_TYPES
from kgqa.models.encoders.variants import ENCODERS
from kgqa.models.pretrained import from_config, load_config, load_pretrained
from kgqa.text.corpus.tokenizer import load_tokenizer
from kgqa.types import InputError


@dataclass(frozen=True)
class LanguageModel:
    """A masked or causal language model in evaluation mode, with its tokenizer."""

    model: Any
    tokenizer: Tokenizer
    marks: Marks
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
        batch = pad_rows([(ids, len(ids)) for ids in rows], self.marks.pad).to(device)
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

    Raises:
        InputError: this machine has no such device, or the tokenizer is missing or marks neither start nor end.
    """
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    generator = folder / "generator"
    source = generator if (generator / "config.json").is_file() else folder
    config = load_config(source)
    causal = is_causal(config.model_type, config.architectures or ())
    kind: Any = AutoModelForCausalLM if causal else AutoModelForMaskedLM
    tokenizer = load_tokenizer(folder)
    marks = marks_of(tokenizer)
    if config.model_type == "xlnet" or (not causal and marks.mask is None):
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
    return LanguageModel(model.eval().to(find_device(device)), tokenizer, marks, causal)


def is_causal(model_type: str, architectures: Sequence[str]) -> bool:
    """Whether a configuration is that of a language model that reads from left to right."""
    names = " ".join(architectures)
    return model_type in CAUSAL_TYPES or "CausalLM" in names or ("LMHead" in names and model_type != "xlnet")
