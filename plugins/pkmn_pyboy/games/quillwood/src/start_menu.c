/* The START menu. */
#pragma bank 3
#include "game.h"
#include "pages.h"

enum { ENTRY_PARTY, ENTRY_PACK, ENTRY_GUIDE, ENTRY_CARD, ENTRY_SAVE, ENTRY_EXIT, ENTRIES };

/* A message over the map. */
static void remark(u16 id)
{
	map_draw();
	screen_push(0, 12);
	message_open(id);
	prompt();
}

static void save(void)
{
	map_draw();
	screen_box(0, 0, 8, 14);
	screen_text(2, 1, wPlayerName);
	screen_words(4, 1, TX_TIME);
	play_time(4, 6);
	screen_push(0, 12);
	message_open(TX_SAVE_ASK);
	if (!yes_no())
		return;
	map_draw();
	screen_push(0, 12);
	if (save_of_another()) {
		message_open(TX_SAVE_OVER);
		if (!yes_no())
			return;
		map_draw();
		screen_push(0, 12);
	}
	message_open(TX_SAVING);
	wait_frames(20);
	save_write();
	message(TX_SAVED);
}

static void back_to_map(void)
{
	map_show();
	fade_in();
}

static void swap_bytes(u8 *a, u8 *b, u8 count)
{
	u8 kept;
	while (count--) {
		kept = *a;
		*a++ = *b;
		*b++ = kept;
	}
}

static void swap_members(u8 a, u8 b)
{
	if (a == b)
		return;
	swap_bytes((u8 *)&party[a], (u8 *)&party[b], sizeof(PartyMon));
	swap_bytes(wPartySpecies + a, wPartySpecies + b, 1);
	swap_bytes(wPartyMonNicknames + a * 11, wPartyMonNicknames + b * 11, 11);
	swap_bytes(wPartyMonOTs + a * 11, wPartyMonOTs + b * 11, 11);
}

/* The list of the party, and what can be done with a member. */
static void party_page(void)
{
	u8 slot = 0, other, choice;
	fade_out();
	for (;;) {
		slot = party_menu(TX_CHOOSE_MEMBER, 1, slot);
		if (slot == MENU_CANCEL)
			break;
		screen_box(10, 10, 8, 10);
		screen_words(12, 12, TX_MEMBER_MENU);
		screen_push(10, 8);
		wWindowStackSize += 2; /* the list stays below */
		choice = menu_run(3, 1, 12, 11, 0x20, 1, 0);
		wWindowStackSize -= 2;
		fade_out();
		if (choice == 0) {
			summary_page(slot);
		} else if (choice == 1) {
			other = party_menu(TX_SWITCH_WITH, 1, slot);
			fade_out();
			if (other != MENU_CANCEL)
				swap_members(slot, other);
		}
	}
	fade_out();
	back_to_map();
}

/* Whether somebody else could fight. */
static u8 others_fit(u8 slot)
{
	return party_fit() - (get16(party[slot].hp) != 0);
}

/* Whether nobody else knows a move of a lesson that a member knows; its name is then in move_buffer. */
static u8 only_knower(u8 slot)
{
	u8 i, j, move, others;
	for (i = 0; i < 4; i++) {
		move = party[slot].moves[i];
		if (!move_stays(move))
			continue;
		others = 0;
		for (j = 0; j < wPartyCount * 4; j++)
			others += (j >> 2) != slot && party[j >> 2].moves[j & 3] == move;
		if (others)
			continue;
		copy_name(move_buffer, BANK_MOVE_NAMES, ADDR_MOVE_NAMES, move - 1);
		return 1;
	}
	return 0;
}

/* A member that the player chooses leaves for good: 1 when one did. Somebody who can fight always stays. */
u8 let_go(void) __banked
{
	u8 slot, i, gone = 0;
	fade_out();
	slot = party_menu(TX_LEAVE_WHOM, 1, 0);
	if (slot != MENU_CANCEL) {
		nickname(name_buffer, slot);
		if (only_knower(slot)) {
			message_open(TX_ONLY_KNOWER);
			prompt();
			slot = MENU_CANCEL;
		}
	}
	fade_out();
	if (slot != MENU_CANCEL && others_fit(slot)) {
		for (i = slot; i + 1 < wPartyCount; i++)
			swap_members(i, i + 1);
		wPartyCount--;
		wPartySpecies[wPartyCount] = 0xFF;
		gone = 1;
	}
	back_to_map();
	return gone;
}

void start_menu(void) __banked
{
	u8 choice = 0;
	for (;;) {
		wStateFlags |= 0x40;
		wScriptMode = 1;
		map_draw();
		screen_box(0, 10, ENTRIES * 2 + 2, 10);
		screen_words(2, 12, TX_START_MENU);
		wWindowStackSize = 1;
		screen_push(0, 18);
		choice = menu_run(ENTRIES, 1, 2, 11, 0x20, 2, choice);
		if (choice == MENU_CANCEL || choice == ENTRY_EXIT)
			break;
		if (choice == ENTRY_PACK) {
			fade_out();
			pack_page(0);
			back_to_map();
		} else if (choice == ENTRY_CARD) {
			fade_out();
			card_page();
			back_to_map();
		} else if (choice == ENTRY_GUIDE) {
			if (wStatusFlags & HAS_GUIDE) {
				fade_out();
				guide_page();
				back_to_map();
			} else {
				remark(TX_NO_GUIDE);
			}
		} else if (choice == ENTRY_SAVE) {
			save();
		} else if (!wPartyCount) {
			remark(TX_NO_PARTNER);
		} else {
			party_page();
		}
	}
	wWindowStackSize = 0;
	map_redraw();
	wStateFlags &= ~0x40;
	wScriptMode = 0;
}
