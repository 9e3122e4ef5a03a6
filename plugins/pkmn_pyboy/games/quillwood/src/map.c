/* The current map: loading it from the tables, its neighbours, its collision and its picture. */
#pragma bank 1
#include "game.h"

#define TILESET_INDOOR 1
#define TILESET_CAVE 2
#define BLOCKS_SIZE 1300
#define map_blocks ((u8 *)0xC800)
#define BORDER 3
#define ENTRY_ROW 7
#define CHANGE_BLOCK 1
#define CHANGE_CLEAR 2
#define CHANGE_PLACE 3

u8 strip_pending; /* 1: a column waits for the next VBlank, 2: a row */
static u16 attributes;
u8 tileset_loaded; /* the tileset whose tiles are in video memory, plus one */

/* The 9-byte header of a map. */
static u16 header_of(u8 group, u8 number)
{
	u16 list = far_word(BANK_MAP_GROUP_POINTERS, ADDR_MAP_GROUP_POINTERS + (u16)(group - 1) * 2);
	return list + (u16)(number - 1) * 9;
}

static void load_attributes(void)
{
	u8 row[15];
	u8 i;
	u16 header = header_of(wMapGroup, wMapNumber);
	far_copy(row, BANK_MAP_GROUP_POINTERS, header, 9);
	wMapTileset = row[1];
	wEnvironment = row[2];
	attributes = (u16)row[4] << 8 | row[3];
	wCurLandmark = row[5];
	far_copy(row, BANK_MAP_GROUP_POINTERS, attributes, 12);
	wMapBorderBlock = row[0];
	wMapHeight = row[1];
	wMapWidth = row[2];
	wMapScriptsBank = row[6];
	wMapScriptsPointer = (u16)row[8] << 8 | row[7];
	wMapEventsPointer = (u16)row[10] << 8 | row[9];
	wMapConnections = row[11];
	attributes += 12;
	for (i = 0; i < 4; i++) {
		u8 *record = wNorthConnectedMapGroup + i * 12;
		u8 j;
		if (wMapConnections & (u8)(8 >> i)) {
			far_copy(record, BANK_MAP_GROUP_POINTERS, attributes, 12);
			attributes += 12;
		} else {
			for (j = 0; j < 12; j++)
				record[j] = j < 2 ? 0xFF : 0;
		}
	}
	far_copy(row, BANK_TILESETS, ADDR_TILESETS + (u16)wMapTileset * 15, 15);
	wTilesetBlocksBank = row[3];
	wTilesetBlocksAddress = (u16)row[5] << 8 | row[4];
	wTilesetCollisionBank = row[6];
	wTilesetCollisionAddress = (u16)row[8] << 8 | row[7];
	hBlocks = (u16)row[12] << 8 | row[11];
}

/* Counts and places of warps, triggers, signs and people. */
static void load_events(void)
{
	u8 bank = wMapScriptsBank;
	u16 at = wMapEventsPointer + 2;
	wCurMapWarpEventCount = far_byte(bank, at++);
	wCurMapWarpEventsPointer = at;
	at += (u16)wCurMapWarpEventCount * 5;
	wCurMapCoordEventCount = far_byte(bank, at++);
	wCurMapCoordEventsPointer = at;
	at += (u16)wCurMapCoordEventCount * 8;
	wCurMapBGEventCount = far_byte(bank, at++);
	wCurMapBGEventsPointer = at;
	at += (u16)wCurMapBGEventCount * 5;
	wCurMapObjectEventCount = far_byte(bank, at++);
	wCurMapObjectEventsPointer = at;
}

/* Rows of the connected maps that lie in the border. */
void map_connections(void) __banked
{
	u8 i, rows, cols, there_width, group, bank;
	u8 stride = wMapWidth + BORDER * 2;
	for (i = 0; i < 4; i++) {
		u8 *record = wNorthConnectedMapGroup + i * 12;
		u8 *to = (u8 *)((u16)record[5] << 8 | record[4]);
		u16 from = (u16)record[3] << 8 | record[2];
		u8 length = record[6];
		group = record[0];
		if (group == 0xFF)
			continue;
		there_width = record[7];
		bank = far_byte(BANK_MAP_GROUP_POINTERS, far_word(BANK_MAP_GROUP_POINTERS, header_of(group, record[1]) + 3) + 3);
		rows = i < 2 ? BORDER : length;
		cols = i < 2 ? length : BORDER;
		while (rows--) {
			far_copy(to, bank, from, cols);
			to += stride;
			from += there_width;
		}
	}
}

static void load_blocks(void)
{
	u8 row = wMapHeight, width = wMapWidth;
	u16 from;
	u8 bank;
	u8 *to = map_blocks;
	fill_bytes(to, wMapBorderBlock, BLOCKS_SIZE);
	from = far_word(BANK_MAP_GROUP_POINTERS, header_of(wMapGroup, wMapNumber) + 3);
	bank = far_byte(BANK_MAP_GROUP_POINTERS, from + 3);
	from = far_word(BANK_MAP_GROUP_POINTERS, from + 4);
	to = map_blocks + BORDER * (width + BORDER * 2) + BORDER;
	while (row--) {
		far_copy(to, bank, from, width);
		from += width;
		to += width + BORDER * 2;
	}
	map_connections();
}

static void clear_flags(void);

/* Everything of map wMapGroup.wMapNumber but its picture and its people. */
void map_load(void) __banked
{
	u8 i;
	load_attributes();
	load_events();
	clear_flags();
	map_changes();
	wEventFlags[0] = 0;
	wBikeFlags &= ~STRENGTH_IN_USE;
	i = far_byte(wMapScriptsBank, wMapScriptsPointer);
	if (i)
		wVisitedSpawns[i >> 3] |= 1 << (i & 7);
	wWildEncounterCooldown = 5;
}

static u8 *block_at(u8 x, u8 y)
{
	u8 stride = wMapWidth + BORDER * 2;
	return map_blocks + (u16)((u8)(y + 6) >> 1) * stride + ((u8)(x + 6) >> 1);
}

/* A row of what happens when the map is entered: a kind, a flag or a byte's address, a value, and what then. */
static u8 entry_row(u16 *at, u8 *row)
{
	far_copy(row, wMapScriptsBank, *at, ENTRY_ROW);
	*at += ENTRY_ROW;
	return row[0];
}

/* The map's blocks by the story flags of now, over those that it begins with. */
void map_changes(void) __banked
{
	u8 row[ENTRY_ROW];
	u16 at = wMapScriptsPointer + 1;
	load_blocks();
	while (entry_row(&at, row))
		if (row[0] == CHANGE_BLOCK && !flag_get((u16)row[2] << 8 | row[1]) == !row[3])
			*block_at(row[4], row[5]) = row[6];
}

/* People who stand where a byte says. */
void map_places(void) __banked
{
	u8 row[ENTRY_ROW];
	u16 at = wMapScriptsPointer + 1;
	while (entry_row(&at, row))
		if (row[0] == CHANGE_PLACE && *(u8 *)((u16)row[2] << 8 | row[1]) == row[3])
			object_stand(row[4], row[5] + 4, row[6] + 4);
}

static void clear_flags(void)
{
	u8 row[ENTRY_ROW];
	u16 at = wMapScriptsPointer + 1;
	while (entry_row(&at, row))
		if (row[0] == CHANGE_CLEAR)
			flag_clear((u16)row[2] << 8 | row[1]);
}

/* Cuts the thickets of the block of a tile, until the map is left. */
void map_cut(u8 x, u8 y)
{
	u8 *block = block_at(x, y);
	u16 at = far_word(BANK_CUT_BLOCKS, ADDR_CUT_BLOCKS + wMapTileset * 2);
	u8 from;
	while ((from = far_byte(BANK_CUT_BLOCKS, at))) {
		if (from == *block) {
			*block = far_byte(BANK_CUT_BLOCKS, at + 1);
			return;
		}
		at += 2;
	}
}

/* What lies around the player. */
void map_neighbours(void) __banked
{
	map_around_asm();
	wTilePermissions = (permission(wTileDown) ? 8 : 0) | (permission(wTileUp) ? 4 : 0) | (permission(wTileLeft) ? 2 : 0) | (permission(wTileRight) ? 1 : 0);
}

/* The view around the player into the screen buffer, from a row of cells on. */
static void draw_from(u8 row)
{
	u8 *tiles = cell(row << 1, 0), *attrs = tiles + (wAttrmap - wTilemap);
	for (; row < 9; row++) {
		hCellX = wXCoord + 2;
		hCellY = wYCoord + 2 + row;
		hStripX = 0;
		cells_row_asm();
		copy_cells_asm(tiles, strip_tiles);
		copy_cells_asm(tiles + 20, strip_tiles + 32);
		copy_cells_asm(attrs, strip_attrs);
		copy_cells_asm(attrs + 20, strip_attrs + 32);
		tiles += 40;
		attrs += 40;
	}
}

void map_draw(void) __banked
{
	draw_from(0);
}

/* The column or row that a step in a direction brings into view. */
void map_strip(u8 direction) __banked
{
	u8 x = wXCoord + 2, y = wYCoord + 2;
	u8 col = hSCX >> 3, line = hSCY >> 3;
	if (direction == DIR_LEFT) {
		x -= 1;
		col -= 2;
	} else if (direction == DIR_RIGHT) {
		x += 10;
		col += 20;
	} else if (direction == DIR_UP) {
		y -= 1;
		line -= 2;
	} else {
		y += 9;
		line += 18;
	}
	hCellX = x;
	hCellY = y;
	hStripX = col & 31;
	hStripY = line & 31;
	if (direction & 2) {
		cells_column_asm();
		strip_pending = 1;
	} else {
		cells_row_asm();
		strip_pending = 2;
	}
}

/* Tiles and colours of the map's tileset. Those in the second bank of video memory stay there in battles and pages. */
static void load_tileset(void)
{
	u8 row[15];
	u16 map;
	far_copy(row, BANK_TILESETS, ADDR_TILESETS + (u16)wMapTileset * 15, 15);
	map = (u16)row[2] << 8 | row[1];
	vram_show(0x9000, row[0], map, 48);
	vram_show(0x9000 + 48 * 16, row[0], map + 48 * 16, 48);
	if (tileset_loaded == wMapTileset + 1)
		return;
	tileset_loaded = wMapTileset + 1;
	vram_wait();
	rVBK = 1;
	vram_copy(0x9000, row[0], map + 96 * 16, 48);
	rVBK = 0;
	vram_wait();
	rVBK = 1;
	vram_copy(0x9000 + 48 * 16, row[0], map + 144 * 16, 48);
	rVBK = 0;
}

/* The whole picture anew, while the screen is white or off; the colours are left to the caller's fade. */
void map_show(void) __banked
{
	load_tileset();
	if (wMapTileset == TILESET_INDOOR)
		palettes_load(BANK_PAL_INDOOR, ADDR_PAL_INDOOR);
	else if (wMapTileset == TILESET_CAVE)
		palettes_load(BANK_PAL_CAVE, ADDR_PAL_CAVE);
	else
		palettes_load(BANK_PAL_OUTDOOR, ADDR_PAL_OUTDOOR);
	palettes_object_load();
	hSCX = 0;
	hSCY = 0;
	hBgCol = 0;
	hBgRow = 0;
	map_draw();
	screen_push(0, 18);
	pushed_from = 18;
	objects_graphics();
	objects_draw();
	wSpriteUpdatesEnabled = 1;
	lcd_on();
}

/* The map again where windows were. */
void map_redraw(void) __banked
{
	u8 row = pushed_from >> 1;
	if (row >= 9)
		return;
	draw_from(row);
	row <<= 1;
	screen_push(row, 18 - row);
	pushed_from = 18;
}
