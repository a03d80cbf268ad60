import torch

from recallseg.engine.samples.mistaken import taken_for
from recallseg.engine.samples.sets import Pick
from recallseg.methods import Batch
from recallseg.model import DeepLabV2, Encoder, Segmenter


def test_a_new_class_is_taken_for_what_the_model_sees_in_its_place():
    encoder = Encoder("mobilenetv2_035", weights="none").freeze()
    previous = Segmenter(encoder, DeepLabV2(encoder.channels, 3, dilations=(1,)))
    [branch] = previous.decoder.branches
    torch.nn.init.zeros_(branch.weight)
    branch.weight.data[2, 0, 1, 1] = 9.0
    branch.weight.data[0, 1, 1, 1] = 9.0

    class Scenes:
        """Ten photos of one cell with class 3, which looks like 2; one of them has class 4, which
        looks like the background."""

        def __len__(self):
            return 10

        def batch(self, picks):
            assert all(pick == Pick(pick.row, 0) for pick in picks)
            features = torch.zeros(len(picks), encoder.channels, 1, 1)
            labels = torch.full((len(picks), 1, 1), 3, dtype=torch.uint8)
            for place, pick in enumerate(picks):
                odd = pick.row == 8
                features[place, 1 if odd else 0] = 1.0
                labels[place] = 4 if odd else 3
            return Batch(labels, features=features)

    assert taken_for(previous, Scenes(), range(3, 6)) == {3: 2, 4: 0}
