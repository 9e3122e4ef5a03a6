"""Settings of the pilot by rules."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class PilotSettings(BaseModel):
    """Settings of the pilot ``rules``, in the section ``[rules]``."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    accept_choices: int = Field(
        default=3, ge=0, le=20, description="How often a repeated question is answered with A before B is tried."
    )
    refuse_words: tuple[str, ...] = Field(
        default=("nickname", "name of its own", "delete an older", "forget one of"),
        description="Questions that contain one of these words are answered with B.",
    )
    refuse_words_in_battle: tuple[str, ...] = Field(
        default=("change", "send another"),
        description="Questions in a battle that contain one of these words are answered with B, such as whether to "
        "switch before the opponent's next Pokemon.",
    )
    page_wait_steps: int = Field(
        default=6,
        ge=0,
        le=100,
        description="Steps to wait for the cursor of a menu or screen, which may still be drawn, before it is left.",
    )
    page_steps: int = Field(
        default=150,
        ge=20,
        description="Steps that menus and screens, or a battle, may last without a change; then their purpose is "
        "given up for a while, and they are left.",
    )
    confirm_tries: int = Field(
        default=2,
        ge=1,
        le=20,
        description="How often the same choice may be confirmed without a change before it is given up: a switch, "
        "an item or a move for the battle; a menu task or a purchase for a while.",
    )
    run_below: float = Field(
        default=0.25, ge=0.0, le=1.0, description="Share of HP below which it runs from wild Pokemon."
    )
    use_items: bool = Field(
        default=True, description="Whether it uses items that heal or cure, in battles against trainers and outside."
    )
    partner: int = Field(
        default=0,
        ge=0,
        le=9,
        description="Which choice to take where the story offers several, such as the first partner: 1 for the "
        "first; 0 for the one that the milestones file names.",
    )
    catch: Literal["none", "asked", "new"] = Field(
        default="asked",
        description="What it catches: nothing unasked, what a milestone or advice asks for, or any new species, up "
        "to `party_wanted` members.",
    )
    shop: Literal["never", "needed", "always"] = Field(
        default="needed",
        description="Whether it buys balls and healing items at a shop nearby: never, when it must catch something "
        "or has lost a battle, or whenever it has few.",
    )
    shop_steps: int = Field(default=60, ge=0, description="Maximum steps to a clerk to buy something.")
    supply_steps: int = Field(default=400, ge=0, description="The same for what the next fights or a milestone need.")
    balls_wanted: int = Field(default=3, ge=0, le=99, description="Balls to carry, while it shops.")
    heal_items_wanted: int = Field(default=3, ge=0, le=99, description="Healing items to carry, while it shops.")
    party_wanted: int = Field(default=3, ge=1, le=6, description="Party members beyond which it catches no new ones.")
    forget_words: tuple[str, ...] = Field(
        default=("delete an older", "make room", "forget one of"),
        description="Questions that contain one of these words ask which move to give up for a new one.",
    )
    heal_below: float = Field(
        default=0.4, ge=0.0, le=1.0, description="The party's share of HP below which it goes to heal."
    )
    heal_lead_below: float = Field(
        default=0.3, ge=0.0, le=1.0, description="The first party member's share of HP below which it goes to heal."
    )
    heal_points_below: float = Field(
        default=0.15,
        ge=0.0,
        le=1.0,
        description="Share of PP in the first member's damaging moves below which it goes to heal.",
    )
    heal_steps: int = Field(default=300, ge=0, description="Maximum steps of the route to a healer that it goes to.")
    heal_item_steps: int = Field(
        default=120,
        ge=0,
        description="Steps to the nearest healer from which it uses items from the bag first.",
    )
    healer_maps: tuple[str, ...] = Field(
        default=("pokemon center", "rest house"),
        description="Maps with one of these words in their name have a healer behind a counter.",
    )
    care: float = Field(
        default=1.1,
        ge=0.5,
        le=3.0,
        description="Safety margin: factor on the expected damage of the next trainers, when it decides whether to "
        "train.",
    )
    pick_up_within: int = Field(default=8, ge=0, le=100, description="Maximum tiles of detour to pick up an item.")
    train_levels: int = Field(
        default=2, ge=0, le=20, description="Levels that the lead should gain after a lost battle before it continues."
    )
    grass_cost: int = Field(
        default=3,
        ge=0,
        le=50,
        description="Tiles of detour that it accepts to avoid one tile of tall grass, unless it looks for a fight.",
    )
    goal_tries: int = Field(
        default=3, ge=1, le=50, description="How often it tries what a milestone asks for before it explores."
    )
    forget_tries_steps: int = Field(
        default=400, ge=10, description="Steps without progress after which it may retry what failed."
    )
    stuck_steps: int = Field(
        default=16, ge=4, description="Steps on one tile with control after which it walks at random for a while."
    )
    wander_steps: int = Field(default=8, ge=1, le=200, description="Steps of that random walk.")
    hunt_tries: int = Field(
        default=8,
        ge=1,
        description="With knowledge = 'seen': fights in one grass, at one time of day, before it looks for a wanted "
        "Pokemon at another time or in other grass.",
    )
    report_after_steps: int = Field(
        default=3000,
        ge=0,
        description="Steps without progress after which it writes a stall report and tries something else; 0 for "
        "never. Progress is a milestone, a map, a badge, a kind of item in the bag, a story flag, or a "
        "level while it trains.",
    )
    remedy_steps: int = Field(
        default=600,
        ge=1,
        description="Steps for each remedy that it then tries: a new plan, another order of errands, healing.",
    )
    map_cost: int = Field(
        default=30, ge=0, description="Cost, in tiles, of an exit for each time it was taken, while it explores."
    )
    train_steps: int = Field(default=600, ge=0, description="Maximum steps to better ground for training.")
    train_most_steps: int = Field(
        default=8000,
        ge=100,
        description="Maximum steps to train to the wanted level; it uses no ground that takes longer.",
    )
    carrier_share: float = Field(
        default=0.5,
        ge=0.0,
        le=1.0,
        description="Factor on the steps of a training that gives the experience to the member that will be worth "
        "most in the end, compared with other ways to be ready: later fights would ask for it anyway.",
    )
    poor_ground_steps: int = Field(
        default=1500,
        ge=0,
        description="Steps for which it avoids a ground that did not pay, or where it lost.",
    )
    fight_steps: int = Field(default=7, ge=0, description="Estimated steps of a battle besides its turns.")
    turn_steps: int = Field(default=8, ge=1, description="Estimated steps of a turn of a battle.")
    margin: float = Field(
        default=0.05,
        ge=0.0,
        le=1.0,
        description="Share of the party's HP that must remain in a forecast of the next fights; below it the party "
        "trains first.",
    )
    talk_cost: int = Field(default=12, ge=0, description="Cost, in tiles, of talking to someone, while it explores.")
    sign_cost: int = Field(default=60, ge=0, description="Cost, in tiles, of reading a sign, while it explores.")
    retry_cost: int = Field(default=60, ge=0, description="Cost, in tiles, of each earlier try, while it explores.")
