/* The screen buffer, letters, windows and colours. */
#include "game.h"

void screen_fill(u8 row, u8 col, u8 height, u8 width, u8 tile, u8 attr)
{
	hFillHeight = height;
	hFillWidth = width;
	hFillTile = tile;
	hFillAttr = attr;
	fill_asm(cell(row, col));
}

void screen_clear(u8 tile, u8 attr)
{
	screen_fill(0, 0, 18, 20, tile, attr);
}

/* A window with its frame; height and width count the frame. */
void screen_box(u8 row, u8 col, u8 height, u8 width)
{
	u8 *at = cell(row, col);
	screen_fill(row, col, height, width, CH_SPACE, ATTR_TEXT);
	fill_row_asm(at, 0x7A);
	*at = 0x79;
	width--;
	at[width] = 0x7B;
	for (height -= 2; height; height--) {
		at += 20;
		*at = 0x7C;
		at[width] = 0x7C;
	}
	at += 20;
	fill_row_asm(at, 0x7A);
	*at = 0x7D;
	at[width] = 0x7E;
}

/* Letters up to the terminator; returns how many. */
u8 screen_text(u8 row, u8 col, const u8 *text)
{
	u8 *at = cell(row, col);
	u8 count = 0;
	while (*text != CH_END && count < 20) {
		*at++ = *text++;
		count++;
	}
	return count;
}

/* A number, right-aligned in so many digits. */
void screen_number(u8 row, u8 col, u32 value, u8 digits)
{
	u8 *at = cell(row, col) + digits;
	u16 rest;
	u8 digit, blank = 1;
	static const u16 units[5] = {1, 10, 100, 1000, 10000};
	/* only money needs the long division */
	while (value > 0xFFFF) {
		digits--;
		*--at = 0xF6 + (u8)(value % 10);
		value /= 10;
	}
	rest = (u16)value;
	at = cell(row, col);
	while (digits) {
		u16 unit;
		digits--;
		digit = 0;
		if (digits < 5) {
			unit = units[digits];
			while (rest >= unit) {
				rest -= unit;
				digit++;
			}
		}
		if (digit || !digits)
			blank = 0;
		*at++ = blank ? CH_SPACE : 0xF6 + digit;
	}
}

/* Words of data/text.toml; a line break goes two rows down. */
void screen_words(u8 row, u8 col, u16 id)
{
	u16 from = far_word(BANK_TEXTS, ADDR_TEXTS + id * 2);
	u8 *at = cell(row, col);
	u8 ch;
	while ((ch = far_byte(BANK_TEXTS, from++)) != CH_END) {
		if (ch == 0x4F || ch == 0x51) {
			row += 2;
			at = cell(row, col);
		} else {
			*at++ = ch;
		}
	}
}

/* The picture of a creature to video memory. */
void picture_load(u16 to, u8 species, u8 back)
{
	u16 row = ADDR_PICTURES + (u16)(species - 1) * 5;
	u8 bank = far_byte(BANK_PICTURES, row);
	vram_show(to, bank, far_word(BANK_PICTURES, row + (back ? 3 : 1)), 25);
}

/* The colours of a creature as a background palette. */
void creature_colors(u8 palette, u8 species)
{
	far_copy(palettes + palette * 8, BANK_CREATURE_COLORS, ADDR_CREATURE_COLORS + (u16)(species - 1) * 8, 8);
}

/* An empty page for menus that fill the screen; fade_out before, lcd_on and fade_in after it is drawn. The screen stays
 * on, all white: an emulator pays more for one that is off. */
void page_open(void)
{
	wSpriteUpdatesEnabled = 0;
	sprites_hide();
	hSCX = hSCY = 0;
	hBgCol = hBgRow = 0;
	palettes_load(BANK_PAL_BATTLE, ADDR_PAL_BATTLE);
	screen_clear(CH_SPACE, 7);
}

void turn_rows_asm(void);
void push_rows_asm(void);
void turn_tiles_asm(void);
void push_tiles_asm(void);

u8 pushed_from; /* the highest row that was pushed since the map was whole */

void load_palettes_asm(void);

/* Rows of the buffer to the picture, six per frame. */
void screen_push(u8 row, u8 count)
{
	u8 part;
	if (row < pushed_from)
		pushed_from = row;
	while (count) {
		part = count > 6 ? 6 : count;
		hPushRow = row;
		hPushCount = part;
		turn_rows_asm();
		vram_wait();
		push_rows_asm();
		row += part;
		count -= part;
	}
}

/* At most six rows whose attributes the picture has already. */
void screen_push_tiles(u8 row, u8 count)
{
	hPushRow = row;
	hPushCount = count;
	turn_tiles_asm();
	wait_vblank();
	push_tiles_asm();
}

/* Video memory can be written: at once with the screen off, else after the next VBlank began. */
void vram_wait(void)
{
	if (rLCDC & 0x80)
		wait_vblank();
}

void lcd_off(void)
{
	if (rLCDC & 0x80)
		wait_vblank();
	rLCDC = LCDC_OFF;
}

void lcd_on(void)
{
	rLCDC = wSpriteUpdatesEnabled ? LCDC_ON : LCDC_NO_OBJECTS;
	wait_vblank();
}

/* No objects on the screen. */
void sprites_hide(void)
{
	u8 i;
	for (i = 0; i < 160; i += 4)
		shadow_oam[i] = 0;
	hVblWork |= 1;
}

/* Letters and window frame into video memory, where they stay; the screen must be off. */
void font_load(void)
{
	vram_copy(0x8800, BANK_FONT, ADDR_FONT, 128);
	vram_copy(0x9600, BANK_FRAME, ADDR_FRAME, 32);
}

void palettes_load(u8 bank, u16 address)
{
	far_copy(palettes, bank, address, 64);
}

void palettes_object_load(void)
{
	far_copy(palettes + 64, BANK_PAL_PEOPLE, ADDR_PAL_PEOPLE, 64);
}

/* Colours to the hardware; those of the figures only where there are any. */
static void show(u8 *from)
{
	wait_vblank();
	hPal = (u16)from;
	hPalCount = wSpriteUpdatesEnabled ? 2 : 1;
	load_palettes_asm();
}

void palettes_show(void)
{
	show(palettes);
}

static u8 colors(void)
{
	return wSpriteUpdatesEnabled ? 64 : 32;
}

/* Half way to white: step 1 of a fade. */
static void pale(void)
{
	palettes_half_asm(palettes_shown, palettes, colors());
	show(palettes_shown);
}

static void white(void)
{
	fill_bytes(palettes_shown, 0xFF, 128);
	show(palettes_shown);
}

/* Nearly white, after pale(). */
static void paler(void)
{
	palettes_half_asm(palettes_shown, palettes_shown, colors());
	show(palettes_shown);
}

void fade_out(void)
{
	pale();
	wait_vblank();
	paler();
	wait_vblank();
	white();
}

void fade_in(void)
{
	palettes_half_asm(palettes_shown, palettes, colors());
	paler();
	wait_vblank();
	pale();
	wait_vblank();
	show(palettes);
}

/* Two short flashes before a battle. */
void palettes_flash(void)
{
	u8 i;
	palettes_half_asm(palettes_shown, palettes, 64);
	palettes_half_asm(palettes_shown, palettes_shown, 64);
	for (i = 0; i < 2; i++) {
		show(palettes_shown);
		wait_frames(2);
		show(palettes);
		wait_frames(2);
	}
}
