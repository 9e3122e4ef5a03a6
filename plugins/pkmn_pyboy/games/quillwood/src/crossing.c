/* From map to map: doors, stairs, mats, edges. */
#pragma bank 1
#include "game.h"
#include "walking.h"

/* The warp event under a tile: its number from 1, 0 for none. */
u8 warp_at(u8 x, u8 y)
{
	hCellX = x;
	hCellY = y;
	hRowSize = 5;
	return place_find(wCurMapWarpEventCount, wCurMapWarpEventsPointer);
}

u8 warps_on_entry(u8 collision)
{
	return collision == 0x71 || collision == 0x7A || collision == 0x7B || collision == 0x72 || collision == 0x60 || collision == 0x7C;
}

void arrive(void)
{
	map_load();
	/* a thicket parted before the game was saved */
	if (map_collision(wXCoord, wYCoord) == THICKET)
		map_cut(wXCoord, wYCoord);
	objects_load();
	trainers_load();
	map_neighbours();
	map_show();
	at_rest();
	wPlayerTileCollision = player.tile_collision;
	fade_in();
}

u8 mat_for(u8 collision, u8 direction)
{
	return (collision == 0x70 && direction == DIR_DOWN) || (collision == 0x78 && direction == DIR_UP) || (collision == 0x76 && direction == DIR_LEFT) || (collision == 0x7E && direction == DIR_RIGHT);
}

void warp(u8 number)
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
void cross(u8 direction)
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
