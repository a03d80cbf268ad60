"""The continual learners, by the name that a configuration gives them."""

from recallseg.config import MethodConfig
from recallseg.errors import unknown_name
from recallseg.methods.base import Batch, Method, output_of, plain_loss
from recallseg.methods.cil import ClassIncrementalLearning
from recallseg.methods.ft import FineTuning
from recallseg.methods.ilt import IncrementalLearningTechniques
from recallseg.methods.joint import Joint
from recallseg.methods.lwf import LearningWithoutForgetting, MultiClassLwF
from recallseg.methods.mib import ModelingTheBackground
from recallseg.methods.recall import Recall
from recallseg.methods.sdr import SparseAndDisentangled
from recallseg.methods.store_replay import StoreReplay

METHODS: dict[str, type[Method]] = {
    "ft": FineTuning,
    "joint": Joint,
    "store_replay": StoreReplay,
    "lwf": LearningWithoutForgetting,
    "lwf_mc": MultiClassLwF,
    "ilt": IncrementalLearningTechniques,
    "cil": ClassIncrementalLearning,
    "mib": ModelingTheBackground,
    "sdr": SparseAndDisentangled,
    "recall": Recall,
}

__all__ = ["METHODS", "Batch", "Method", "build_method", "output_of", "plain_loss"]


def build_method(config: MethodConfig) -> Method:
    """The method that a configuration names; an unknown one lists those there are."""
    if config.name not in METHODS:
        raise unknown_name("method", config.name, METHODS)
    return METHODS[config.name](config)
