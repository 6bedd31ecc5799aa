"""Replaced token detection: a small generator fills masks, and the discriminator detects the replaced tokens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, embedding

from kgqa.batch import Loss, Term, TextBatch
from kgqa.models.encoders.variants import save_model
from kgqa.objectives.base import guess_term, guessed
from kgqa.objectives.pretraining.mlm import MLM, SPECIAL_TOKENS, Masked, gather, states

# Between MLM and RTD (ELECTRA's ablations): tokens are predicted from rows with a generator's samples instead of masks.


class ReplaceMLM(MLM):
    """MLM over rows in which the samples of a smaller, jointly trained generator replace [MASK] (Clark et al., 2020,
    section 3.4).

    As in RTD, the encoder never sees [MASK], but it predicts tokens. With `all_tokens`, it predicts every token of the
    row, with a copy mechanism: p = D input + (1 - D) softmax, D = sigmoid(w h) ("All-Tokens MLM"). A `share` of the
    tokens is masked for the generator. The batch is a `TextBatch`. Unlike in the paper, the two networks share no
    embeddings.
    """

    mask_share, random_share = 1.0, 0.0

    def __init__(
        self,
        model: Any,
        predict: Callable[[Any, Tensor], Tensor],
        generator: Any,
        generator_predict: Callable[[Any, Tensor], Tensor],
        *,
        all_tokens: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(model, predict, **options)
        self.generator, self._generator_predict = generator, generator_predict
        self.copy = nn.Linear(model.config.hidden_size, 1) if all_tokens else None

    def forward(self, batch: TextBatch) -> Loss:
        """The generator's MLM loss and the encoder's."""
        masked = self.hide(batch)
        seen = gather(states(self.generator.base_model, masked.input_ids, batch), masked.positions)
        logits = self._generator_predict(self.generator, seen).float()  # (B, K, V)
        row = replace_hidden(batch.input_ids, masked, logits)
        hidden = states(self.encoder, row, batch)  # (B, T, H)
        if self.copy is None:
            guess = self.guess_loss(gather(hidden, masked.positions), masked.labels)
        else:
            guess = self._guess_all(hidden, row, batch)
        return Loss.summed({"generator": guess_term(logits, masked.labels), "mlm": guess})

    def counts(self, batch: TextBatch) -> dict[str, Tensor | float]:
        """The number of masked tokens, and of those that the encoder predicts."""
        hidden = guessed(self.hide(batch).labels)
        every = (batch.input_ids >= SPECIAL_TOKENS).sum()
        return {"generator": hidden, "mlm": hidden if self.copy is None else every}

    def _guess_all(self, hidden: Tensor, row: Tensor, batch: TextBatch) -> Term:
        assert self.copy is not None
        copied = self.copy(hidden).squeeze(-1).float()  # (B, T)
        words = self._predict(self.model, hidden).float().log_softmax(-1)
        guess = words.gather(-1, batch.input_ids.unsqueeze(-1)).squeeze(-1)
        log_copy = torch.nn.functional.logsigmoid
        guess = log_copy(-copied) + guess  # from the vocabulary
        guess = torch.where(row == batch.input_ids, torch.logaddexp(guess, log_copy(copied)), guess)
        counted = batch.input_ids >= SPECIAL_TOKENS
        return Term(-(guess * counted).sum(), counted.sum())


HEAD = "discriminator_head.safetensors"
PREFIX = "discriminator_predictions."
Sharing = Literal["es", "nes", "gdes"]


class DisentangledEmbedding(nn.Embedding):
    """Another embedding with its gradient stopped, plus a learned difference that is initialized to zero.

    E_D = sg(E_G) + E_delta (He et al., 2023, section 3.2, equation 4): the discriminator uses the generator's
    embedding, but its gradient does not change it.
    """

    def __init__(self, shared: nn.Embedding) -> None:
        super().__init__(shared.num_embeddings, shared.embedding_dim, padding_idx=shared.padding_idx)
        nn.init.zeros_(self.weight)
        self._shared = [shared]  # in a list, so that it is not registered here: the generator owns it

    @property
    def total(self) -> Tensor:
        """The embedding table of the discriminator, (V, E)."""
        return self._shared[0].weight.detach() + self.weight

    def forward(self, ids: Tensor) -> Tensor:
        """Vectors (B, T, E) of tokens (B, T)."""
        return embedding(ids, self._shared[0].weight.detach()) + embedding(ids, self.weight)


def read_head(folder: Path) -> dict[str, Tensor] | None:
    """The discriminator's head in an exported folder; None if there is none."""
    for name in (HEAD, "model.safetensors"):
        if (folder / name).is_file():
            weights = load_file(folder / name)
            found = {n.removeprefix(PREFIX): value for n, value in weights.items() if n.startswith(PREFIX)}
            if found:
                return found
    return None


def share_embeddings(generator: Any, discriminator: Any, sharing: Sharing) -> None:
    """Tie the two networks' embeddings.

    `es` shares all of them (Clark et al., 2020, section 3.2), `nes` none, `gdes` the word embeddings with the
    gradient stopped (He et al., 2023).
    """
    if sharing == "nes":
        return
    words = generator.get_input_embeddings()
    if sharing == "gdes":
        discriminator.set_input_embeddings(DisentangledEmbedding(words))
        return
    theirs, ours = generator.base_model.embeddings, discriminator.embeddings
    if [p.shape for p in theirs.parameters()] == [p.shape for p in ours.parameters()]:
        discriminator.embeddings = theirs
    else:
        discriminator.set_input_embeddings(words)


@torch.no_grad()
def replace_hidden(input_ids: Tensor, masked: Masked, logits: Tensor, temperature: float = 1.0) -> Tensor:
    """The rows (B, T) with tokens sampled from a generator's logits (B, K, V) at the masked positions.

    A sample that equals the original counts as original (Clark et al., 2020, section 2). Sampling inverts the
    cumulative distribution: one random number per token, instead of one per vocabulary entry as for the Gumbel-max
    trick.
    """
    shares = (logits.float() / temperature).softmax(-1).cumsum(-1)  # (B, K, V)
    heights = torch.rand_like(shares[..., -1:]) * shares[..., -1:]
    drawn = torch.searchsorted(shares, heights).squeeze(-1).clamp(max=shares.size(-1) - 1)
    drawn = torch.where(masked.labels < 0, input_ids.gather(1, masked.positions), drawn)
    return input_ids.scatter(1, masked.positions, drawn)


class RTD(MLM):
    """MLM loss of the generator plus `weight` times the discriminator's loss over all tokens (Clark et al., 2020).

    The batch is a `TextBatch`. With `sharing="gdes"`, this is DeBERTaV3's objective.

    Args:
        generator, predict, share, inside, save: as for `MLM`; a masked language model, smaller than the discriminator.
        discriminator: the encoder that is exported, with embeddings of the generator's dimension.
        weight: lambda in the paper.
        temperature: temperature of the samples; above 1, they are easier to detect.
        warm_steps: number of first optimizer steps that train only the generator: the discriminator does not run.
        judges: the tokens in the discriminator's loss: all, or only the masked ones (the ablation ELECTRA 15%, section
            3.4).
    """

    mask_share, random_share = 0.85, 0.0
    discriminator: Any

    def __init__(
        self,
        generator: nn.Module,
        predict: Callable[[Any, Tensor], Tensor],
        discriminator: Any,
        *,
        sharing: Sharing = "gdes",
        weight: float = 50.0,
        temperature: float = 1.0,
        warm_steps: int = 0,
        judges: Literal["all", "hidden"] = "all",
        **options: Any,
    ) -> None:
        from transformers import ElectraConfig
        from transformers.models.electra.modeling_electra import ElectraDiscriminatorPredictions

        super().__init__(generator, predict, **options)
        share_embeddings(generator, discriminator, sharing)
        self.discriminator = discriminator
        size = discriminator.config.hidden_size
        self.head = ElectraDiscriminatorPredictions(ElectraConfig(hidden_size=size))  # type: ignore[no-untyped-call]
        self.weight, self.temperature = weight, temperature
        self.warm_steps, self.judges = warm_steps, judges
        self._warming = warm_steps > 0

    @property
    def encoder(self) -> nn.Module:
        """The exported part: the discriminator."""
        encoder: nn.Module = self.discriminator
        return encoder

    def begin_step(self, step: int) -> None:
        self._warming = step < self.warm_steps

    def forward(self, batch: TextBatch) -> Loss:
        """Both losses; `majority` is the accuracy of predicting "original" everywhere, a baseline."""
        masked = self.hide(batch)
        hidden = gather(states(self.model.base_model, masked.input_ids, batch), masked.positions)
        logits = self._predict(self.model, hidden).float()  # (B, K, V)
        mlm = guess_term(logits, masked.labels)
        counted = self._counted(batch, masked).float()
        count = counted.sum()
        if self.training and self._warming:
            # a gradient of zero for each weight, as processes that exchange gradients expect
            weights = [*self.discriminator.parameters(), *self.head.parameters()]
            return Loss.summed(
                {"mlm": mlm, "rtd": Term(0.0 * torch.stack([w.sum() for w in weights]).sum(), count)}
            )
        corrupted = replace_hidden(batch.input_ids, masked, logits, self.temperature)
        replaced = corrupted != batch.input_ids
        scores = self.head(states(self.discriminator, corrupted, batch)).float()  # (B, T)
        losses = binary_cross_entropy_with_logits(scores, replaced.float(), reduction="none")
        rtd = Term((losses * counted).sum(), count, self.weight)
        with torch.no_grad():
            right = (((scores > 0) == replaced) * counted).sum() / count.clamp(min=1)
            majority = 1 - (replaced * counted).sum() / count.clamp(min=1)
        return Loss.summed({"mlm": mlm, "rtd": rtd}, accuracy=right, majority=majority)

    def counts(self, batch: TextBatch) -> dict[str, Tensor | float]:
        """The number of masked tokens, and of tokens in the discriminator's loss."""
        masked = self.hide(batch)
        return {"mlm": guessed(masked.labels), "rtd": self._counted(batch, masked).sum().float()}

    def _counted(self, batch: TextBatch, masked: Masked) -> Tensor:
        """(B, T) bool: the tokens in the discriminator's loss."""
        if self.judges == "all":
            return batch.input_ids >= SPECIAL_TOKENS
        chosen = masked.labels != -100
        return torch.zeros_like(batch.input_ids, dtype=torch.bool).scatter(1, masked.positions, chosen)

    def export(self, folder: Path) -> None:
        """Write the discriminator as a Hugging Face folder, and the generator (an MLM) in `generator/`.

        The head is included: an ELECTRA loads as `ElectraForPreTraining`; other architectures have no such class, so
        the head is in the file `HEAD`, under ELECTRA's names.
        """
        from transformers import ElectraForPreTraining

        words = self.discriminator.get_input_embeddings()
        merged: dict[str, Tensor] = {}
        if isinstance(words, DisentangledEmbedding):
            name = next(n for n, p in self.discriminator.named_parameters() if p is words.weight)
            merged[name] = words.total.detach().clone()
        if self.discriminator.config.model_type == "electra":
            whole = ElectraForPreTraining(self.discriminator.config)
            whole.electra = self.discriminator
            whole.discriminator_predictions.load_state_dict(self.head.state_dict())
            save_model(whole, folder, {f"electra.{name}": value for name, value in merged.items()})
        else:
            save_model(self.discriminator, folder, merged)
            head = {f"{PREFIX}{n}": value for n, value in self.head.state_dict().items()}
            save_file(head, folder / HEAD, metadata={"format": "pt"})
        save_model(self.model, folder / "generator")
        self._save(folder)
        self._save(folder / "generator")
