/* After a foe has fallen: experience, levels, new moves, and what becomes of a creature. */
#pragma bank 2
#include "game.h"
#include "battle.h"

#define CHANGE_FRAMES 48

u8 grown; /* a bit per member that reached a level in this battle */

/* Which of four moves a new one replaces, MENU_CANCEL for none. */
static u8 old_move(PartyMon *mon)
{
	u8 i, choice;
	u8 name[16];
	screen_box(2, 4, 6, 16);
	for (i = 0; i < 4; i++) {
		copy_name(name, BANK_MOVE_NAMES, ADDR_MOVE_NAMES, mon->moves[i] - 1);
		screen_text(3 + i, 6, name);
	}
	screen_push(2, 6);
	wWindowStackSize++;
	choice = menu_run(4, 1, 3, 5, 0x10, 1, 0);
	wWindowStackSize--;
	if (choice != MENU_CANCEL && move_stays(mon->moves[choice])) {
		message_more(TX_CANT_FORGET);
		prompt();
		choice = MENU_CANCEL;
	}
	return choice;
}

static void learn(u8 member, u8 move)
{
	PartyMon *mon = &party[member];
	u8 slot;
	u8 row[7];
	for (slot = 0; slot < 4; slot++)
		if (mon->moves[slot] == move)
			return;
	copy_name(move_buffer, BANK_MOVE_NAMES, ADDR_MOVE_NAMES, move - 1);
	for (slot = 0; slot < 4 && mon->moves[slot]; slot++)
		;
	while (slot == 4) {
		message_more(TX_WANTS_TO_LEARN);
		if (yes_no()) {
			message_more(TX_WHICH_MOVE);
			slot = old_move(mon);
			battle_restore();
			if (slot != MENU_CANCEL)
				break;
			slot = 4;
		} else {
			battle_restore();
		}
		message_more(TX_STOP_LEARNING);
		slot = yes_no() ? MENU_CANCEL : 4;
		battle_restore();
	}
	if (slot == MENU_CANCEL)
		return;
	load_move(row, move);
	mon->moves[slot] = move;
	mon->pp[slot] = row[5];
	message_more(TX_LEARNED);
	prompt();
}

static void gain(u8 slot, u16 amount)
{
	PartyMon *mon = &party[slot];
	u32 total = exp_get(mon->exp) + amount;
	u8 move;
	nickname(name_buffer, slot);
	text_number = amount;
	message_more(TX_GAINED_EXP);
	prompt();
	while (mon->level < 100 && total >= exp_for_level(mon->species, mon->level + 1)) {
		mon->level++;
		party_grow(slot);
		exp_put(mon->exp, total);
		grown |= 1 << slot;
		if (slot == wCurBattleMon) {
			send_out(slot);
			draw_names();
			screen_push(7, 5);
		}
		text_number = mon->level;
		message_more(TX_GREW);
		prompt();
		move = move_at_level(mon->species, mon->level);
		if (move) {
			learn(slot, move);
			if (slot == wCurBattleMon)
				send_out(slot);
		}
	}
	if (mon->level == 100)
		total = exp_for_level(mon->species, 100);
	exp_put(mon->exp, total);
	if (slot == wCurBattleMon) {
		draw_exp();
		screen_push(11, 1);
	}
}

/* The experience of the foe, shared by all who fought it and still stand. */
void reward_foe(void)
{
	u8 slot, sharers = 0, who = wBattleParticipantsNotFainted;
	u16 amount;
	for (slot = 0; slot < wPartyCount; slot++)
		if ((who & (u8)(1 << slot)) && get16(party[slot].hp))
			sharers++;
	if (!sharers)
		return;
	load_base(enemy_mon->species);
	amount = (u16)base_data[10] * enemy_mon->level / 7;
	if (wBattleMode == BATTLE_TRAINER)
		amount += amount >> 1;
	amount /= sharers;
	for (slot = 0; slot < wPartyCount; slot++)
		if ((who & (u8)(1 << slot)) && get16(party[slot].hp))
			gain(slot, amount);
}

/* The picture of a species where the enemy stood, which stays in memory as it was. */
static void show(u8 species)
{
	picture_only = species;
	battle_picture(SIDE_ENEMY);
}

/* The moment before a creature changes; 1 when B was pressed in it. */
static u8 stopped(void)
{
	u8 frames = CHANGE_FRAMES;
	screen_fill(12, 0, 6, 20, CH_SPACE, ATTR_TEXT);
	screen_push(12, 6);
	poll_joy();
	while (frames--) {
		wait_vblank();
		poll_joy();
		if (hJoyPressed & PAD_B)
			return 1;
	}
	return 0;
}

static void evolve(u8 slot, u8 species)
{
	PartyMon *mon = &party[slot];
	u8 own_name[11];
	u8 i, same = 1, move;
	species_name(own_name, mon->species);
	nickname(name_buffer, slot);
	for (i = 0; i < 10 && own_name[i] != CH_END; i++)
		if (own_name[i] != name_buffer[i])
			same = 0;
	if (name_buffer[i] != CH_END)
		same = 0;
	enemy_out = own_out = 0;
	fade_out();
	battle_screen();
	enemy_out = PICTURE_ONLY;
	show(mon->species);
	message_more(TX_EVOLVING);
	wait_frames(10);
	if (stopped()) {
		message_open(TX_STAYED);
		prompt();
		return;
	}
	palettes_flash();
	palettes_flash();
	mon->species = species;
	wPartySpecies[slot] = species;
	party_grow(slot);
	caught(species);
	show(species);
	species_name(move_buffer, species);
	message_open(TX_EVOLVED);
	prompt();
	if (same)
		copy_string(wPartyMonNicknames + slot * 11, move_buffer);
	nickname(name_buffer, slot);
	move = move_at_level(species, mon->level);
	if (move)
		learn(slot, move);
}

/* Whoever grew in a battle that was won may change. */
void evolve_all(void)
{
	u8 slot, species;
	for (slot = 0; slot < wPartyCount; slot++) {
		if (!(grown & (u8)(1 << slot)) || !get16(party[slot].hp))
			continue;
		species = evolution(party[slot].species, party[slot].level);
		if (species)
			evolve(slot, species);
	}
	grown = 0;
}
