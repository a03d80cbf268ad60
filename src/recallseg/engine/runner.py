"""Read this first: the paper's Algorithm 1, for every method.

    train M_0 = E_0 ∘ D_0 on T_0
    train the source S and the helper decoder D^H_{C_0} on T_0
    for k ← 1 to K:
        train D_k on T_k, inpainted and interleaved with replayed samples if the method asks for it
        train the source S and the helper decoder D^H_{C_k} on T_k

Every line below that takes long leaves its result in the run folder, so the same command goes on
wherever it was stopped.
"""

from pathlib import Path

from recallseg.config import RunConfig
from recallseg.engine.evaluation.measuring import evaluate
from recallseg.engine.evaluation.scoring import score
from recallseg.engine.learner import ContinualLearner
from recallseg.engine.session import Session
from recallseg.engine.session.data import RunData, in_all_processes
from recallseg.engine.session.facts import class_record, peak_memory_mb, row_record, versions
from recallseg.engine.training.loop import Trainer, train
from recallseg.leases import cache_in_use, is_first_process
from recallseg.methods import build_method
from recallseg.runs.folder import RunFolder
from recallseg.runs.giving_up import settle
from recallseg.runs.records import ResultRecord, StepRecord
from recallseg.scenario import Scenario, Step


def run(
    config: RunConfig, path: Path, data: RunData | None = None, trainer: Trainer = train
) -> ResultRecord:
    """Run a configuration in a folder of its own and give its result, which is in `result.json`.

    `data` stands in for what the configuration names, `trainer` for the training loop.
    """
    with cache_in_use():
        folder = RunFolder(path)
        if data is None and is_first_process():
            data = RunData.open(config)
        with folder.at_work():
            if data and is_first_process():
                settle(folder)
                folder.claim(config, data.scenario.lists_key)
            session = Session.open(config, folder)
            return _run(session, folder, in_all_processes(session, data), trainer)


def _run(session: Session, folder: RunFolder, data: RunData, trainer: Trainer) -> ResultRecord:
    config = session.config
    method = build_method(config.method)
    scenario = method.steps(data.scenario)
    row = row_record(config, method)
    if session.fabric.is_global_zero:
        folder.write_classes(class_record(scenario, data.train, row, folder.classes))
    learner = ContinualLearner(session, data, folder, method, trainer)

    learner.train_initial(scenario[0])
    learner.old_classes.learn(scenario[0])
    learner.train_helper(scenario[0])
    learner.old_classes.store(scenario[0], learner.model.encoder)
    results = [_measure(learner, scenario, scenario[0])]
    for step in scenario[1:]:
        learner.train_incremental(step)
        learner.old_classes.learn(step)
        learner.train_helper(step)
        learner.old_classes.store(step, learner.model.encoder)
        results.append(_measure(learner, scenario, step))

    return _conclude(learner, results)


def _measure(learner: ContinualLearner, scenario: Scenario, step: Step) -> StepRecord | None:
    """Evaluate M_k on the validation split, unless that was done before, or there is none."""
    session, folder = learner.session, learner.folder
    metrics = folder.scores(step.index)
    if metrics is None:
        if learner.data.val is None:
            return None
        counts = evaluate(
            session,
            learner.model,
            learner.data.val,
            step.evaluation_table,
            learner.native_bank(),
            f"evaluate step {step.index}",
            keep=folder.step(step.index).predictions if session.config.keep_predictions else None,
        )
        names = scenario.names((0, *step.classes))
        new = scenario.names(step.new_classes)
        metrics = score(step.index, new, names, scenario.sizes[0], counts)
        if session.fabric.is_global_zero:
            folder.write_scores(step.index, metrics)
    session.reporter.scores(step.index, metrics["miou"])
    session.reporter.say(f"step {step.index}: {_line(metrics)}")
    return metrics


def _conclude(learner: ContinualLearner, measured: list[StepRecord | None]) -> ResultRecord:
    session, folder, config = learner.session, learner.folder, learner.config
    earlier = folder.result
    result: ResultRecord = {
        "method": config.method.name,
        "dataset": config.data.name,
        "scenario": config.scenario.spec,
        "setup": config.scenario.setup,
        "seed": config.seed,
        "keeps_photos": learner.method.stores,
        "steps": [metrics for metrics in measured if metrics is not None],
        "versions": versions(),
        "seconds": round(session.clock(), 1),
        "peak_memory_mb": round(peak_memory_mb(), 1),
    }
    if earlier and earlier["scenario"] == result["scenario"]:
        result["seconds"], result["peak_memory_mb"] = earlier["seconds"], earlier["peak_memory_mb"]
    elif earlier:
        result["seconds"] = round(earlier["seconds"] + result["seconds"], 1)
        result["peak_memory_mb"] = max(earlier["peak_memory_mb"], result["peak_memory_mb"])
    if session.fabric.is_global_zero:
        folder.write_result(result)
    session.end()
    return result


def _line(metrics: StepRecord) -> str:
    shown = {**metrics["miou"], "near edges": metrics.get("miou_boundary", {}).get("all")}
    return "  ".join(f"{name} {'–' if v is None else f'{v:.1f}'}" for name, v in shown.items())
