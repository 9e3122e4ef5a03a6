/* Trainers who see the player, and people whom a script moves. */
#pragma bank 1
#include "game.h"
#include "walking.h"

#define EMOTE_FRAMES 30

static u8 watchers; /* how many trainers of the map may still see the player */

/* A trainer's script begins with the flag of the battle won. */
static u8 beaten(u8 number)
{
	return flag_get(far_word(wMapScriptsBank, map_objects[number].script + 1));
}

static u8 watches(u8 number)
{
	return objects[number].sprite && (map_objects[number].palette_and_type & 15) == KIND_TRAINER && !beaten(number);
}

void trainers_load(void)
{
	u8 i;
	watchers = 0;
	for (i = 1; i < NUM_OBJECTS; i++)
		if (watches(i))
			watchers++;
}

/* A step of a person that a script orders. */
void object_walk(u8 number, u8 direction)
{
	Object *o = &objects[number];
	o->direction = direction << 2;
	o->last_map_x = o->map_x;
	o->last_map_y = o->map_y;
	o->map_x += step_x[direction];
	o->map_y += step_y[direction];
	map_objects[number].x = o->map_x;
	map_objects[number].y = o->map_y;
	o->walking = 4 | direction;
	o->action = 2;
	o->step_duration = STEP_TICKS;
	do {
		tick_wait();
		step_advance(o);
		objects_draw();
	} while (o->walking != STANDING);
}

/* How far the player stands in front of a trainer, 0 when out of sight. */
static u8 distance(u8 number)
{
	Object *o = &objects[number];
	u8 sight = map_objects[number].sight, far;
	if (o->map_x == player.map_x) {
		if (o->direction == DIR_DOWN << 2 && player.map_y > o->map_y)
			far = player.map_y - o->map_y;
		else if (o->direction == DIR_UP << 2 && player.map_y < o->map_y)
			far = o->map_y - player.map_y;
		else
			return 0;
	} else if (o->map_y == player.map_y) {
		if (o->direction == DIR_RIGHT << 2 && player.map_x > o->map_x)
			far = player.map_x - o->map_x;
		else if (o->direction == DIR_LEFT << 2 && player.map_x < o->map_x)
			far = o->map_x - player.map_x;
		else
			return 0;
	} else {
		return 0;
	}
	return far <= sight ? far : 0;
}

/* The first trainer who sees the player comes over; returns the number, 0 for none. */
u8 trainers_look(void)
{
	u8 i, far;
	if (!watchers || !wPartyCount)
		return 0;
	for (i = 1; i < NUM_OBJECTS; i++) {
		if (!watches(i) || !(far = distance(i)))
			continue;
		wScriptRunning = RUN_SCRIPT;
		wScriptMode = 1;
		emote_over = i;
		objects_draw();
		wait_frames(EMOTE_FRAMES);
		emote_over = 0;
		objects_draw();
		wScriptMode = 2;
		while (--far)
			object_walk(i, objects[i].direction >> 2);
		player.direction = objects[i].direction ^ 4;
		objects_draw();
		return i;
	}
	return 0;
}
