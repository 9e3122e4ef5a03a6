/* Walking: steps, turning, ledges, and what the buttons do on the map. */
#pragma bank 1
#include "game.h"
#include "walking.h"

#define TURN_TICKS 3
#define IDLE_TICKS 16

u8 battle_lost;
u8 last_tick;
static u8 turning;    /* ticks left of a turn */
u8 continuing;
static u8 resting;    /* the player stands and no button is held */
static u8 jumping;    /* half a ledge jump is still to come */

const i8 step_x[4] = {0, 0, -1, 1};
const i8 step_y[4] = {1, -1, 0, 0};

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

void at_rest(void)
{
	wPlayerStepFlags = 0;
	wPlayerStepDirection = DIR_NONE;
	wWalkingDirection = DIR_NONE;
	wPlayerMovement = 62;
	wMapEventStatus = 0;
}

void begin_step(u8 direction)
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
void move(void)
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
	if (wPartyCount && (number = field_poison())) {
		if (number == POISON_TOOK_ALL)
			blackout();
		return;
	}
	if (encounter())
		at_rest();
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
