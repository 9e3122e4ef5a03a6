"""What a plugin may register, and that a wrong one leaves nothing behind and names itself."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pkmncli import hookimpl, hookspecs
from pkmncli.api import open_analyzer
from pkmncli.errors import PluginError
from pkmncli.plugins import HOOK_OF_KIND, Registry, get_registry


class Rewards:
    """A plugin that registers rewards with what it is given."""

    def __init__(self, *registrations: tuple[str, Any] | tuple[str, Any, dict[str, Any]]) -> None:
        self.registrations = registrations

    @hookimpl
    def pkmn_register_rewards(self, register: Callable[..., None]) -> None:
        for name, target, *options in self.registrations:
            register(name, target, **(options[0] if options else {}))


def test_a_registered_name_gives_its_target(plugin_registry: Registry) -> None:
    plugin_registry.register_plugin(Rewards(("coins", "fractions:Fraction.limit_denominator", {"help": "a"})), "mine")
    entry = plugin_registry.get("rewards", "coins")
    assert entry.load() is Fraction.limit_denominator
    assert (entry.name, entry.kind, entry.help, entry.load_config()) == ("coins", "rewards", "a", None)
    assert plugin_registry.names("rewards") == ["coins"]
    assert get_registry() is plugin_registry


def test_an_analyzer_is_told_of_threads_only_where_it_takes_them(plugin_registry: Registry, tmp_path: Path) -> None:
    class Inline:
        @hookimpl
        def pkmn_register_analyzers(self, register: Callable[..., None]) -> None:
            register("plain", lambda folder: {"folder": folder})
            register("threaded", lambda folder, threads=None: {"folder": folder, "threads": threads})

    plugin_registry.register_plugin(Inline(), "mine")
    assert open_analyzer(tmp_path, "plain", threads=1) == {"folder": tmp_path}
    assert open_analyzer(tmp_path, "threaded", threads=1) == {"folder": tmp_path, "threads": 1}
    assert open_analyzer(tmp_path, "threaded") == {"folder": tmp_path, "threads": None}


def test_unregistering_takes_everything_back(plugin_registry: Registry) -> None:
    plugin = Rewards(("coins", dict))
    plugin_registry.register_plugin(plugin, "mine")
    plugin_registry.unregister_plugin("mine")
    assert plugin_registry.names("rewards") == []
    plugin_registry.register_plugin(plugin, "mine")
    assert plugin_registry.names("rewards") == ["coins"]


def test_plugins_for_a_while_give_way_to_those_of_their_names_again_even_if_one_is_broken(
    plugin_registry: Registry,
) -> None:
    plugin_registry.register_plugin(Rewards(("coins", dict)), "mine")
    with plugin_registry.with_plugins({"mine": Rewards(("gems", dict)), "other": Rewards(("stars", dict))}):
        assert plugin_registry.names("rewards") == ["gems", "stars"]
    assert plugin_registry.names("rewards") == ["coins"]
    replaced = plugin_registry.with_plugins({"mine": Rewards(("gems", dict)), "other": Rewards(("Stars", dict))})
    with pytest.raises(PluginError, match="a name is lower-case"), replaced:
        pass
    assert plugin_registry.names("rewards") == ["coins"]


def test_a_module_is_a_plugin(plugin_registry: Registry) -> None:
    module = ModuleType("inline_module")

    @hookimpl
    def pkmn_register_stores(register: Callable[..., None]) -> None:
        register("memory", dict)

    module.pkmn_register_stores = pkmn_register_stores  # type: ignore[attr-defined]
    plugin_registry.register_plugin(module, "mine")
    assert plugin_registry.get("stores", "memory").load() is dict
    with pytest.raises(PluginError, match="is registered already, by plugin 'mine'"):
        plugin_registry.register_plugin(module, "again")
    assert plugin_registry.get("stores", "memory").load() is dict


def test_an_unknown_name_suggests_the_nearest(plugin_registry: Registry) -> None:
    plugin_registry.register_plugin(Rewards(("progress", dict), ("coins", dict)), "mine")
    with pytest.raises(PluginError, match=r"no reward 'progres'; did you mean 'progress'\? Known: coins, progress\."):
        plugin_registry.get("rewards", "progres")
    with pytest.raises(PluginError, match=r"no pilot 'rules'. No plugin brings one"):
        plugin_registry.get("pilots", "rules")
    with pytest.raises(PluginError, match="plugins bring no 'reward'; they bring environments"):
        plugin_registry.get("reward", "coins")


def test_two_claims_on_a_name_name_both_and_leave_the_rest(plugin_registry: Registry) -> None:
    plugin_registry.register_plugin(Rewards(("coins", dict), ("first", dict)), "one")
    plugin_registry.register_plugin(Rewards(("coins", list), ("second", dict)), "two")
    with pytest.raises(PluginError, match=r"'coins' is claimed by .*'one'.* and .*'two'.*PKMN_DISABLE_PLUGINS=two"):
        plugin_registry.get("rewards", "coins")
    assert plugin_registry.get("rewards", "second").load() is dict
    assert len(plugin_registry.problems) == 1
    plugin_registry.unregister_plugin("one")
    assert plugin_registry.get("rewards", "coins").load() is list
    assert plugin_registry.problems == []


@pytest.mark.parametrize(
    ("registration", "message"),
    [
        (("Coins", dict), "a name is lower-case letters and digits, words joined by hyphens"),
        (("coins_", dict), "a name is lower-case"),
        (("", dict), "a name is lower-case"),
        (("coins", "no target"), r"not written as 'package.module:Name'"),
        (("coins", 3), "cannot be called"),
        (("coins", dict, {"config": "settings"}), "its config 'settings' is not written as"),
        (("coins", dict, {"api": 2}), "asks for api 2, and this pkmncli has api 1: upgrade pkmncli"),
        (("coins", dict, {"api": "new"}), "asks for api 'new', which is no version"),
        (("good", dict), "reward 'good' is registered twice"),
        (("coins", dict, {"colour": "red"}), "unexpected keyword argument 'colour'"),
    ],
)
def test_a_wrong_registration_leaves_the_whole_plugin_out(
    plugin_registry: Registry, registration: Any, message: str
) -> None:
    with pytest.raises(PluginError, match=message):
        plugin_registry.register_plugin(Rewards(("good", dict), registration), "mine")
    assert plugin_registry.registrations() == []
    assert plugin_registry.plugins == []


def test_a_hook_that_raises_leaves_the_whole_plugin_out(plugin_registry: Registry) -> None:
    class Broken(Rewards):
        @hookimpl
        def pkmn_register_stores(self, register: Callable[..., None]) -> None:
            raise SystemExit("no")

        @hookimpl
        def pkmn_run_started(self) -> None:
            raise AssertionError("it was left out")

    with pytest.raises(PluginError, match="SystemExit: no"):
        plugin_registry.register_plugin(Broken(("good", dict)), "mine")
    assert plugin_registry.registrations() == []
    plugin_registry.call_runtime_hook("pkmn_run_started", run=None, step=0)


class UnknownHook:
    @hookimpl
    def pkmn_register_reward(self, register: Callable[..., None]) -> None:
        raise AssertionError("never called")


class WrongArgument:
    @hookimpl
    def pkmn_episode_finished(self, run: Any, episodes: Any) -> None:
        raise AssertionError("never called")


class NoDecorator:
    def pkmn_register_rewards(self, register: Callable[..., None]) -> None:
        raise AssertionError("never called")


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (UnknownHook(), r"there is no hook pkmn_register_reward; did you mean pkmn_register_rewards\?"),
        (WrongArgument(), "pkmn_episode_finished has no argument 'episodes'; it has run, episode"),
        (NoDecorator(), "pkmn_register_rewards lacks the decorator"),
    ],
)
def test_a_wrong_hook_is_named(plugin_registry: Registry, plugin: Any, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        plugin_registry.register_plugin(plugin, "mine")
    assert plugin_registry.plugins == []


def test_a_command_of_the_core_cannot_be_taken(plugin_registry: Registry) -> None:
    class Commands:
        @hookimpl
        def pkmn_register_commands(self, register: Callable[..., None]) -> None:
            register("train", dict)

    with pytest.raises(PluginError, match="command 'train' is pkmncli's own"):
        plugin_registry.register_plugin(Commands(), "mine")


def test_a_missing_extra_gives_the_one_line_that_installs_it(
    plugin_registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needy_reward.py").write_text("import a_module_that_nobody_has\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugin_registry.register_plugin(
        Rewards(("optional", "needy_reward:Reward", {"extra": "llm"}), ("plain", "needy_reward:Reward")), "mine"
    )
    with pytest.raises(PluginError) as caught:
        plugin_registry.get("rewards", "optional").load()
    assert str(caught.value) == (
        "reward 'optional' needs 'a_module_that_nobody_has', which is not installed or too old; "
        "run: pip install 'pkmncli[llm]'"
    )
    with pytest.raises(PluginError, match=r"needs the module 'a_module_that_nobody_has', which is not installed$"):
        plugin_registry.get("rewards", "plain").load()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no_such_package_at_all.reward:Reward", "does not exist .no module no_such_package_at_all."),
        ("fractions:NoSuchName", "its target 'fractions:NoSuchName' does not exist"),
        ("broken_target:Reward", "cannot be imported from 'broken_target:Reward': ValueError: broken on purpose"),
    ],
)
def test_a_target_that_is_not_there_is_told_when_it_is_used(
    plugin_registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, message: str
) -> None:
    (tmp_path / "broken_target.py").write_text("raise ValueError('broken\\non purpose')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    plugin_registry.register_plugin(Rewards(("coins", target)), "mine")
    with pytest.raises(PluginError, match=message):
        plugin_registry.get("rewards", "coins").load()


def test_a_config_must_be_a_pydantic_model(plugin_registry: Registry) -> None:
    plugin_registry.register_plugin(Rewards(("coins", dict, {"config": "fractions:Fraction"})), "mine")
    with pytest.raises(PluginError, match="its config 'fractions:Fraction' is no pydantic model"):
        plugin_registry.get("rewards", "coins").load_config()


def test_a_game_is_a_folder_inside_a_package(
    plugin_registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "game_package"
    (package / "games" / "tiny").mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('finding the folder must not import the package')\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    class Games:
        @hookimpl
        def pkmn_register_games(self, register: Callable[..., None]) -> None:
            register("tiny", "game_package:games/tiny")
            register("given", package / "games")
            register("gone", "game_package:games/gone")
            register("nowhere", "no_such_package:games")

    plugin_registry.register_plugin(Games(), "mine")
    assert plugin_registry.get("games", "tiny").load() == package / "games" / "tiny"
    assert plugin_registry.get("games", "given").load() == package / "games"
    with pytest.raises(PluginError, match=r"there is no folder .*gone"):
        plugin_registry.get("games", "gone").load()
    with pytest.raises(PluginError, match="there is no package 'no_such_package'"):
        plugin_registry.get("games", "nowhere").load()


def test_a_runtime_hook_that_raises_is_told_once_and_left_out_until_the_next_run(
    plugin_registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[str] = []

    class Faulty:
        @hookimpl
        def pkmn_run_started(self, run: Any) -> None:
            calls.append("faulty started")

        @hookimpl
        def pkmn_steps_logged(self, batch: Any) -> None:
            calls.append("faulty")
            raise ValueError("on\npurpose")

    class Sound:
        @hookimpl
        def pkmn_steps_logged(self, run: Any, batch: Any) -> None:
            calls.append("sound")

    plugin_registry.register_plugin(Faulty(), "faulty")
    plugin_registry.register_plugin(Sound(), "sound")
    for _ in range(3):
        plugin_registry.call_runtime_hook("pkmn_steps_logged", run=None, batch={})
    assert sorted(calls) == ["faulty", "sound", "sound", "sound"]
    assert capsys.readouterr().err == (
        "plugin 'faulty' of a plugin registered by hand failed in pkmn_steps_logged and is left out for the rest of "
        "the run: ValueError: on purpose\n"
    )
    calls.clear()
    plugin_registry.call_runtime_hook("pkmn_run_started", run=None, step=0)
    plugin_registry.call_runtime_hook("pkmn_steps_logged", run=None, batch={})
    assert calls == ["faulty started", "faulty", "sound"]


def test_every_kind_has_its_hook() -> None:
    assert set(HOOK_OF_KIND.values()) == {name for name in vars(hookspecs) if name.startswith("pkmn_register_")}
