/* Trainers who see the player, people whom a script moves, and poison on the way. */
#pragma bank 1
#include "game.h"

#define STANDING 0xFF
#define STEP_TICKS 8
#define EMOTE_FRAMES 30
#define POISON_STEPS 4

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
	static const i8 step_x[4] = {0, 0, -1, 1};
	static const i8 step_y[4] = {1, -1, 0, 0};
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
		wScriptRunning = 255;
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

/* Every few steps poison takes one point; 1 when nobody can walk on. */
u8 field_poison(void)
{
	u8 i, hurt = 0;
	wPoisonStepCount++;
	if (wPoisonStepCount < POISON_STEPS)
		return 0;
	wPoisonStepCount = 0;
	for (i = 0; i < wPartyCount; i++) {
		u16 hp = get16(party[i].hp);
		if (!hp || !(party[i].status & STATUS_POISON))
			continue;
		hurt = 1;
		put16(party[i].hp, hp - 1);
		if (hp == 1)
			party[i].status = 0;
	}
	if (!hurt)
		return 0;
	palettes_flash();
	return !party_fit();
}
