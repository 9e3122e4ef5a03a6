/* Giving somebody a name: a page of letters. START goes to END, A there ends it, B takes a letter back. */
#pragma bank 3
#include "game.h"
#include "pages.h"

#define ROWS 7
#define COLS 9
#define FIRST_ROW 4
#define NAME_ROW 2
#define NAME_COL 5

static u8 letter_at(u8 row, u8 col)
{
	u8 index = row % 3 * COLS + col;
	if (index == 26)
		return row < 3 ? CH_SPACE : 0xE3;
	return (row < 3 ? 0x80 : 0xA0) + index;
}

/* The page; it is for a creature, or for a person when species is 0. */
static void draw(u8 species)
{
	u8 row, col;
	page_open();
	if (species) {
		species_name(name_buffer, species);
		screen_text(0, 1, name_buffer);
	} else {
		screen_words(0, 1, TX_WHICH_NAME);
	}
	for (row = 0; row < 6; row++)
		for (col = 0; col < COLS; col++)
			screen_put(FIRST_ROW + row * 2, 2 + col * 2, letter_at(row, col));
	screen_words(FIRST_ROW + 12, 2, TX_DEL_WORD);
	screen_words(FIRST_ROW + 12, 12, TX_END_WORD);
	screen_push(0, 18);
	lcd_on();
	fade_in();
}

static void show(const u8 *name, u8 length, u8 longest)
{
	screen_fill(NAME_ROW, NAME_COL, 1, longest, 0xE3, 7);
	screen_text(NAME_ROW, NAME_COL, name);
	screen_push(NAME_ROW, 1);
	wMenuSelection = length;
}

/* The length without spaces at the end; those in front are taken away. */
static u8 trim(u8 *name, u8 length)
{
	u8 i, front = 0;
	while (length && name[length - 1] == CH_SPACE)
		length--;
	while (front < length && name[front] == CH_SPACE)
		front++;
	length -= front;
	for (i = 0; i < length; i++)
		name[i] = name[i + front];
	name[length] = CH_END;
	return length;
}

/* A name for a creature, or for a person when species is 0. An empty one leaves what was there. */
void naming(u8 *to, u8 species, u8 longest) __banked
{
	u8 name[NICKNAME_LENGTH + 1];
	u8 length = 0, row = 0, col = 0, old_row, old_col;
	name[0] = CH_END;
	draw(species);
	show(name, 0, longest);
	w2DMenuNumRows = ROWS;
	w2DMenuNumCols = COLS;
	w2DMenuCursorInitY = FIRST_ROW;
	w2DMenuCursorInitX = 1;
	w2DMenuCursorOffsets = 0x22;
	wWindowStackSize++;
	for (;;) {
		wMenuCursorY = row + 1;
		wMenuCursorX = col + 1;
		wCursorCurrentTile = 0xC4A0 + (u16)(FIRST_ROW + row * 2) * 20 + 1 + col * 2;
		screen_poke(FIRST_ROW + row * 2, 1 + col * 2, CH_CURSOR);
		poll_joy();
		do {
			wait_vblank();
			poll_joy();
		} while (!hJoyPressed);
		old_row = row;
		old_col = col;
		if (hJoyPressed & PAD_START) {
			row = ROWS - 1;
			col = 5;
		} else if (hJoyPressed & PAD_B) {
			if (length)
				name[--length] = CH_END;
			show(name, length, longest);
		} else if (hJoyPressed & PAD_A) {
			if (row == ROWS - 1) {
				if (col == 5)
					break;
				if (length)
					name[--length] = CH_END;
			} else if (length < longest) {
				name[length++] = letter_at(row, col);
				name[length] = CH_END;
			}
			show(name, length, longest);
		} else {
			if (hJoyPressed & PAD_DOWN)
				row = row == ROWS - 1 ? 0 : row + 1;
			if (hJoyPressed & PAD_UP)
				row = row ? row - 1 : ROWS - 1;
			if (hJoyPressed & PAD_RIGHT)
				col = col == COLS - 1 ? 0 : col + 1;
			if (hJoyPressed & PAD_LEFT)
				col = col ? col - 1 : COLS - 1;
			if (row == ROWS - 1)
				col = (hJoyPressed & (PAD_LEFT | PAD_RIGHT)) ? (old_col ? 0 : 5) : col < 5 ? 0 : 5;
		}
		if (row != old_row || col != old_col)
			screen_poke(FIRST_ROW + old_row * 2, 1 + old_col * 2, CH_SPACE);
	}
	wWindowStackSize--;
	if (trim(name, length))
		copy_string(to, name);
	fade_out();
}

/* Asks for a nickname of the member that came last; NO and B refuse it. */
void offer_nickname(void) __banked
{
	u8 slot = wPartyCount - 1, in_battle = wBattleMode, wanted;
	species_name(name_buffer, party[slot].species);
	if (!in_battle) {
		map_draw();
		wStateFlags |= 0x40;
	}
	message_box();
	screen_push(0, 18);
	message_more(TX_NICKNAME);
	wanted = yes_no();
	if (wanted) {
		fade_out();
		naming(wPartyMonNicknames + slot * 11, party[slot].species, NICKNAME_LENGTH);
	}
	if (in_battle)
		return;
	if (wanted) {
		map_show();
		fade_in();
	} else {
		map_redraw();
	}
	wStateFlags &= ~0x40;
}
