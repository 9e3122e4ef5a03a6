"""Form of replies about the bundled game: the skills of its pilot, and the actions of its environment."""

from pkmn_pyboy.emulation.buttons import ACTION_NAMES
from pkmn_pyboy.pilot.advice import SKILLS
from pkmncli.llm.replies import ReplyForm

FORM = ReplyForm(SKILLS, ACTION_NAMES)
