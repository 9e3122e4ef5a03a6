/* Triggers, people, signs: what begins a script of the map. */
#pragma bank 1
#include "game.h"
#include "walking.h"

u16 trigger_here(void)
{
	u8 number;
	hCellX = wXCoord;
	hCellY = wYCoord;
	hRowSize = 8;
	number = place_find(wCurMapCoordEventCount, wCurMapCoordEventsPointer + 1);
	if (!number)
		return 0;
	return far_word(wMapScriptsBank, wCurMapCoordEventsPointer + 4 + (u16)(number - 1) * 8);
}

/* A map script; a lost battle in it ends at the healer. */
void run_script(u16 address)
{
	script_run(address);
	if (battle_lost)
		blackout();
	trainers_load();
	last_tick = hVBlankCounter;
}

/* The tile in front: a person, a sign, or nothing. */
void interact(void)
{
	u8 direction = player.direction >> 2;
	u8 x = wXCoord + step_x[direction], y = wYCoord + step_y[direction];
	u8 number, person;
	if (permission(0x90) && map_collision(x, y) == 0x90 && !object_at(x + 4, y + 4)) {
		x += step_x[direction];
		y += step_y[direction];
		person = object_at(x + 4, y + 4);
		if (!person)
			return;
	} else {
		person = object_at(x + 4, y + 4);
	}
	if (person) {
		wScriptRunning = RUN_SCRIPT;
		while (objects[person].walking != STANDING) {
			tick_wait();
			step_advance(&objects[person]);
			objects_draw();
			if (objects[person].walking == STANDING)
				objects_walking--;
		}
		hLastTalked = person;
		run_script(map_objects[person].script);
		return;
	}
	hCellX = x;
	hCellY = y;
	hRowSize = 5;
	number = place_find(wCurMapBGEventCount, wCurMapBGEventsPointer);
	if (number) {
		hLastTalked = 0;
		run_script(far_word(wMapScriptsBank, wCurMapBGEventsPointer + 3 + (u16)(number - 1) * 5));
		return;
	}
	if (!off_map(x, y))
		field_tile(map_collision(x, y), direction);
}
