"""Parts of a training from settings: how workers build their environment, the learner, the store."""

from __future__ import annotations

import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pkmncli.api import Algorithm, Store, Strategy, StrategyType
from pkmncli.api.stores import DEFAULT_STORE
from pkmncli.config import NONE, ResolvedSettings
from pkmncli.config.setting_types import keyword_of_text, wrapper_of_text
from pkmncli.diagnostics import one_line
from pkmncli.errors import ConfigurationError
from pkmncli.hybrid import build
from pkmncli.hybrid.curriculum import Curriculum
from pkmncli.plugins import import_name
from pkmncli.seeds import Purpose, derive_seed
from pkmncli.training.no_learner import NoLearner
from pkmncli.training.script_objects import object_named
from pkmncli.training.workers.spec import EnvironmentSpec, PartSpec, PilotSpec, WorkerSpec

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pkmncli.config.command_settings import CommandSettings
    from pkmncli.plugins import Registration, Registry
    from pkmncli.runs import Run
    from pkmncli.training.workers.pool import WorkerPool

# Settings of the core that an environment takes over, where its own settings have a field of that name.
_STEP_LIMIT = "max_steps_per_episode"
_PASSED_ON = ("rom_path", "goal", "goals", _STEP_LIMIT, "force_rom", "knowledge", "cartridge")


def environment_spec(settings: ResolvedSettings, registry: Registry, *, for_people: bool = False) -> EnvironmentSpec:
    """Return how to build the environment that the settings choose.

    Args:
        settings: the training's settings.
        registry: where names are looked up.
        for_people: with pictures to render, and screens in colour; otherwise packed, as learners take them.

    Raises:
        ConfigurationError: a setting is wrong, or the environment is an object that only a script has.
    """
    train = settings.train
    registration = registry.get("environments", train.env)
    model = registration.load_config()
    wrappers = tuple(_wrapper(text) for text in train.wrappers)
    script = b"" if train.env_object is None else object_named(train.env_object).packed
    if model is None:
        target = _target(registration)
        limit = {} if train.max_steps_per_episode is None else {_STEP_LIMIT: train.max_steps_per_episode}
        return EnvironmentSpec(target, None, limit, wrappers, script)
    values = settings.plugin_values(train.env)
    offered: dict[str, Any] = {name: getattr(train, name) for name in _PASSED_ON if hasattr(train, name)}
    offered |= {
        "observation_type": _observation_type(settings, model),
        "game": train.game,
        "game_folder": _game_folder(settings, registry),
        "start_state": train.init_state,
        "rewards": _rewards(settings, registry) if settings.composes_reward else None,
        "screen": "rgb" if for_people else "packed",
        "render_mode": "rgb_array" if for_people or train.llm_vision else None,
        "env_args": dict(keyword_of_text(text) for text in train.env_args),
    }
    values.update({name: value for name, value in offered.items() if name in model.model_fields and value is not None})
    target = _target(registration) if train.env_class is None else _derived_target(train.env_class, registration)
    return EnvironmentSpec(target, _config_target(registration), values, wrappers, script)


def _wrapper(text: str) -> tuple[str, dict[str, Any]]:
    """Return the import target and the arguments of a wrapper. Raise ConfigurationError if it cannot be imported."""
    target, arguments = wrapper_of_text(text)
    try:
        pkgutil.resolve_name(target)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"setting 'wrappers': {target} cannot be imported ({one_line(error)})") from error
    return target, arguments


def _observation_type(settings: ResolvedSettings, model: type[BaseModel] | None) -> str | None:
    """Return the user's observation type, else the one that the environment's settings name as best to learn from."""
    chosen = settings.train.observation_type
    if chosen is None:
        return getattr(model, "observed_in_training", None)
    field = None if model is None else model.model_fields.get("observation_type")
    shown = get_args(field.annotation) if field is not None and get_origin(field.annotation) is Literal else ()
    if shown and chosen not in shown:  # the core lists what any environment shows
        raise ConfigurationError(
            f"observation_type = {chosen!r}: the environment {settings.train.env} shows {', '.join(map(str, shown))}"
        )
    return chosen


def observation_type_of(settings: ResolvedSettings, registry: Registry) -> str | None:
    """Return the observation type of a training with these settings; None where the environment decides alone."""
    return _observation_type(settings, registry.get("environments", settings.train.env).load_config())


def unread_settings(settings: ResolvedSettings, registry: Registry) -> list[str]:
    """Return the settings that would go to an environment, where the chosen one has no setting of that name."""
    model = registry.get("environments", settings.train.env).load_config()
    read = {_STEP_LIMIT} if model is None else set(model.model_fields)
    names = {name: name for name in (*_PASSED_ON, "observation_type", "game", "game_folder", "env_args")}
    names |= {"init_state": "start_state", "reward": "rewards"}
    return [name for name, its_name in names.items() if its_name not in read]


def _derived_target(name: str, registration: Registration) -> str:
    """Return the import target of a class derived from an environment's: its ``from_settings`` if it has one."""
    try:
        found = pkgutil.resolve_name(name)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"setting 'env_class' = {name!r}: it can't be imported ({one_line(error)})") from error
    if not (isinstance(found, type) and issubclass(found, registration.load())):
        raise ConfigurationError(
            f"setting 'env_class' = {name!r}: it is no class derived from that of the environment {registration.name}"
        )
    return f"{name}.from_settings" if hasattr(found, "from_settings") else name


def _game_folder(settings: ResolvedSettings, registry: Registry) -> Path | None:
    train = settings.train
    if train.game_folder is not None:
        if train.game is not None:
            raise ConfigurationError(
                f"game = {train.game!r} and game_folder = {str(train.game_folder)!r} are two games: name one of them"
            )
        return train.game_folder
    if train.game is None:
        return None  # the environment identifies the game by its image, or has its own
    folder: Path = registry.get("games", train.game).load()
    return folder


def _rewards(settings: ResolvedSettings, registry: Registry) -> dict[str, dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = {}
    for name, weight in settings.train.reward_weights.items():
        registration = registry.get("rewards", name)
        own = settings.values_for_part(registration)
        if "gamma" in own:
            own["gamma"] = _discount(settings, registry, name, own["gamma"])
        parts[name] = {
            "weight": weight,
            "target": _target(registration),
            "config": _config_target(registration),
            "settings": own,
        }
    return parts


def _discount(settings: ResolvedSettings, registry: Registry, reward: str, own: float | None) -> float | None:
    """Return the discount of a reward that needs one; it must be the learner's."""
    name = settings.train.rl
    if name == NONE or registry.get("algorithms", name).config is None:
        return own
    learners: float | None = getattr(settings.plugin(name), "gamma", None)
    if own is not None and learners is not None and own != learners:
        raise ConfigurationError(
            f"setting '{reward}.gamma' = {own:g}: it must be the learner's discount, {name}.gamma = {learners:g}; "
            "leave it out, and it is"
        )
    return learners if own is None else own


def pilot_spec(settings: ResolvedSettings, registry: Registry) -> PartSpec | None:
    """Return how to build the chosen pilot; None where it neither may act nor says what the goals are.

    Without a pilot, advice is actions, and the core's own pilot plays them.
    """
    train = settings.train
    if train.pilot == NONE and train.llm != NONE:
        kind = "LoneActionCarrier" if train.model_alone else "ActionCarrier"
        return PartSpec(f"pkmncli.training.workers.advice_carrier:{kind}")
    if train.pilot == NONE or (train.mode == "rl-only" and not _observes_goals(settings, registry)):
        return None
    registration = registry.get("pilots", train.pilot)
    own = settings.values_for_part(registration)
    return PilotSpec(_target(registration), _config_target(registration), own)


def _observes_goals(settings: ResolvedSettings, registry: Registry) -> bool:
    """Tell whether the learner sees goals, and the pilot is to name them."""
    model = registry.get("environments", settings.train.env).load_config()
    if model is None or "goals" not in model.model_fields or settings.train.goals == NONE:
        return False
    return (_observation_type(settings, model) or "").startswith("goal")


def worker_spec(
    settings: ResolvedSettings,
    registry: Registry,
    purpose: Purpose,
    *,
    num_envs: int | None = None,
    seed: int | None = None,
    headless: bool = True,
) -> WorkerSpec:
    """Return how to build all the workers of a training or an evaluation."""
    train = settings.train
    return WorkerSpec(
        environment=environment_spec(settings, registry),
        pilot=pilot_spec(settings, registry),
        seed=train.seed if seed is None else seed,
        purpose=purpose,
        num_envs=train.envs if num_envs is None else num_envs,
        envs_per_worker=train.envs_per_worker if num_envs is None else 1,
        ray=train.workers == "ray" and num_envs is None,
        ray_address=train.ray_address,
        pilot_shows=train.mode != "rl-only",
        window=not headless,
        stack=train.stack,
    )


def build_learner(
    settings: ResolvedSettings, registry: Registry, pool: WorkerPool, *, total_steps: int, num_envs: int | None = None
) -> Algorithm:
    """Return the learner that the settings choose. Its schedules end at ``total_steps``."""
    train = settings.train
    if train.rl == NONE:
        return NoLearner()
    _set_torch_threads(train.torch_threads)
    return build.build_learner(
        settings,
        registry,
        pool.observation_space,
        pool.action_space,
        num_envs=pool.num_envs if num_envs is None else num_envs,
        seed=derive_seed(train.seed, Purpose.LEARNER),
        total_steps=total_steps,
    )


def build_strategy(settings: ResolvedSettings, registry: Registry) -> Strategy | None:
    """Return the strategy that the settings choose; None if there is no advice to share."""
    train = settings.train
    if not train.shares_advice:
        return None
    registration = registry.get("strategies", train.strategy)
    own = settings.for_part(registration)
    strategy: Strategy = registration.load()(settings=own, initial=StrategyType(train.initial_strategy))
    return strategy


def build_curriculum(settings: ResolvedSettings) -> Curriculum | None:
    """Return the curriculum; None if no learner could take over."""
    if settings.train.mode != "adaptive" or not settings.curriculum.enabled:
        return None
    return Curriculum(settings.curriculum)


def _set_torch_threads(count: int) -> None:
    """Set the number of threads: results differ with it, so it is a setting that the run keeps.

    Products of matrices in numpy take one: they are small, and other threads would be missing elsewhere.
    """
    import torch  # noqa: PLC0415 - seconds of start-up that only a learner needs
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    threadpool_limits(1, user_api="blas")
    torch.set_num_threads(count)  # the last word, where torch has its products of the same library


def open_store(registry: Registry, folder: Path) -> Store:
    """Return the store of a run's tables."""
    store: Store = registry.get("stores", DEFAULT_STORE).load()(folder)
    return store


def tables_folder(settings: ResolvedSettings | CommandSettings, run: Run) -> Path:
    """Return the folder of a run's decisions, episodes and metrics."""
    return settings.train.decision_db_path or run.folder


def _target(registration: Registration) -> str:
    return _importable(registration.target, registration)


def _config_target(registration: Registration) -> str | None:
    return None if registration.config is None else _importable(registration.config, registration)


def _importable(target: Any, registration: Registration) -> str:
    """Return the import target of a registered object: a worker is another process and imports it again."""
    name = import_name(target)
    if name is None:
        raise ConfigurationError(
            f"{registration.kind} '{registration.name}' is defined inside a function or the main script; workers are "
            "other processes and can only import it from a module"
        )
    return name


def names_of(pool: WorkerPool) -> dict[str, Any]:
    """Return a run's description of its game, for readers of its numbers: the content of ``names.json``."""
    names = {**pool.names, "phases": pool.phase_names, "milestones": pool.milestone_names}
    names |= {"actions": list(pool.action_names.names), "frames_per_second": pool.frames_per_second}
    names |= {"metrics": pool.metric_names}
    return {**names, "goal": pool.goal, "identity": pool.identity}
