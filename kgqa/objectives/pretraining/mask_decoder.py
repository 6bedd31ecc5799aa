"""DeBERTa's enhanced mask decoder: absolute positions come in only where hidden tokens are guessed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from kgqa.batch import TextBatch


class EnhancedMaskDecoder(nn.Module):
    """The last layer, applied twice to last states but one + absolute positions (He et al., 2021, 3.2).

    The encoder itself reads relative positions alone; this belongs to pretraining and is not exported.
    """

    def __init__(self, max_positions: int, hidden_size: int) -> None:
        super().__init__()
        self.positions = nn.Embedding(max_positions, hidden_size)
        nn.init.normal_(self.positions.weight, std=0.02)

    def forward(self, model: Any, input_ids: Tensor, batch: TextBatch) -> Tensor:
        """Decoded states (B, T, H) of a DeBERTa model of Hugging Face for a masked batch."""
        mask = torch.ones_like(input_ids) if batch.attention_mask is None else batch.attention_mask.long()
        outputs = model(input_ids=input_ids, attention_mask=mask, output_hidden_states=True)
        context = outputs.hidden_states[-2]
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        query: Tensor = self.positions(places) + context  # (B, T, H)
        stack = model.encoder
        for _ in range(2):
            query, _ = stack.layer[-1](
                context,
                stack.get_attention_mask(mask),
                query_states=query,
                relative_pos=stack.get_rel_pos(context),
                rel_embeddings=stack.get_rel_embedding(),
            )
        return query
