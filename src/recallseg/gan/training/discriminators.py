"""The discriminators that a generator can be trained against, by name."""

from collections.abc import Callable

from recallseg.errors import unknown_name
from recallseg.gan.biggan_config import BigGANConfig
from recallseg.gan.training.judging import Discriminator
from recallseg.gan.training.projected import ProjectedDiscriminator
from recallseg.gan.training.residual import ResidualDiscriminator

DISCRIMINATORS: dict[str, Callable[[BigGANConfig, int], Discriminator]] = {
    "projected": ProjectedDiscriminator,
    "plain": lambda config, _: ResidualDiscriminator(config),
}


def build_discriminator(name: str, config: BigGANConfig, encoder_side: int) -> Discriminator:
    """The named discriminator for the images and classes of a generator, ready to learn.

    `encoder_side` is the size in px of images for a pretrained encoder, if there is one.
    """
    if name not in DISCRIMINATORS:
        raise unknown_name("discriminator", name, DISCRIMINATORS)
    return DISCRIMINATORS[name](config, encoder_side).train()
