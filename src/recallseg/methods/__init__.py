"""The continual learners, by the name that a configuration gives them."""

from recallseg.config import MethodConfig
from recallseg.config.registry import class_named
from recallseg.methods.base import Batch, Method, can_be_shared, output_of, plain_loss

METHODS: dict[str, str | type[Method]] = {
    "ft": "recallseg.methods.ft:FineTuning",
    "store_replay": "recallseg.methods.store_replay:StoreReplay",
    "lwf": "recallseg.methods.lwf:LearningWithoutForgetting",
    "lwf_mc": "recallseg.methods.lwf:MultiClassLwF",
    "ilt": "recallseg.methods.ilt:IncrementalLearningTechniques",
    "cil": "recallseg.methods.cil:ClassIncrementalLearning",
    "mib": "recallseg.methods.mib:ModelingTheBackground",
    "sdr": "recallseg.methods.sdr:SparseAndDisentangled",
    "recall": "recallseg.methods.recall:Recall",
    "joint": "recallseg.methods.joint:Joint",
}
"""In the order of the paper's tables, from the lower bound to the upper one."""

__all__ = [
    "METHODS",
    "Batch",
    "Method",
    "build_method",
    "can_be_shared",
    "method_class",
    "output_of",
    "plain_loss",
]


def method_class(name: str) -> type[Method]:
    """The class of a method; an unknown one lists those there are."""
    return class_named("method", name, METHODS)


def build_method(config: MethodConfig) -> Method:
    """The method that a configuration names."""
    return method_class(config.name)(config)
