/* Moves outside of battle: a thicket parted, water entered, a boulder pushed. */
#pragma bank 1
#include "game.h"
#include "walking.h"

#define WATER 1 /* of permission() */
#define BADGE_SHEAR 0
#define BADGE_SWELL 1
#define BADGE_SHOVE 2

/* Asks whether to use a move on what lies ahead; 0 also where a badge, or somebody who knows it, is missing. */
static u8 wanted(u16 ahead, u8 badge, u8 move)
{
	u8 slot = party_knower(move);
	copy_name(move_buffer, BANK_MOVE_NAMES, ADDR_MOVE_NAMES, move - 1);
	script_say(ahead);
	if (slot == PARTY_SIZE) {
		script_say(TX_FIELD_NONE);
		return 0;
	}
	if (!(wJohtoBadges & (u8)(1 << badge))) {
		script_say(TX_FIELD_BADGE_0 + badge);
		return 0;
	}
	if (!script_ask(TX_FIELD_USE))
		return 0;
	nickname(name_buffer, slot);
	script_say(TX_FIELD_USED);
	return 1;
}

/* A on the tile ahead, where nobody stands and nothing is written. */
void field_tile(u8 collision, u8 direction)
{
	u8 thicket = collision == THICKET;
	if (!thicket && (permission(collision) != WATER || wPlayerState == STATE_SURFING))
		return;
	wScriptRunning = RUN_SCRIPT;
	wScriptMode = 1;
	if (thicket) {
		if (wanted(TX_THICKET, BADGE_SHEAR, MOVE_ID_SHEAR)) {
			map_cut(wXCoord + step_x[direction], wYCoord + step_y[direction]);
			map_neighbours();
		}
		window_close();
	} else if (wanted(TX_WATER, BADGE_SWELL, MOVE_ID_SWELL)) {
		window_close();
		wPlayerState = STATE_SURFING;
		player_figure();
		player_walk(direction);
	} else {
		window_close();
	}
	wScriptRunning = 0;
	wScriptMode = 0;
}

/* What a boulder answers. */
void field_boulder(void)
{
	if (wBikeFlags & STRENGTH_IN_USE) {
		script_say(TX_BOULDER_YIELDS);
		return;
	}
	if (wanted(TX_BOULDER, BADGE_SHOVE, MOVE_ID_SHOVE)) {
		wBikeFlags |= STRENGTH_IN_USE;
		script_say(TX_BOULDER_YIELDS);
	}
}

/* The player walks against a person: a boulder that yields moves a tile on, if that one is free. */
void field_push(u8 number, u8 direction)
{
	Object *o = &objects[number];
	u8 x = o->map_x + step_x[direction], y = o->map_y + step_y[direction];
	if (o->movement != MOVEMENT_BOULDER || !(wBikeFlags & STRENGTH_IN_USE) || o->walking != STANDING)
		return;
	if (off_map(x - 4, y - 4) || permission(map_collision(x - 4, y - 4)) || object_at(x, y))
		return;
	player.direction = direction << 2;
	wScriptRunning = RUN_SCRIPT;
	object_walk(number, direction);
	wScriptRunning = 0;
}
