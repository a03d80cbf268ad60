"""Samples of classes that were learned before: replayed from a source, or stored by the method."""

import numpy as np

from recallseg.data.dataset import SegmentationDataset
from recallseg.engine.building import build_decoder
from recallseg.engine.folder import RunFolder, load_weights
from recallseg.engine.mapping import map_step
from recallseg.engine.replaying import Labeller, ReplayBlock, write_manifest
from recallseg.engine.samples import Samples
from recallseg.engine.session import Session
from recallseg.engine.storing import store_samples, stored_classes
from recallseg.engine.supply import PhotoSet, Supply
from recallseg.engine.world import World
from recallseg.methods import Method
from recallseg.model import Encoder, Segmenter
from recallseg.replay.gan import GanSource, read_mapping, write_mapping
from recallseg.replay.mapping import ImageNetClassifier
from recallseg.replay.sources import build_source
from recallseg.scenario import Step

IDENTITY = np.arange(256, dtype=np.uint8)
"""Labels that are channels of the model already."""


class Past:
    """What a run can still say of its old classes, without their photos."""

    def __init__(
        self, session: Session, world: World, folder: RunFolder, method: Method, supply: Supply
    ) -> None:
        self.session, self.world, self.folder = session, world, folder
        self.method, self.supply = method, supply
        self.config = session.config
        replays = self.config.replay.source != "none"
        self.block = ReplayBlock(session, build_source(self.config.replay)) if replays else None

    @property
    def needs_helpers(self) -> bool:
        """Whether helper decoders will have images to label."""
        return self.block is not None and self.config.replay.labels == "helpers"

    def learn(self, step: Step) -> None:
        """Train S on (C_k, T_k): find what a generator calls the new classes (paper, sec. 5)."""
        if self.block is None or not isinstance(self.block.source, GanSource):
            return
        path = self.folder.path / "mapping.json"
        mapping = read_mapping(path)
        names = self.world.scenario.names(step.new_classes)
        if not mapping.keys() >= set(names):
            classifier = ImageNetClassifier(self.config.replay.classifier)
            mapping |= map_step(self.session, self.world, step, classifier)
            if self.session.fabric.is_global_zero:
                write_mapping(path, mapping)
        self.block.source.learn({name: mapping[name] for name in names})

    def samples(self, step: Step, name: str, previous: Segmenter) -> list[Samples]:
        """One set of samples for each old class; none where the method has no way to get them."""
        if self.block:
            datasets = self._replayed(self.block, step, previous)
        elif self.method.stores:
            datasets = [
                dataset
                for earlier in self.world.scenario[: step.index]
                for dataset in stored_classes(self.folder.step(earlier.index), earlier)
            ]
        else:
            return []
        return [
            self.supply.samples(
                previous.encoder,
                PhotoSet(dataset, [pair.stem for pair in dataset.pairs], IDENTITY),
                f"{name}: {dataset.name}",
            )
            for dataset in datasets
        ]

    def _replayed(
        self, block: ReplayBlock, step: Step, previous: Segmenter
    ) -> list[SegmentationDataset]:
        """R_{C_0→k-1}: replay images of every old class with pseudo-labels (paper, sec. 4)."""
        block.manifest.clear()
        datasets = []
        for earlier in self.world.scenario[: step.index]:
            for place, class_name in enumerate(self.world.scenario.names(earlier.new_classes), 1):
                dataset = block.dataset(class_name, self._labeller(earlier, place, previous))
                if dataset is not None:
                    datasets.append(dataset)
        if self.session.fabric.is_global_zero:
            write_manifest(self.folder.path / "replay" / "manifest.jsonl", block.manifest)
        return datasets

    def _labeller(self, earlier: Step, place: int, previous: Segmenter) -> Labeller:
        """Who labels images of the class at `place` in C_i: D^H_{C_i}, or the previous model."""
        before = len(earlier.old_classes)
        if self.config.replay.labels == "previous":
            channels = range(previous.decoder.classes)
            return Labeller(previous, before + place, {c: c for c in channels})
        channels = range(1 + len(earlier.new_classes))
        helper = build_decoder(self.config.model, previous.encoder, len(channels))
        load_weights(self.folder.step(earlier.index) / "helper.safetensors", helper)
        model = self.session.fabric.to_device(Segmenter(previous.encoder, helper))
        return Labeller(model, place, {c: before + c for c in channels[1:]})

    def store(self, step: Step, encoder: Encoder) -> None:
        """Keep true samples of a step if the method does, as large as its helper would be."""
        if self.method.stores and self.session.fabric.is_global_zero:
            helper = build_decoder(self.config.model, encoder, 1 + len(step.new_classes))
            room = sum(tensor.nbytes for tensor in helper.state_dict().values())
            folder, seed = self.folder.step(step.index), self.config.seed
            store_samples(folder, step, self.world.scenario, self.world.train, room, seed)
        self.session.fabric.barrier()
