/* Party members: making, healing. */
#pragma bank 2
#include "game.h"
void party_give(u8 species, u8 level) __banked { species; level; }
void party_heal(void) __banked {}
void battle_wild(u8 species, u8 level) __banked { species; level; }
