"""What a training of a reader starts from: an encoder's folder, or an earlier reader's."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import nn

from kgqa.assets import find_encoder
from kgqa.models.encoders.stepping import Stepper
from kgqa.models.pretrained import CARD, from_config, load_config, load_pretrained
from kgqa.models.reader import Reader, load_reader
from kgqa.text.corpus.tokenizer import load_tokenizer
from kgqa.trainer.finetuning.answering_recipe import AnsweringRecipe, EncoderSettings


def load_encoder(settings: EncoderSettings) -> tuple[nn.Module, Path]:
    """A Hugging Face base model from a folder of ours or anyone's, and its folder (the tokenizer's too).

    Raises:
        InputError: there is no such folder or shipped encoder.
    """
    from transformers import AutoModel

    folder = find_encoder(settings.folder)
    config = load_config(folder)
    if settings.dropout is not None:
        for name in [n for n in vars(config) if n.endswith(("_dropout", "_dropout_prob"))]:
            setattr(config, name, settings.dropout)
    attention = {} if torch.cuda.is_available() else {"attn_implementation": "eager"}
    if settings.from_scratch:
        return from_config(AutoModel, config, **attention), folder
    encoder = load_pretrained(AutoModel, folder, config=config, dtype=torch.float32, **attention)
    if settings.freeze_words:
        encoder.get_input_embeddings().requires_grad_(False)
    if settings.freeze_layers:
        for name, parameter in encoder.named_parameters():
            if "embed" in name or "relative_attention_bias" in name:
                parameter.requires_grad_(False)
        for layer in Stepper(encoder).layers[: settings.freeze_layers]:
            layer.requires_grad_(False)
    return encoder, folder


def build(recipe: AnsweringRecipe) -> tuple[Reader, Tokenizer, Path]:
    """The reader a recipe begins with: a new one over an encoder, or a trained reader to go on from.

    Raises:
        InputError: as `load_encoder`; there is no such reasoner; or the earlier reader is damaged.
    """
    torch.manual_seed(recipe.trainer.seed)
    encoder, folder = load_encoder(recipe.encoder)
    reader = Reader(encoder, recipe.reasoner)
    if reader.concept.prior is not None:
        reader.concept.begin_at_prior()
    if (folder / CARD).exists() and not recipe.encoder.from_scratch:
        begin_with(reader, load_reader(folder)[0])
    return reader, load_tokenizer(folder), folder


def begin_with(reader: Reader, earlier: Reader) -> None:
    """Give a new reader an earlier one's weights wherever name and shape agree; its reasoner's, where it is the same.

    The gate's calibration is not taken over: what was fitted to the earlier reader does not fit what this one becomes.
    """
    heads = ("span.", "choice.", "concept.", "gate.", "association.", "stepper.clues.")
    parts = (*heads, "reasoner.") if reader.settings.name == earlier.settings.name else heads
    own, found = reader.state_dict(), earlier.state_dict()
    kept = {n: v for n, v in found.items() if n.startswith(parts) and n in own and own[n].shape == v.shape}
    reader.load_state_dict(kept, strict=False)
