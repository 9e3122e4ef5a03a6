/* The player's and the people's figures: loading, wandering, drawing. */
#pragma bank 1
#include "game.h"
#include "walking.h"

#define SHEET_TILES 24
#define MAX_SHEETS 10
#define MOVE_WANDER 2
#define EMOTE_TILE 120 /* behind the ten sheets; walk.s too */

static u8 sheets[MAX_SHEETS]; /* sprite numbers (from 1) whose drawings are in video memory */
static u8 sheet_count;
static u8 drawn[MAX_SHEETS]; /* those that are there already, from an earlier map too */
static u8 emote_drawn;
static u8 wanderers;
u8 objects_walking;
u8 draw_needed;
u8 emote_over;

static u8 sheet_of(u8 sprite)
{
	u8 i;
	for (i = 0; i < sheet_count; i++)
		if (sheets[i] == sprite)
			return i;
	if (sheet_count == MAX_SHEETS)
		return 0;
	sheets[sheet_count++] = sprite;
	return i;
}

static void object_place(Object *o, u8 map_x, u8 map_y)
{
	o->map_x = o->last_map_x = o->init_x = map_x;
	o->map_y = o->last_map_y = o->init_y = map_y;
	o->walking = STANDING;
	o->action = 1;
	o->x_offset = 0;
	o->y_offset = 0;
	o->step_duration = 0;
}

static u8 own_sprite(void)
{
	return wPlayerState == STATE_SURFING ? SPRITE_RIDER : SPRITE_HERO;
}

/* Who wandered off may have let the player stand where they begin: a free tile beside it, then. */
static void step_aside(Object *o, MapObject *m)
{
	u8 direction, x, y;
	for (direction = 0; direction < 4; direction++) {
		x = m->x + step_x[direction];
		y = m->y + step_y[direction];
		if (off_map(x - 4, y - 4) || permission(map_collision(x - 4, y - 4)) || object_at(x, y))
			continue;
		m->x = x;
		m->y = y;
		object_place(o, x, y);
		return;
	}
}

/* The map's people, and the player at wXCoord, wYCoord. */
void objects_load(void) __banked
{
	u8 i;
	u8 direction = player.direction;
	u8 *clear = wObjectMasks;
	u16 at = wCurMapObjectEventsPointer;
	for (i = 0; i < 16; i++)
		clear[i] = i ? 0xFF : 0;
	fill_bytes((u8 *)&objects[1], 0, sizeof(Object) * (NUM_OBJECTS - 1));
	fill_bytes((u8 *)map_objects, 0, sizeof(MapObject) * 16);
	for (i = 0; i < 16; i++)
		map_objects[i].struct_id = 0xFF;
	sheet_count = 0;
	wanderers = 0;
	objects_walking = 0;
	player.sprite = own_sprite();
	player.map_object = 0;
	player.sprite_tile = sheet_of(player.sprite);
	player.direction = direction;
	object_place(&player, wXCoord + 4, wYCoord + 4);
	map_objects[0].struct_id = 0;
	map_objects[0].sprite = player.sprite;
	map_objects[0].x = player.map_x;
	map_objects[0].y = player.map_y;
	for (i = 1; i <= wCurMapObjectEventCount && i < NUM_OBJECTS; i++) {
		MapObject *m = &map_objects[i];
		Object *o = &objects[i];
		far_copy(&m->sprite, wMapScriptsBank, at, 13);
		at += 13;
		if (m->event_flag != 0xFFFF && flag_get(m->event_flag))
			continue;
		wObjectMasks[i] = 0;
		m->struct_id = i;
		o->sprite = m->sprite;
		o->map_object = i;
		o->sprite_tile = sheet_of(m->sprite);
		o->movement = m->movement;
		o->radius = m->radius;
		o->palette = m->palette_and_type >> 4;
		object_place(o, m->x, m->y);
		if (m->movement == MOVE_WANDER && m->x == player.map_x && m->y == player.map_y)
			step_aside(o, m);
		o->direction = m->movement >= 6 ? (m->movement - 6) << 2 : 0;
		if (m->movement == MOVE_WANDER) {
			wanderers++;
			o->range = 40 + i * 17;
		}
	}
	map_places();
}

/* Someone stands on another tile from now on, counted as on the map's grid in memory (4 more). */
void object_stand(u8 number, u8 x, u8 y) __banked
{
	map_objects[number].x = x;
	map_objects[number].y = y;
	object_place(&objects[number], x, y);
}

/* Drawings of the figures that are not there yet to video memory. */
void objects_graphics(void) __banked
{
	u8 i;
	for (i = 0; i < sheet_count; i++) {
		u16 to = 0x8000;
		u8 slot = i;
		if (drawn[i] == sheets[i])
			continue;
		drawn[i] = sheets[i];
		if (i >= 5)
			slot -= 5;
		while (slot--)
			to += SHEET_TILES * 16;
		vram_wait();
		rVBK = i >= 5;
		vram_copy(to, BANK_PEOPLE, ADDR_PEOPLE + (u16)(sheets[i] - 1) * (SHEET_TILES * 16), SHEET_TILES);
		rVBK = 0;
	}
	if (emote_drawn)
		return;
	emote_drawn = 1;
	vram_show(0x8000 + EMOTE_TILE * 16, BANK_PEOPLE, ADDR_EMOTE, 4);
}

/* The player's figure after a change of wPlayerState. */
void player_figure(void)
{
	u8 loaded = sheet_count;
	player.sprite = map_objects[0].sprite = own_sprite();
	player.sprite_tile = sheet_of(player.sprite);
	if (sheet_count != loaded)
		objects_graphics();
	draw_needed = 1;
}

/* One tick (two pixels) of a step. */
void step_advance(Object *o) __banked
{
	u8 direction = o->walking & 3;
	i8 left;
	o->step_duration--;
	left = -(i8)(o->step_duration << 1);
	if (direction == DIR_DOWN)
		o->y_offset = left;
	else if (direction == DIR_UP)
		o->y_offset = -left;
	else if (direction == DIR_RIGHT)
		o->x_offset = left;
	else
		o->x_offset = -left;
	if (!o->step_duration) {
		o->walking = STANDING;
		o->action = 1;
		o->last_map_x = o->map_x;
		o->last_map_y = o->map_y;
		o->step_frame ^= 1;
	}
	draw_needed = 1;
}

static u8 free_for(Object *o, u8 x, u8 y)
{
	u8 reach_x = o->radius & 15, reach_y = o->radius >> 4;
	if (x + reach_x < o->init_x || x > o->init_x + reach_x || y + reach_y < o->init_y || y > o->init_y + reach_y)
		return 0;
	if (permission(map_collision(x - 4, y - 4)))
		return 0;
	if (object_at(x, y) || (player.map_x == x && player.map_y == y) || (player.last_map_x == x && player.last_map_y == y))
		return 0;
	return 1;
}

/* People who wander take a step or look around now and then; so many ticks have passed. */
void objects_tick(u8 ticks) __banked
{
	u8 i, direction, x, y;
	Object *o = &objects[1];
	if (!wanderers)
		return;
	for (i = 1; i < NUM_OBJECTS && i <= wCurMapObjectEventCount; i++, o++) {
		if (o->movement != MOVE_WANDER)
			continue;
		if (o->walking != STANDING) {
			step_advance(o);
			if (o->walking == STANDING)
				objects_walking--;
			continue;
		}
		if (o->range > ticks) {
			o->range -= ticks;
			continue;
		}
		o->range = (random() & 127) + 60;
		direction = random() & 3;
		o->direction = direction << 2;
		draw_needed = 1;
		x = o->map_x + step_x[direction];
		y = o->map_y + step_y[direction];
		if ((random() & 1) && free_for(o, x, y)) {
			o->last_map_x = o->map_x;
			o->last_map_y = o->map_y;
			o->map_x = x;
			o->map_y = y;
			map_objects[i].x = x;
			map_objects[i].y = y;
			o->walking = 4 | direction;
			o->action = 2;
			o->step_duration = STEP_TICKS;
			objects_walking++;
			step_advance(o);
		}
	}
}
