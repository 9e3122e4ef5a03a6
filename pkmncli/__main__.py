"""``python -m pkmncli`` is ``pkmn``."""

import sys

from pkmncli.cli import main

sys.exit(main())
