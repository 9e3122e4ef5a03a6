/* What the player wants in a battle: the four words, the moves, the party, the pack. */
#pragma bank 2
#include "game.h"
#include "battle.h"

extern void (*menu_hook)(void);

u8 wanted_slot;

static const u8 word_fight[] = {0x85, 0x88, 0x86, 0x87, 0x93, CH_END};
static const u8 word_pal[] = {0x8F, 0x80, 0x8B, CH_END}; /* three letters: a fourth would lie on the frame */
static const u8 word_pack[] = {0x8F, 0x80, 0x82, 0x8A, CH_END};
static const u8 word_run[] = {0x91, 0x94, 0x8D, CH_END};
static const u8 word_pp[] = {0x8F, 0x8F, CH_END};

/* FIGHT, PAL, PACK, RUN: 0 to 3. */
static u8 action_menu(void)
{
	u8 choice;
	message_box();
	screen_box(12, 8, 6, 12);
	screen_text(14, 10, word_fight);
	screen_text(14, 16, word_pal);
	screen_text(16, 10, word_pack);
	screen_text(16, 16, word_run);
	screen_push(12, 6);
	wWindowStackSize++;
	choice = menu_run(2, 2, 14, 9, 0x26, 0, wBattleMenuCursorPosition ? wBattleMenuCursorPosition - 1 : 0);
	wWindowStackSize--;
	wBattleMenuCursorPosition = choice + 1;
	return choice;
}

/* Type and PP of the move under the cursor. */
static void show_move(void)
{
	u8 slot = wMenuCursorY - 1;
	u8 row[7];
	u8 name[16];
	load_move(row, player_mon->moves[slot]);
	load_move(wPlayerMoveStruct, player_mon->moves[slot]);
	screen_box(8, 0, 5, 11);
	copy_name(name, BANK_TYPE_NAMES, far_word(BANK_TYPE_NAMES, ADDR_TYPE_NAMES + row[3] * 2), 0);
	screen_text(9, 2, name);
	screen_text(11, 2, word_pp);
	screen_number(11, 5, player_mon->pp[slot], 2);
	screen_put(11, 7, CH_SLASH);
	screen_number(11, 8, row[5], 2);
	screen_push(8, 5);
}

static u8 move_count(const BattleMon *mon)
{
	u8 count = 0;
	while (count < 4 && mon->moves[count])
		count++;
	return count;
}

/* The slot of the move chosen, NO_MOVE when B was pressed. */
static u8 move_menu(void)
{
	u8 i, choice, count = move_count(player_mon);
	u8 name[16];
	for (;;) {
		message_box();
		screen_box(12, 4, 6, 16);
		for (i = 0; i < count; i++) {
			copy_name(name, BANK_MOVE_NAMES, ADDR_MOVE_NAMES, player_mon->moves[i] - 1);
			screen_text(13 + i, 6, name);
		}
		screen_push(12, 6);
		if (wCurMoveNum >= count)
			wCurMoveNum = 0;
		wMoveSelectionMenuType = 0;
		menu_hook = show_move;
		choice = menu_run(count, 1, 13, 5, 0x10, 1, wCurMoveNum);
		menu_hook = 0;
		battle_middle();
		if (choice == MENU_CANCEL)
			return NO_MOVE;
		wCurMoveNum = choice;
		if (player_mon->pp[choice])
			return choice;
		say(TX_NO_PP);
		/* the cursor comes back on a move that can be used */
		while (!player_mon->pp[wCurMoveNum])
			wCurMoveNum = (wCurMoveNum + 1) & 3;
	}
}

/* A flight from a wild creature: the faster one gets away, the slower one more easily each time. */
u8 tries_to_run(void)
{
	u16 mine = get16(player_mon->stats + 4), theirs = get16(enemy_mon->stats + 4);
	u16 chance;
	wNumFleeAttempts++;
	if (mine >= theirs)
		return 1;
	theirs >>= 2;
	chance = theirs ? mine * 32 / theirs + 30 * (wNumFleeAttempts - 1) : 256;
	return chance > 255 || random() < (u8)chance;
}

/* A party member that can fight and does not yet; MENU_CANCEL when the player left the page. */
u8 choose_member(u8 can_cancel)
{
	u8 slot = can_cancel ? 0 : first_fit(), left;
	fade_out();
	for (;;) {
		slot = party_menu(TX_CHOOSE_MEMBER, can_cancel, slot);
		if (slot == MENU_CANCEL)
			break;
		left = get16(party[slot].hp) != 0;
		if (left && slot != wCurBattleMon) {
			if (!can_cancel || !(*trap_of(SIDE_ENEMY) & TRAPS))
				break;
			message_open(TX_CANT_LEAVE);
			prompt();
			fade_out();
			continue;
		}
		if (left && !get16(player_mon->hp))
			break;
		nickname(name_buffer, slot);
		message_open(left ? TX_ALREADY_OUT : TX_NO_WILL);
		prompt();
		fade_out();
	}
	fade_out();
	return slot;
}

/* One choice from the menu on. A failed flight and everything but WANT_MOVE costs the turn. */
u8 ask_player(void)
{
	for (;;) {
		u8 action = action_menu();
		message_box();
		screen_push(12, 6);
		wBattlePlayerAction = action == 0 ? 0 : action == 2 ? 1 : 2;
		if (action == 1) {
			u8 slot;
			wWindowStackSize++; /* the menu stays below */
			slot = choose_member(1);
			wWindowStackSize--;
			battle_screen();
			if (slot == MENU_CANCEL)
				continue;
			wanted_slot = slot;
			return WANT_SWITCH;
		}
		if (action == 2) {
			u8 item;
			fade_out();
			wWindowStackSize++;
			item = pack_page(1);
			wWindowStackSize--;
			/* a thing used on the party has changed it */
			if (get16(party[wCurBattleMon].hp))
				send_out(wCurBattleMon);
			battle_screen();
			if (!item)
				continue;
			wanted_slot = item;
			return WANT_ITEM;
		}
		wBattleHasJustStarted = 0;
		if (action == 3) {
			if (wBattleMode == BATTLE_TRAINER) {
				message(TX_NO_RUNNING);
				continue;
			}
			if (*trap_of(SIDE_ENEMY) & TRAPS) {
				message(TX_CANT_LEAVE);
				continue;
			}
			wanted_slot = tries_to_run();
			return WANT_RUN;
		}
		if (!has_pp(player_mon)) {
			wanted_slot = NO_MOVE;
			say(TX_NO_MOVES);
			return WANT_MOVE;
		}
		wanted_slot = move_menu();
		if (wanted_slot != NO_MOVE)
			return WANT_MOVE;
	}
}
