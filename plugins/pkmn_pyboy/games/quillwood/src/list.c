/* Lists that scroll, amounts, play time: parts of pages. */
#pragma bank 3
#include "game.h"
#include "pages.h"

u8 list_at, list_top;
void (*list_note)(u8 entry);

static void mark(u8 row, u8 col, u8 tile)
{
	wCursorCurrentTile = 0xC4A0 + (u16)row * 20 + col;
	screen_poke(row, col, tile);
}

static void list_draw(u8 count, u8 row, u8 col, u8 visible, u8 width, void (*draw)(u8 entry, u8 row), u8 how)
{
	u8 i, height = visible * 2 - 1;
	if (how & LIST_LEAVE)
		height++;
	screen_fill(row, col, height, width, CH_SPACE, ATTR_TEXT);
	for (i = 0; i < visible && list_top + i < count; i++) {
		if ((how & LIST_LEAVE) && list_top + i + 1 == count)
			screen_words(row + i * 2, col + 1, TX_LIST_LEAVE);
		else
			draw(list_top + i, row + i * 2);
	}
	screen_push(row, height);
}

/* A list with a cursor from list_at on. Gives the entry, MENU_CANCEL for B or the entry that leaves, and LIST_LEFT or
 * LIST_RIGHT if sideways. */
u8 list_run(u8 count, u8 row, u8 col, u8 visible, u8 width, void (*draw)(u8 entry, u8 row), u8 how)
{
	wScrollingMenuListSize = count;
	if (how & LIST_LEAVE)
		count++;
	if (list_at >= count)
		list_at = count ? count - 1 : 0;
	if (list_top > list_at)
		list_top = list_at;
	if (list_at >= list_top + visible)
		list_top = list_at - visible + 1;
	w2DMenuNumRows = !count ? 1 : count < visible ? count : visible;
	w2DMenuNumCols = 1;
	w2DMenuCursorInitY = row;
	w2DMenuCursorInitX = col;
	w2DMenuCursorOffsets = 0x20;
	wMenuCursorX = 1;
	wWindowStackSize++;
	for (;;) {
		list_draw(count, row, col, visible, width, draw, how);
		wMenuCursorY = list_at - list_top + 1;
		wMenuScrollPosition = list_top;
		mark(row + (list_at - list_top) * 2, col, CH_CURSOR);
		if (list_note)
			list_note(list_at);
		poll_joy();
		for (;;) {
			if (!joy_wait(16))
				continue;
			if (hJoyPressed & PAD_B) {
				wMenuJoypad = PAD_B;
				wWindowStackSize--;
				return MENU_CANCEL;
			}
			if ((how & LIST_SIDEWAYS) && (hJoyPressed & (PAD_LEFT | PAD_RIGHT))) {
				wWindowStackSize--;
				return (hJoyPressed & PAD_LEFT) ? LIST_LEFT : LIST_RIGHT;
			}
			if (!count)
				continue;
			if (hJoyPressed & PAD_A) {
				wMenuJoypad = PAD_A;
				wWindowStackSize--;
				if ((how & LIST_LEAVE) && list_at + 1 == count)
					return MENU_CANCEL;
				screen_poke(row + (list_at - list_top) * 2, col, CH_HOLLOW);
				return list_at;
			}
			if ((hJoyPressed & PAD_DOWN) && list_at + 1 < count) {
				list_at++;
				break;
			}
			if ((hJoyPressed & PAD_UP) && list_at) {
				list_at--;
				break;
			}
		}
		if (list_at < list_top || list_at >= list_top + visible) {
			list_top = list_at < list_top ? list_at : list_at - visible + 1;
		}
	}
}

/* An amount chosen with up and down in a small window; 0 for B. Shows the price of all when there is one. */
u8 quantity(u8 row, u8 most, u32 price)
{
	u8 amount = 1;
	for (;;) {
		screen_box(row, 1, 3, 12);
		screen_put(row + 1, 2, 0xF1);
		screen_number(row + 1, 3, amount, 2);
		if (price) {
			screen_put(row + 1, 5, 0xF0);
			screen_number(row + 1, 6, price * amount, 6);
		}
		wWindowStackSize++;
		screen_push(row, 3);
		poll_joy();
		while (!joy_wait(16))
			;
		wWindowStackSize--;
		if (hJoyPressed & PAD_A)
			return amount;
		if (hJoyPressed & PAD_B)
			return 0;
		if (hJoyPressed & PAD_UP)
			amount = amount == most ? 1 : amount + 1;
		if (hJoyPressed & PAD_DOWN)
			amount = amount == 1 ? most : amount - 1;
		if (hJoyPressed & PAD_RIGHT)
			amount = amount + 10 > most ? most : amount + 10;
		if (hJoyPressed & PAD_LEFT)
			amount = amount > 10 ? amount - 10 : 1;
	}
}

/* Hours and minutes. */
void play_time(u8 row, u8 col)
{
	screen_number(row, col, get16(wGameTimeHours), 3);
	screen_put(row, col + 3, 0x9C);
	screen_put(row, col + 4, 0xF6 + wGameTimeMinutes / 10);
	screen_put(row, col + 5, 0xF6 + wGameTimeMinutes % 10);
}
