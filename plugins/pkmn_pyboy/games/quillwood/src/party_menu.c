/* The party: the list, the order, and a page for each member. */
#pragma bank 3
#include "game.h"
#include "pages.h"

static void draw_member(u8 slot)
{
	PartyMon *mon = &party[slot];
	u8 row = slot * 2;
	screen_text(row, 2, wPartyMonNicknames + slot * 11);
	if (lesson_asked) {
		screen_words(row, 14, lesson_fits(mon->species, lesson_asked) ? TX_ABLE : TX_UNABLE);
	} else if (!get16(mon->hp)) {
		screen_words(row, 14, TX_FNT);
	} else if (mon->status) {
		screen_words(row, 14, (mon->status & STATUS_SLEEP) ? TX_SLP : (mon->status & STATUS_POISON) ? TX_PSN : TX_PAR);
	} else {
		screen_put(row, 14, CH_LEVEL);
		screen_number(row, 15, mon->level, mon->level > 99 ? 3 : mon->level > 9 ? 2 : 1);
	}
	hp_bar(row + 1, 3, get16(mon->hp), get16(mon->max_hp));
	screen_number(row + 1, 12, get16(mon->hp), 3);
	screen_put(row + 1, 15, CH_SLASH);
	screen_number(row + 1, 16, get16(mon->max_hp), 3);
}

/* The members again, where windows were. */
void party_rows(void)
{
	u8 i;
	screen_fill(0, 0, 12, 20, CH_SPACE, 7);
	for (i = 0; i < wPartyCount; i++)
		draw_member(i);
	screen_push(0, 12);
}

/* A member chosen from the list, MENU_CANCEL for B. The screen is faded out before and left lit. */
u8 party_menu(u16 text, u8 can_cancel, u8 first) __banked
{
	u8 i, choice;
	/* there is no cursor yet, and no menu of what was there before */
	wWindowStackSize++;
	w2DMenuNumRows = wPartyCount;
	w2DMenuNumCols = 1;
	w2DMenuCursorInitY = 0;
	w2DMenuCursorInitX = 1;
	wCursorCurrentTile = 0;
	page_open();
	for (i = 0; i < wPartyCount; i++)
		draw_member(i);
	screen_box(13, 0, 5, 20);
	screen_push(0, 18);
	lcd_on();
	fade_in();
	wait_frames(PARTY_FRAMES);
	screen_words(15, 1, text);
	screen_push(15, 1);
	choice = menu_run(wPartyCount, 1, 0, 1, 0x20, can_cancel, first < wPartyCount ? first : 0);
	wWindowStackSize--;
	if (choice != MENU_CANCEL)
		wPartyMenuCursor = choice + 1;
	return choice;
}

void wait_for_button(void)
{
	poll_joy();
	do {
		wait_vblank();
		poll_joy();
	} while (!(hJoyPressed & (PAD_A | PAD_B | PAD_START)));
}

/* Name, level, hit points and moves of a member. */
void summary_page(u8 slot) __banked
{
	u8 i, row[7];
	u8 name[16];
	PartyMon *mon = &party[slot];
	page_open();
	picture_load(0x9000, mon->species, 0);
	creature_colors(0, mon->species);
	screen_box(0, 0, 18, 20);
	for (i = 0; i < 25; i++)
		screen_fill(2 + i % 5, 2 + i / 5, 1, 1, i, 0);
	screen_text(2, 9, wPartyMonNicknames + slot * 11);
	screen_put(3, 9, CH_LEVEL);
	screen_number(3, 10, mon->level, mon->level > 99 ? 3 : 2);
	load_base(mon->species);
	for (i = 0; i < 2; i++) {
		if (i && base_data[7] == base_data[8])
			break;
		copy_name(name, BANK_TYPE_NAMES, far_word(BANK_TYPE_NAMES, ADDR_TYPE_NAMES + base_data[7 + i] * 2), 0);
		screen_text(7 + i, 9, name);
	}
	hp_bar(5, 9, get16(mon->hp), get16(mon->max_hp));
	screen_number(6, 11, get16(mon->hp), 3);
	screen_put(6, 14, CH_SLASH);
	screen_number(6, 15, get16(mon->max_hp), 3);
	screen_words(9, 2, TX_EXP);
	screen_number(9, 6, (u32)mon->exp[0] << 16 | (u16)mon->exp[1] << 8 | mon->exp[2], 7);
	for (i = 0; i < 4 && mon->moves[i]; i++) {
		load_move(row, mon->moves[i]);
		copy_name(name, BANK_MOVE_NAMES, ADDR_MOVE_NAMES, mon->moves[i] - 1);
		screen_text(11 + i, 2, name);
		screen_words(11 + i, 14, TX_PP);
		screen_number(11 + i, 16, mon->pp[i] & 63, 2);
	}
	screen_push(0, 18);
	lcd_on();
	fade_in();
	wait_for_button();
	fade_out();
}
