"""All modules of the package, imported here once so that forks need not import them each."""

import contextlib
import gc
import importlib
import pkgutil

import recallseg

for module in pkgutil.walk_packages(recallseg.__path__, "recallseg."):
    with contextlib.suppress(ImportError):  # of an extra that is not installed
        importlib.import_module(module.name)

networks = importlib.import_module("recallseg.model.networks")
networks.offered_stages("test_efficientnet", 16)  # the tests' encoder, which is looked through once
gc.collect()
gc.freeze()  # forks would copy what they search for garbage
