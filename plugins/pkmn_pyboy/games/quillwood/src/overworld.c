/* Walking: steps, turning, warps, map edges, triggers, encounters, and what the buttons do on the map. */
#pragma bank 1
#include "game.h"

#define STANDING 0xFF
#define STEP_TICKS 8
#define TURN_TICKS 3
#define IDLE_TICKS 16
#define RUN_SCRIPT 255
#define RUN_EDGE 4
#define RUN_WARP 5
#define RUN_BLACKOUT 7
#define RUN_TURN 9
#define ENVIRONMENT_CAVE 4

u8 battle_lost;
u8 last_tick;
static u8 turning;    /* ticks left of a turn */
static u8 continuing; /* the last step ended with a direction held */
static u8 resting;    /* the player stands and no button is held */
static u8 jumping;    /* half a ledge jump is still to come */
static u8 wild_group, wild_number, wild_width;
static u16 wild_at;

static const i8 step_x[4] = {0, 0, -1, 1};
static const i8 step_y[4] = {1, -1, 0, 0};

/* Collision values around the player, by direction: map_neighbours() keeps them. */
#define tiles_around (&wTileDown)

static u8 held_direction(void)
{
	u8 pad = hJoyDown;
	if (pad & PAD_DOWN)
		return DIR_DOWN;
	if (pad & PAD_UP)
		return DIR_UP;
	if (pad & PAD_LEFT)
		return DIR_LEFT;
	if (pad & PAD_RIGHT)
		return DIR_RIGHT;
	return DIR_NONE;
}

/* Variables instead of one expression: SDCC 4.2 compares (u8)(a << 1) as if it had a sign. */
u8 off_map(u8 x, u8 y)
{
	u8 width = wMapWidth, height = wMapHeight;
	width += width;
	height += height;
	return x >= width || y >= height;
}

static void at_rest(void)
{
	wPlayerStepFlags = 0;
	wPlayerStepDirection = DIR_NONE;
	wWalkingDirection = DIR_NONE;
	wPlayerMovement = 62;
	wMapEventStatus = 0;
}

/* The warp event under a tile: its number from 1, 0 for none. */
static u8 warp_at(u8 x, u8 y)
{
	hCellX = x;
	hCellY = y;
	hRowSize = 5;
	return place_find(wCurMapWarpEventCount, wCurMapWarpEventsPointer);
}

static u8 warps_on_entry(u8 collision)
{
	return collision == 0x71 || collision == 0x7A || collision == 0x7B || collision == 0x72 || collision == 0x60 || collision == 0x7C;
}

static void arrive(void)
{
	map_load();
	objects_load();
	trainers_load();
	map_neighbours();
	map_show();
	at_rest();
	wPlayerTileCollision = player.tile_collision;
	fade_in();
}

static void begin_step(u8 direction)
{
	map_strip(direction);
	if (player.direction != direction << 2) {
		player.direction = direction << 2;
		draw_needed = 1;
	}
	player.last_map_x = player.map_x;
	player.last_map_y = player.map_y;
	player.map_x += step_x[direction];
	player.map_y += step_y[direction];
	player.last_tile = player.tile_collision;
	player.tile_collision = tiles_around[direction];
	player.walking = 4 | direction;
	player.action = 2;
	player.step_duration = STEP_TICKS;
	wPlayerStepFlags = 0xA0;
	wPlayerStepDirection = direction;
	wWalkingDirection = direction;
	wPlayerMovement = 12 + direction;
	wMapEventStatus = 1;
}

/* One tick of the player's step and of the camera with it. */
static void move(void)
{
	player_move();
	if (wPlayerStepFlags & 0x10) {
		u8 t = jumping ? STEP_TICKS - player.step_duration : player.step_duration;
		player.jump_height = t + (t >> 1);
	}
	if (!player.step_duration) {
		player.walking = STANDING;
		player.action = 1;
		player.last_map_x = player.map_x;
		player.last_map_y = player.map_y;
		player.step_frame ^= 1;
	}
}

static void warp(u8 number)
{
	u8 row[5];
	u8 collision;
	u16 at;
	wScriptRunning = RUN_WARP;
	wScriptMode = 1;
	wMapStatus = 1;
	wMapEventStatus = 0;
	hMapEntryMethod = player.tile_collision == 0x71 || player.tile_collision == 0x7A ? 0xF5 : 0xF1;
	far_copy(row, wMapScriptsBank, wCurMapWarpEventsPointer + (u16)(number - 1) * 5, 5);
	wPrevMapGroup = wMapGroup;
	wPrevMapNumber = wMapNumber;
	wNextMapGroup = row[3];
	wNextMapNumber = row[4];
	wWarpNumber = row[2];
	fade_out();
	wMapGroup = row[3];
	wMapNumber = row[4];
	map_load();
	at = wCurMapWarpEventsPointer + (u16)(wWarpNumber - 1) * 5;
	wYCoord = far_byte(wMapScriptsBank, at);
	wXCoord = far_byte(wMapScriptsBank, at + 1);
	collision = map_collision(wXCoord, wYCoord);
	if (collision == 0x71 || collision == 0x7A)
		player.direction = DIR_DOWN << 2;
	arrive();
	hMapEntryMethod = 0;
	continuing = 0;
	last_tick = hVBlankCounter;
	/* out of doors and off stairs by one step */
	if ((collision == 0x71 || collision == 0x7A) && !permission(wTileDown) && !object_at(player.map_x, player.map_y + 1)) {
		begin_step(DIR_DOWN);
		move();
	}
	wMapStatus = 2;
	wScriptRunning = 0;
	wScriptMode = 0;
}

/* Over the edge to a connected map: the picture stays, the rest is loaded. */
static void cross(u8 direction)
{
	static const u8 order[4] = {1, 0, 2, 3}; /* records are north, south, west, east */
	u8 *record = wNorthConnectedMapGroup + order[direction] * 12;
	u8 x = wXCoord, y = wYCoord;
	wScriptRunning = RUN_EDGE;
	wMapStatus = 1;
	hMapEntryMethod = 0xF7;
	wMapGroup = record[0];
	wMapNumber = record[1];
	if (direction == DIR_LEFT || direction == DIR_RIGHT) {
		x = record[9];
		y += record[8];
	} else {
		y = record[8];
		x += record[9];
	}
	wXCoord = x;
	wYCoord = y;
	map_load();
	objects_load();
	trainers_load();
	objects_graphics();
	map_neighbours();
	draw_needed = 1;
	hMapEntryMethod = 0;
	wMapStatus = 2;
	wScriptRunning = 0;
	last_tick = hVBlankCounter;
}

static u16 trigger_here(void)
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

static void blackout(void)
{
	u8 i, row[4];
	wScriptRunning = RUN_BLACKOUT;
	wMapStatus = 1;
	battle_lost = 0;
	wPlayerState = STATE_WALKING;
	money_put(money_get() >> 1);
	party_heal();
	for (i = 0; i < NUM_SPAWNS; i++) {
		far_copy(row, BANK_SPAWN_POINTS, ADDR_SPAWN_POINTS + i * 4, 4);
		if (row[0] == wLastSpawnMapGroup && row[1] == wLastSpawnMapNumber)
			break;
	}
	if (i == NUM_SPAWNS)
		far_copy(row, BANK_SPAWN_POINTS, ADDR_SPAWN_POINTS, 4);
	wMapGroup = row[0];
	wMapNumber = row[1];
	wXCoord = row[2];
	wYCoord = row[3];
	player.direction = 0;
	arrive();
	wMapStatus = 2;
	wScriptRunning = 0;
	wScriptMode = 0;
	last_tick = hVBlankCounter;
}

/* A map script; a lost battle in it ends at the healer. */
static void run_script(u16 address)
{
	script_run(address);
	if (battle_lost)
		blackout();
	trainers_load();
	last_tick = hVBlankCounter;
}

/* The row of the map's wild creatures in a table with rows so wide, 0 for none; looked for once a map and table. */
static u16 wild_row(u16 table, u8 width)
{
	u8 group;
	if (wild_group == wMapGroup && wild_number == wMapNumber && wild_width == width)
		return wild_at;
	wild_group = wMapGroup;
	wild_number = wMapNumber;
	wild_width = width;
	while ((group = far_byte(BANK_WILD_GRASS, table)) != wMapGroup || far_byte(BANK_WILD_GRASS, table + 1) != wMapNumber) {
		if (group == 0xFF)
			return wild_at = 0;
		table += width;
	}
	return wild_at = table;
}

/* Tall grass, the floor of a cave, or water: perhaps a wild creature. Both tables lie in one bank. */
static u8 encounter(void)
{
	u16 at = ADDR_WILD_GRASS;
	u8 slot, roll, width = 47, slots_at = 5 + 14;
	static const u8 odds[7] = {30, 60, 80, 90, 95, 99, 100};
	static const u8 water_odds[3] = {60, 90, 100};
	const u8 *chance = odds;
	if (wWildEncounterCooldown || !wPartyCount)
		return 0;
	if (wPlayerState == STATE_SURFING) {
		at = ADDR_WILD_WATER;
		width = 9;
		slots_at = 3;
		chance = water_odds;
	} else if (player.tile_collision != 0x18 && (player.tile_collision || wEnvironment != ENVIRONMENT_CAVE)) {
		return 0;
	}
	at = wild_row(at, width);
	/* the rate by day, or the only one */
	if (!at || random() >= far_byte(BANK_WILD_GRASS, at + (width == 9 ? 2 : 3)))
		return 0;
	roll = random_below(100);
	for (slot = 0; roll >= chance[slot]; slot++)
		;
	at += slots_at + slot * 2;
	at_rest();
	wScriptRunning = RUN_SCRIPT;
	wScriptMode = 1;
	wWildEncounterCooldown = 3;
	battle_wild(far_byte(BANK_WILD_GRASS, at + 1), far_byte(BANK_WILD_GRASS, at));
	if (wBattleResult == 1) {
		blackout();
	} else {
		map_show();
		fade_in();
		wScriptRunning = 0;
		wScriptMode = 0;
		last_tick = hVBlankCounter;
	}
	return 1;
}

static void step_end(void)
{
	u8 direction = wPlayerStepDirection;
	u8 number;
	u16 script;
	wXCoord += step_x[direction];
	wYCoord += step_y[direction];
	hBgCol = hSCX >> 3;
	hBgRow = hSCY >> 3;
	map_objects[0].x = player.map_x;
	map_objects[0].y = player.map_y;
	if (jumping) {
		jumping = 0;
		map_neighbours();
		begin_step(direction);
		wPlayerStepFlags |= 0x10;
		return;
	}
	player.jump_height = 0;
	wStepCount++;
	if (wWildEncounterCooldown)
		wWildEncounterCooldown--;
	if (off_map(wXCoord, wYCoord))
		cross(direction);
	else
		map_neighbours();
	if (held_direction() == DIR_NONE) {
		at_rest();
		continuing = 0;
	} else {
		wPlayerStepFlags = 0x60;
		continuing = 1;
	}
	if (warps_on_entry(player.tile_collision) && (number = warp_at(wXCoord, wYCoord))) {
		wPlayerStepFlags = 0x60;
		warp(number);
		return;
	}
	script = trigger_here();
	if (script) {
		at_rest();
		run_script(script);
		return;
	}
	number = trainers_look();
	if (number) {
		at_rest();
		continuing = 0;
		hLastTalked = number;
		run_script(map_objects[number].script);
		return;
	}
	if (wPartyCount && field_poison()) {
		at_rest();
		continuing = 0;
		blackout();
		return;
	}
	if (encounter())
		at_rest();
}

static u8 mat_for(u8 collision, u8 direction)
{
	return (collision == 0x70 && direction == DIR_DOWN) || (collision == 0x78 && direction == DIR_UP) || (collision == 0x76 && direction == DIR_LEFT) || (collision == 0x7E && direction == DIR_RIGHT);
}

static u8 ledge_for(u8 collision, u8 direction)
{
	if (direction == DIR_DOWN)
		return collision == 0xA3 || collision == 0xA4 || collision == 0xA5;
	if (direction == DIR_LEFT)
		return collision == 0xA1 || collision == 0xA5;
	if (direction == DIR_RIGHT)
		return collision == 0xA0 || collision == 0xA4;
	return 0;
}

/* Tries to walk one tile; 1 when the step began. */
static u8 try_step(u8 direction)
{
	u8 x = wXCoord + step_x[direction], y = wYCoord + step_y[direction];
	u8 here = player.tile_collision, number;
	static const u8 bit[4] = {4, 8, 2, 1};
	if (mat_for(here, direction) && (number = warp_at(wXCoord, wYCoord))) {
		player.direction = direction << 2;
		warp(number);
		return 1;
	}
	if (ledge_for(here, direction)) {
		begin_step(direction);
		wPlayerStepFlags |= 0x10;
		jumping = 1;
		return 1;
	}
	if (off_map(x, y) && !(wMapConnections & bit[direction]))
		return 0;
	number = object_at(x + 4, y + 4);
	if (number) {
		field_push(number, direction);
		return 0;
	}
	/* water carries those who ride on it; ashore they walk */
	number = permission(tiles_around[direction]);
	if (wPlayerState == STATE_SURFING) {
		if (number > 1)
			return 0;
		if (!number) {
			wPlayerState = STATE_WALKING;
			player_figure();
		}
	} else if (number) {
		return 0;
	}
	begin_step(direction);
	return 1;
}

/* The tile in front: a person, a sign, or nothing. */
static void interact(void)
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

static void player_tick(void)
{
	u8 direction;
	resting = 0;
	if (player.walking != STANDING) {
		move();
		if (player.walking == STANDING)
			step_end();
		return;
	}
	if (turning) {
		if (--turning)
			return;
		wScriptRunning = 0;
		wScriptMode = 0;
		wWalkingDirection = DIR_NONE;
		wPlayerMovement = 62;
		continuing = 1;
	}
	if (!hJoyDown) {
		if (wPlayerStepFlags | continuing | (u8)(wPlayerMovement ^ 62)) {
			at_rest();
			continuing = 0;
		}
		resting = 1;
		return;
	}
	if (hJoyPressed & PAD_START) {
		at_rest();
		wScriptRunning = RUN_SCRIPT;
		start_menu();
		wScriptRunning = 0;
		last_tick = hVBlankCounter;
		return;
	}
	if (hJoyPressed & PAD_A) {
		at_rest();
		interact();
		last_tick = hVBlankCounter;
		return;
	}
	direction = held_direction();
	if (direction == DIR_NONE) {
		at_rest();
		continuing = 0;
		return;
	}
	wWalkingDirection = direction;
	if (player.direction != direction << 2 && !continuing) {
		player.direction = direction << 2;
		wPlayerMovement = 4 + direction;
		wScriptRunning = RUN_TURN;
		wScriptMode = 3;
		turning = TURN_TICKS;
		draw_needed = 1;
		return;
	}
	if (try_step(direction)) {
		if (player.walking != STANDING && player.step_duration == STEP_TICKS) {
			move();
			wPlayerStepFlags |= 0x80;
		}
		return;
	}
	wPlayerStepFlags = 0;
	wPlayerStepDirection = DIR_NONE;
	wPlayerMovement = 80;
	wMapEventStatus = 0;
	if (player.direction != direction << 2) {
		player.direction = direction << 2;
		draw_needed = 1;
	}
	continuing = 0;
}

/* A step that a script orders. */
void player_walk(u8 direction) __banked
{
	if (!try_step(direction)) {
		player.direction = direction << 2;
		objects_draw();
		return;
	}
	do {
		tick_wait();
		move();
		objects_draw();
	} while (player.walking != STANDING);
	wXCoord += step_x[direction];
	wYCoord += step_y[direction];
	hBgCol = hSCX >> 3;
	hBgRow = hSCY >> 3;
	map_objects[0].x = player.map_x;
	map_objects[0].y = player.map_y;
	map_neighbours();
	at_rest();
	wScriptMode = 1;
}

void overworld(void) __banked
{
	u8 ticks = 0;
	wScriptRunning = RUN_SCRIPT;
	wMapStatus = 1;
	arrive();
	wMapStatus = 2;
	wScriptRunning = 0;
	last_tick = hVBlankCounter;
	for (;;) {
		if (resting && !objects_walking && !hJoypadDown) {
			hIdle = IDLE_TICKS;
			idle_asm();
			ticks += IDLE_TICKS - hIdle;
			last_tick = hVBlankCounter;
		} else {
			if (player.step_duration > 1 && !objects_walking && !jumping)
				ticks += player_walk_on();
			tick_wait();
		}
		poll_joy();
		player_tick();
		ticks++;
		/* nobody in a step: people are looked after every few ticks only */
		if (objects_walking || ticks >= IDLE_TICKS) {
			objects_tick(ticks);
			ticks = 0;
		}
		if (draw_needed)
			objects_draw();
	}
}
