"""What a model takes classes for that it does not know yet."""

from collections.abc import Sequence

import torch

from recallseg.engine.samples.relabelling import LOOKED_AT_TOGETHER
from recallseg.engine.samples.sets import Pick, Samples
from recallseg.methods import output_of
from recallseg.model import Segmenter


@torch.no_grad()
def taken_for(previous: Segmenter, samples: Samples, added: Sequence[int]) -> dict[int, int]:
    """For each new channel, the old one that the previous model sees most where the class is.

    It looks at one view of each photo. A channel that no view shows is left out.
    """
    device = next(previous.parameters()).device
    seen = torch.zeros(max(added) + 1, previous.decoder.classes)
    picks = [Pick(row, 0) for row in range(len(samples))]
    for start in range(0, len(picks), LOOKED_AT_TOGETHER):
        batch = samples.batch(picks[start : start + LOOKED_AT_TOGETHER]).to(device)
        probabilities = output_of(previous, batch).logits.softmax(dim=1).movedim(1, -1)
        for channel in added:
            seen[channel] += probabilities[batch.labels == channel].sum(dim=0).cpu()
    return {channel: int(seen[channel].argmax()) for channel in added if seen[channel].any()}
