"""Heaviest walks of a relational graph, one for each end node, by Viterbi's recurrence."""

from __future__ import annotations

import torch
from torch import Tensor


def best_walks(
    *, begin: Tensor, edges: tuple[Tensor, Tensor, Tensor], unary: Tensor, transition: Tensor, hops: int
) -> tuple[Tensor, Tensor]:
    """The heaviest walk of each length 1..hops into each node, exactly (Feng et al., 2020, section 3.4).

    With s a walk's last edge's kind, of the edges e = (j, i) of kind r into a node i:

        w_1(i, r) = max_e begin(j) + unary(e)
        w_k(i, r) = max_e max_s w_k-1(j, s) + transition(s, r) + unary(e)

    A walk's log weight is that of its first node, plus its edges' own, plus the transitions between the kinds
    of neighbouring edges. The state of the recurrence is (node, kind of the edge into it): O(edges x kinds) a
    hop.

    Args:
        begin: log weight of starting at a node, (N,), -inf where no walk may start.
        edges: source, target and kind of each directed edge, (E,) each.
        unary: log weight of each edge, (E,).
        transition: log weight of an edge of one kind after one of another, (kinds, kinds), [before, after].

    Returns:
        Log weights (N, hops), -inf where there is no such walk, and its edges (N, hops, hops), walk of length
        k in [:, k - 1, :k], -1 elsewhere.
    """
    source, target, kind = edges
    number, kinds, count = len(begin), len(transition), len(source)
    slot = target * kinds + kind
    every = torch.arange(count, device=begin.device)
    state = holder = begin.new_zeros(0)
    came: list[Tensor] = []
    scores = begin.new_full((number, hops), -torch.inf)
    walks = torch.full((number, hops, hops), -1, dtype=torch.long, device=begin.device)
    if not count:
        return scores, walks
    for hop in range(hops):
        if hop == 0:
            arriving = begin[source]
            came.append(torch.full_like(every, -1))
        else:
            options = state.view(number, kinds)[source] + transition.T[kind]  # (E, kinds)
            arriving, before = options.max(1)
            came.append(holder.view(number, kinds)[source, before])
        reach = arriving + unary
        state = begin.new_full((number * kinds,), -torch.inf).scatter_reduce(0, slot, reach, "amax")
        winner = (reach == state[slot]) & reach.isfinite()
        holder = torch.full((number * kinds,), -1, dtype=torch.long, device=begin.device)
        holder = holder.scatter_reduce(0, slot[winner], every[winner], "amax")
        scores[:, hop], last = state.view(number, kinds).max(1)
        edge = holder.view(number, kinds).gather(1, last.unsqueeze(1)).squeeze(1)
        for back in range(hop, -1, -1):
            walks[:, hop, back] = edge
            edge = torch.where(edge >= 0, came[back][edge.clamp(min=0)], edge)
    return scores, walks
