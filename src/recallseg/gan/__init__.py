"""Everything about generators: BigGAN, training one, its classifier, the one that is shipped."""
