/* Menus with a cursor in the screen buffer. */
#include "game.h"

void (*menu_hook)(void); /* called when the cursor has moved, 0 for none; its bank must be in */

static u8 cursor_row, cursor_col;

/* Where the cursor stands, from its place in the menu. */
static void cursor_find(void)
{
	u8 i, offsets = w2DMenuCursorOffsets;
	cursor_row = w2DMenuCursorInitY;
	cursor_col = w2DMenuCursorInitX;
	for (i = wMenuCursorY; i > 1; i--)
		cursor_row += offsets >> 4;
	for (i = wMenuCursorX; i > 1; i--)
		cursor_col += offsets & 15;
	wCursorCurrentTile = (u16)cell(cursor_row, cursor_col);
}

static void cursor_put(u8 tile)
{
	screen_poke(cursor_row, cursor_col, tile);
}

/* Waits for a press, at most so many pairs of frames; 1 when there was one. While nothing is held, as cheaply as on
 * the map. */
u8 joy_wait(u8 pairs)
{
	for (;;) {
		poll_joy();
		if (hJoyPressed)
			return 1;
		if (!pairs)
			return 0;
		if (hJoypadDown) {
			wait_vblank();
			wait_vblank();
			pairs--;
		} else {
			hIdle = pairs;
			idle_asm();
			pairs = hIdle;
		}
	}
}

/* Runs a menu of rows x cols entries whose words are on the screen already. Returns the entry from 0. */
u8 menu_run(u8 rows, u8 cols, u8 init_y, u8 init_x, u8 offsets, u8 can_cancel, u8 first)
{
	u8 x, y, moved;
	w2DMenuNumRows = rows;
	w2DMenuNumCols = cols;
	w2DMenuCursorInitY = init_y;
	w2DMenuCursorInitX = init_x;
	w2DMenuCursorOffsets = offsets;
	wMenuCursorY = first / cols + 1;
	wMenuCursorX = first % cols + 1;
	wMenuCursorPosition = first + 1;
	cursor_find();
	if (menu_hook)
		menu_hook();
	cursor_put(CH_CURSOR);
	poll_joy();
	for (;;) {
		if (!joy_wait(16))
			continue;
		if (hJoyPressed & PAD_A) {
			wMenuJoypad = PAD_A;
			cursor_put(CH_HOLLOW);
			wMenuCursorPosition = (wMenuCursorY - 1) * cols + wMenuCursorX;
			return wMenuCursorPosition - 1;
		}
		if ((hJoyPressed & PAD_B) && can_cancel) {
			wMenuJoypad = PAD_B;
			cursor_put(CH_SPACE);
			return MENU_CANCEL;
		}
		if ((hJoyPressed & PAD_START) && can_cancel == 2) {
			wMenuJoypad = PAD_START;
			cursor_put(CH_SPACE);
			return MENU_CANCEL;
		}
		x = wMenuCursorX;
		y = wMenuCursorY;
		moved = 0;
		if (hJoyPressed & PAD_DOWN)
			y = y == rows ? (cols == 1 ? 1 : y) : y + 1;
		if (hJoyPressed & PAD_UP)
			y = y == 1 ? (cols == 1 ? rows : y) : y - 1;
		if ((hJoyPressed & PAD_RIGHT) && x < cols)
			x++;
		if ((hJoyPressed & PAD_LEFT) && x > 1)
			x--;
		moved = x != wMenuCursorX || y != wMenuCursorY;
		if (moved) {
			cursor_put(CH_SPACE);
			wMenuCursorX = x;
			wMenuCursorY = y;
			cursor_find();
			if (menu_hook)
				menu_hook();
			cursor_put(CH_CURSOR);
		}
	}
}

static const u8 word_yes[] = {0x98, 0x84, 0x92, CH_END};
static const u8 word_no[] = {0x8D, 0x8E, CH_END};

/* The YES and NO window above the message box: 1 for YES, 0 for NO or B. */
u8 yes_no(void)
{
	u8 choice;
	screen_box(7, 14, 5, 6);
	screen_text(8, 16, word_yes);
	screen_text(10, 16, word_no);
	wWindowStackSize++;
	screen_push(7, 5);
	choice = menu_run(2, 1, 8, 15, 0x20, 1, 0);
	wWindowStackSize--;
	return choice == 0;
}
