"""What can be set about the player by rules."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class PilotSettings(BaseModel):
    """Settings of the pilot ``rules``, in the section ``[rules]``."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    accept_choices: int = Field(
        default=3, ge=0, le=20, description="How often the same question is answered with A before B is tried."
    )
    refuse_words: tuple[str, ...] = Field(
        default=("nickname", "name of its own", "delete an older", "forget one of"),
        description="Questions with one of these words are answered with B.",
    )
    refuse_words_in_battle: tuple[str, ...] = Field(
        default=("change", "send another"),
        description="Questions of a battle with one of these words are answered with B: whether to call back who is "
        "out, when the opponent's next one comes.",
    )
    page_wait_steps: int = Field(
        default=6,
        ge=0,
        le=100,
        description="Steps that a menu or page without a cursor is waited for: it is being drawn. Then it is left.",
    )
    page_steps: int = Field(
        default=150,
        ge=20,
        description="Steps that menus and pages, or a battle, may take with nothing changed; then what they were for "
        "is given up for a while, and they are left.",
    )
    confirm_tries: int = Field(
        default=2,
        ge=1,
        le=20,
        description="How often the same choice is confirmed with nothing changed before it is given up: a switch, a "
        "thing or a move for the battle, a job in a menu or a purchase for a while.",
    )
    run_below: float = Field(
        default=0.25, ge=0.0, le=1.0, description="Share of hit points below which it runs from wild Pokemon."
    )
    use_items: bool = Field(
        default=True, description="Whether it uses things that heal and cure, in battles against trainers and outside."
    )
    partner: int = Field(
        default=0,
        ge=0,
        le=9,
        description="Which of several choices it takes where the story offers some, as among first partners: 1 for the "
        "first; 0 for the one that the milestones file names.",
    )
    catch: Literal["none", "asked", "new"] = Field(
        default="asked",
        description="What it catches: nothing of its own accord, what a milestone or advice asks for, or any species "
        "that it has not, up to `party_wanted` members.",
    )
    shop: Literal["never", "needed", "always"] = Field(
        default="needed",
        description="Whether it buys balls and things that heal where a shop is near: never, when it must catch "
        "something or has lost a battle, or whenever it has few.",
    )
    shop_steps: int = Field(default=60, ge=0, description="Steps of the way to a clerk that it goes to buy something.")
    supply_steps: int = Field(
        default=400, ge=0, description="The same where the next fights, or a milestone, want something from there."
    )
    balls_wanted: int = Field(default=3, ge=0, le=99, description="Balls that it likes to carry while it shops.")
    heal_items_wanted: int = Field(default=3, ge=0, le=99, description="Healing things that it likes to carry.")
    party_wanted: int = Field(default=3, ge=1, le=6, description="Party members beyond which it catches no new ones.")
    forget_words: tuple[str, ...] = Field(
        default=("delete an older", "make room", "forget one of"),
        description="Questions with one of these words ask whether a move should be given up for a new one.",
    )
    heal_below: float = Field(
        default=0.4, ge=0.0, le=1.0, description="The party's share of hit points below which it goes to heal."
    )
    heal_lead_below: float = Field(
        default=0.3, ge=0.0, le=1.0, description="The first party member's share below which it goes to heal."
    )
    heal_points_below: float = Field(
        default=0.15,
        ge=0.0,
        le=1.0,
        description="Share of the points of the first member's moves that do damage below which it goes to heal.",
    )
    heal_steps: int = Field(
        default=300, ge=0, description="Steps of the way to the nearest healer beyond which it does not go there."
    )
    heal_item_steps: int = Field(
        default=120,
        ge=0,
        description="Steps of the way to the nearest healer from which on it uses things from the bag first.",
    )
    healer_maps: tuple[str, ...] = Field(
        default=("pokemon center", "rest house"),
        description="Maps with one of these words in their name have a healer behind a counter.",
    )
    care: float = Field(
        default=1.1,
        ge=0.5,
        le=3.0,
        description="Factor on the damage that the next trainers are expected to do, when it decides whether to train.",
    )
    pick_up_within: int = Field(
        default=8, ge=0, le=100, description="Tiles that it walks out of its way for a thing that lies about."
    )
    train_levels: int = Field(
        default=2, ge=0, le=20, description="Levels that the lead should gain after a lost battle before it goes on."
    )
    grass_cost: int = Field(
        default=3,
        ge=0,
        le=50,
        description="Tiles of detour that one tile of tall grass is worth, unless it looks for a fight.",
    )
    goal_tries: int = Field(
        default=3, ge=1, le=50, description="How often it tries what a milestone asks for before it explores."
    )
    forget_tries_steps: int = Field(
        default=400, ge=10, description="Steps without progress after which what failed may be tried again."
    )
    stuck_steps: int = Field(
        default=16, ge=4, description="Steps on one tile with control after which it walks at random for a while."
    )
    wander_steps: int = Field(default=8, ge=1, le=200, description="Steps that it then walks at random.")
    hunt_tries: int = Field(
        default=8,
        ge=1,
        description="With knowledge = 'seen': fights looked for in one grass, at one time of day, before a Pokemon "
        "that is wanted is looked for at another time or in other grass.",
    )
    report_after_steps: int = Field(
        default=3000,
        ge=0,
        description="Steps without progress after which it reports where it stands and tries something else; 0 for "
        "never. Progress is a milestone, a map, a badge, a kind of thing in the bag, a story flag, or a level while "
        "it trains.",
    )
    remedy_steps: int = Field(
        default=600,
        ge=1,
        description="Steps that each thing it then tries gets: a new plan, another order of errands, healing.",
    )
    map_cost: int = Field(
        default=30, ge=0, description="Tiles that an exit counts for, while it explores, each time that it was taken."
    )
    train_steps: int = Field(default=600, ge=0, description="Steps of the way to better ground that it goes to train.")
    train_most_steps: int = Field(
        default=8000,
        ge=100,
        description="Steps in which a ground should bring the wanted level; it trains on none that takes longer.",
    )
    carrier_share: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="Share that the steps of a training count, against other ways to be ready, where the experience "
        "goes to who will be worth most in the end: later fights would ask for it anyway.",
    )
    poor_ground_steps: int = Field(
        default=1500,
        ge=0,
        description="Steps for which it keeps off a ground that did not pay, or where it lost.",
    )
    fight_steps: int = Field(default=7, ge=0, description="Steps that a battle takes beside its turns, as it reckons.")
    turn_steps: int = Field(default=8, ge=1, description="Steps that a turn of a battle takes, as it reckons.")
    margin: float = Field(
        default=0.05,
        ge=0.0,
        le=1.0,
        description="Share of the party's hit points that a forecast of the next fights must leave, or it grows first.",
    )
    talk_cost: int = Field(default=12, ge=0, description="Tiles that talking to someone counts for, while it explores.")
    sign_cost: int = Field(default=60, ge=0, description="Tiles that reading a sign counts for, while it explores.")
    retry_cost: int = Field(default=60, ge=0, description="Tiles that each try before counts for, while it explores.")
