"""Every purpose and episode has a seed of its own, the same in every process."""

from __future__ import annotations

from pkmncli.seeds import Purpose, derive_seed, episode_number


def test_seeds_differ_by_run_purpose_and_number() -> None:
    seeds = {derive_seed(run, purpose, number) for run in range(3) for purpose in Purpose for number in range(200)}
    assert len(seeds) == 3 * len(Purpose) * 200


def test_a_seed_is_the_same_everywhere() -> None:
    # written down once, so that a change which would break every recorded episode is noticed
    assert derive_seed(7, Purpose.TRAINING, 42) == 4075774407


def test_environments_take_turns_with_episode_numbers() -> None:
    for num_envs in (1, 2, 5):
        numbers = sorted(
            episode_number(environment, episode, num_envs) for environment in range(num_envs) for episode in range(4)
        )
        assert numbers == list(range(4 * num_envs))
