/* The START menu and the party screen. */
#pragma bank 3
#include "game.h"

static const u8 word_party[] = {0x8F, 0x80, 0x91, 0x93, 0x98, CH_END};
static const u8 word_pack[] = {0x8F, 0x80, 0x82, 0x8A, CH_END};
static const u8 word_exit[] = {0x84, 0x97, 0x88, 0x93, CH_END};
static const u8 word_hp[] = {0x87, 0x8F, CH_END};
static const u8 word_exp[] = {0x84, 0x97, 0x8F, CH_END};
static const u8 word_pp[] = {0x8F, 0x8F, CH_END};

enum { ENTRY_PARTY, ENTRY_PACK, ENTRY_EXIT, ENTRIES };

static void draw_map_under(void)
{
	map_draw();
}

/* A message over the map, then the map again. */
static void remark(u16 id)
{
	draw_map_under();
	screen_push(0, 12);
	message_open(id);
	prompt();
}

static void wait_for_button(void)
{
	poll_joy();
	do {
		wait_vblank();
		poll_joy();
	} while (!(hJoyPressed & (PAD_A | PAD_B | PAD_START)));
}

/* Name, level, HP and moves of the first party member. */
static void party_screen(void)
{
	u8 i, row[7];
	u8 name[16];
	PartyMon *mon = &party[0];
	fade_out();
	wSpriteUpdatesEnabled = 0;
	lcd_off();
	sprites_hide();
	hSCX = hSCY = 0;
	hBgCol = hBgRow = 0;
	font_load();
	vram_copy(0x9000, BANK_PICTURES, far_word(BANK_PICTURES, ADDR_PICTURES + (u16)(mon->species - 1) * 4), 25);
	palettes_load(BANK_PAL_BATTLE, ADDR_PAL_BATTLE);
	far_copy(palettes, BANK_CREATURE_COLORS, ADDR_CREATURE_COLORS + (u16)(mon->species - 1) * 8, 8);
	screen_clear(CH_SPACE, 7);
	screen_box(0, 0, 18, 20);
	for (i = 0; i < 25; i++)
		screen_fill(2 + i % 5, 2 + i / 5, 1, 1, i, 0);
	screen_text(2, 9, wPartyMonNicknames);
	screen_put(3, 9, CH_LEVEL);
	screen_number(3, 10, mon->level, 2);
	hp_bar(5, 9, get16(mon->hp), get16(mon->max_hp));
	screen_text(6, 9, word_hp);
	screen_number(6, 11, get16(mon->hp), 3);
	screen_put(6, 14, CH_SLASH);
	screen_number(6, 15, get16(mon->max_hp), 3);
	screen_text(8, 2, word_exp);
	screen_number(8, 6, (u16)mon->exp[1] << 8 | mon->exp[2], 5);
	for (i = 0; i < 4 && mon->moves[i]; i++) {
		far_copy(row, BANK_MOVES, ADDR_MOVES + (u16)(mon->moves[i] - 1) * 7, 7);
		copy_name(name, BANK_MOVE_NAMES, ADDR_MOVE_NAMES, mon->moves[i] - 1);
		screen_text(10 + i * 2, 2, name);
		screen_text(10 + i * 2, 14, word_pp);
		screen_number(10 + i * 2, 16, mon->pp[i] & 63, 2);
	}
	screen_push(0, 18);
	lcd_on();
	fade_in();
	wait_for_button();
	fade_out();
	map_show();
	fade_in();
}

void start_menu(void) __banked
{
	u8 choice = 0;
	for (;;) {
		wStateFlags |= 0x40;
		wScriptMode = 1;
		draw_map_under();
		screen_box(0, 10, ENTRIES * 2 + 2, 10);
		screen_text(2, 12, word_party);
		screen_text(4, 12, word_pack);
		screen_text(6, 12, word_exit);
		wWindowStackSize = 1;
		screen_push(0, 18);
		choice = menu_run(ENTRIES, 1, 2, 11, 0x20, 2, choice);
		wWindowStackSize = 0;
		if (choice == MENU_CANCEL || choice == ENTRY_EXIT)
			break;
		if (choice == ENTRY_PACK)
			remark(TX_PACK_EMPTY);
		else if (!wPartyCount)
			remark(TX_NO_PARTNER);
		else
			party_screen();
	}
	map_redraw();
	wStateFlags &= ~0x40;
	wScriptMode = 0;
}
