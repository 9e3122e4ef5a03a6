/* Map cells to tiles; in bank 0 because it reads the tileset's bank directly. */
#include "game.h"

/* Tiles 96 and up of a tileset lie in the second bank of video memory, under the same 96 numbers. */
#define PUT_TILE(source) \
	tile = (source); \
	*attr = tile_attrs[tile]; \
	if (tile >= 96) \
		tile -= 96; \
	*to = tile

void put_cells(u8 x, u8 y, u8 count, u8 vertical, u8 *tiles, u8 *attrs)
{
	u8 old = hROMBank;
	u8 stride = wMapWidth + 6;
	u8 width = vertical ? 2 : 20;
	u8 border = wMapBorderBlock;
	u16 blocks = wTilesetBlocksAddress;
	set_bank(wTilesetBlocksBank);
	while (count--) {
		u8 block = *((u8 *)0xC800 + (u16)((u8)(y + 6) >> 1) * stride + ((u8)(x + 6) >> 1));
		const u8 *from;
		u8 *to, *attr;
		u8 tile;
		if (!block)
			block = border;
		from = (const u8 *)(blocks + (u16)block * 16);
		if (y & 1)
			from += 8;
		if (x & 1)
			from += 2;
		to = tiles;
		attr = attrs;
		PUT_TILE(*from);
		from++;
		to++;
		attr++;
		PUT_TILE(*from);
		from += 3;
		to += width - 1;
		attr += width - 1;
		PUT_TILE(*from);
		from++;
		to++;
		attr++;
		PUT_TILE(*from);
		if (vertical) {
			y++;
			tiles += 4;
			attrs += 4;
		} else {
			x++;
			tiles += 2;
			attrs += 2;
		}
	}
	set_bank(old);
}
