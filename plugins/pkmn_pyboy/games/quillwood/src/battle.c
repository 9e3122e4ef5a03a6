/* A wild battle from its first message to its last. */
#pragma bank 2
#include "game.h"
#include "battle.h"

#define MOVE_BUMP 1
#define NO_MOVE 0xFF

extern void (*menu_hook)(void);

static const u8 word_fight[] = {0x85, 0x88, 0x86, 0x87, 0x93, CH_END};
static const u8 word_pkmn[] = {0xE1, 0xE2, CH_END};
static const u8 word_pack[] = {0x8F, 0x80, 0x82, 0x8A, CH_END};
static const u8 word_run[] = {0x91, 0x94, 0x8D, CH_END};
static const u8 word_pp[] = {0x8F, 0x8F, CH_END};

static void clear_bytes(u8 *at, u8 count)
{
	while (count--)
		*at++ = 0;
}

static void neutral(u8 *stages)
{
	u8 i;
	for (i = 0; i < 7; i++)
		stages[i] = 7;
}

static void copy_stats(u8 side, const u8 *stats)
{
	u8 i;
	for (i = 0; i < NUM_STATS; i++)
		plain_stats[side][i] = get16(stats + i * 2);
}

static void make_enemy(u8 species, u8 level)
{
	BattleMon *mon = enemy_mon;
	clear_bytes((u8 *)mon, sizeof(BattleMon));
	load_base(species);
	mon->species = species;
	mon->dvs[0] = random();
	mon->dvs[1] = random();
	mon->level = level;
	mon->happiness = 70;
	mon->types[0] = base_data[7];
	mon->types[1] = base_data[8];
	make_moves(mon->moves, mon->pp, species, level);
	make_stats(mon->max_hp, mon->stats, mon->dvs, level);
	put16(mon->hp, get16(mon->max_hp));
	copy_stats(SIDE_ENEMY, mon->stats);
	wEnemyMonCatchRate = base_data[9];
	species_name(wEnemyMonNickname, species);
	seen(species);
}

/* The party member in battle. */
static void send_out(u8 slot)
{
	PartyMon *from = &party[slot];
	BattleMon *mon = player_mon;
	u8 i;
	load_base(from->species);
	wCurBattleMon = slot;
	wCurPartyMon = slot;
	mon->species = from->species;
	mon->item = from->item;
	mon->level = from->level;
	mon->happiness = from->happiness;
	mon->status = from->status;
	mon->dvs[0] = from->dvs[0];
	mon->dvs[1] = from->dvs[1];
	for (i = 0; i < 4; i++) {
		mon->moves[i] = from->moves[i];
		mon->pp[i] = from->pp[i];
	}
	for (i = 0; i < 14; i++)
		mon->hp[i] = from->hp[i];
	mon->types[0] = base_data[7];
	mon->types[1] = base_data[8];
	copy_stats(SIDE_PLAYER, from->stats);
	apply_stages(SIDE_PLAYER);
	for (i = 0; i < 11; i++)
		wBattleMonNickname[i] = wPartyMonNicknames[slot * 11 + i];
	wBattleParticipantsNotFainted |= 1 << slot;
}

/* FIGHT, PKMN, PACK, RUN: 0 to 3. */
static u8 action_menu(void)
{
	u8 choice;
	message_box();
	screen_box(12, 8, 6, 12);
	screen_text(14, 10, word_fight);
	screen_text(14, 16, word_pkmn);
	screen_text(16, 10, word_pack);
	screen_text(16, 16, word_run);
	screen_push(12, 6);
	wWindowStackSize = 1;
	choice = menu_run(2, 2, 14, 9, 0x26, 0, wBattleMenuCursorPosition ? wBattleMenuCursorPosition - 1 : 0);
	wWindowStackSize = 0;
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

static u8 has_pp(const BattleMon *mon)
{
	u8 i;
	for (i = 0; i < 4; i++)
		if (mon->moves[i] && mon->pp[i])
			return 1;
	return 0;
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
		wWindowStackSize = 0;
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

static u8 enemy_choice(void)
{
	u8 slot;
	if (!has_pp(enemy_mon))
		return NO_MOVE;
	do {
		slot = random() & 3;
	} while (!enemy_mon->moves[slot] || !enemy_mon->pp[slot]);
	return slot;
}

static void spend(u8 side, u8 slot)
{
	if (slot == NO_MOVE)
		return;
	if (side == SIDE_ENEMY) {
		enemy_mon->pp[slot]--;
	} else {
		player_mon->pp[slot]--;
		party[wCurBattleMon].pp[slot]--;
	}
}

static u8 tries_to_run(void)
{
	u16 mine = get16(player_mon->stats + 4), theirs = get16(enemy_mon->stats + 4) >> 2;
	u16 chance;
	wNumFleeAttempts++;
	chance = theirs ? mine * 32 / theirs + 30 * (wNumFleeAttempts - 1) : 256;
	return chance > 255 || random() < (u8)chance;
}

static void learn(PartyMon *mon, u8 move)
{
	u8 slot, i;
	u8 row[7];
	for (slot = 0; slot < 4; slot++)
		if (mon->moves[slot] == move)
			return;
	for (slot = 0; slot < 4 && mon->moves[slot]; slot++)
		;
	if (slot == 4) {
		/* the oldest move makes room */
		for (i = 0; i < 3; i++) {
			mon->moves[i] = mon->moves[i + 1];
			mon->pp[i] = mon->pp[i + 1];
		}
		slot = 3;
	}
	load_move(row, move);
	mon->moves[slot] = move;
	mon->pp[slot] = row[5];
	copy_name(move_buffer, BANK_MOVE_NAMES, ADDR_MOVE_NAMES, move - 1);
	message_more(TX_LEARNED);
	prompt();
}

static void gain_experience(void)
{
	PartyMon *mon = &party[wCurBattleMon];
	u32 total;
	u16 before;
	u8 move;
	load_base(enemy_mon->species);
	text_number = (u16)base_data[10] * enemy_mon->level / 7;
	total = exp_get(mon->exp) + text_number;
	message_more(TX_GAINED_EXP);
	prompt();
	load_base(mon->species);
	while (mon->level < 100 && total >= exp_for_level(mon->level + 1)) {
		before = get16(mon->max_hp);
		mon->level++;
		make_stats(mon->max_hp, mon->stats, mon->dvs, mon->level);
		put16(mon->hp, get16(mon->hp) + get16(mon->max_hp) - before);
		exp_put(mon->exp, total);
		send_out(wCurBattleMon);
		draw_names();
		screen_push(7, 5);
		text_number = mon->level;
		message_more(TX_GREW);
		prompt();
		move = move_at_level(mon->species, mon->level);
		if (move) {
			learn(mon, move);
			send_out(wCurBattleMon);
		}
	}
	if (mon->level == 100)
		total = exp_for_level(100);
	exp_put(mon->exp, total);
	draw_exp();
	screen_push(11, 1);
}

/* 1 when the battle is over. */
static u8 check_fainted(void)
{
	if (!get16(enemy_mon->hp)) {
		picture_clear(SIDE_ENEMY);
		message_more(TX_FOE_FELL);
		prompt();
		gain_experience();
		wBattleResult = RESULT_WIN;
		flag_set(FLAG_FIRST_WIN);
		return 1;
	}
	if (!get16(player_mon->hp)) {
		picture_clear(SIDE_PLAYER);
		message_more(TX_MON_FELL);
		prompt();
		wBattleParticipantsNotFainted &= ~(u8)(1 << wCurBattleMon);
		message_more(TX_BLACKOUT);
		prompt();
		wBattleResult = RESULT_LOSS;
		return 1;
	}
	return 0;
}

static u8 act(u8 side, u8 slot)
{
	BattleMon *mon = side ? enemy_mon : player_mon;
	u8 move = slot == NO_MOVE ? MOVE_BUMP : mon->moves[slot];
	spend(side, slot);
	use_move(side, move);
	return check_fainted();
}

/* One turn from the menu on; 1 when the battle is over. */
static u8 turn(void)
{
	u8 mine = NO_MOVE, theirs, first;
	for (;;) {
		u8 action = action_menu();
		message_box();
		screen_push(12, 6);
		wBattlePlayerAction = action == 0 ? 0 : action == 2 ? 1 : 2;
		if (action == 1) {
			message(TX_ONLY_ONE);
			continue;
		}
		if (action == 2) {
			message(TX_PACK_EMPTY);
			continue;
		}
		wBattleHasJustStarted = 0;
		if (action == 3) {
			if (tries_to_run()) {
				message(TX_GOT_AWAY);
				wBattleResult = RESULT_RAN;
				return 1;
			}
			message(TX_CANT_ESCAPE);
			return act(SIDE_ENEMY, enemy_choice());
		}
		if (has_pp(player_mon)) {
			mine = move_menu();
			if (mine == NO_MOVE)
				continue;
		} else {
			say(TX_NO_MOVES);
		}
		break;
	}
	theirs = enemy_choice();
	first = moves_first(mine == NO_MOVE ? MOVE_BUMP : player_mon->moves[mine], theirs == NO_MOVE ? MOVE_BUMP : enemy_mon->moves[theirs]);
	if (first)
		return act(SIDE_PLAYER, mine) || act(SIDE_ENEMY, theirs);
	return act(SIDE_ENEMY, theirs) || act(SIDE_PLAYER, mine);
}

static u8 first_fit(void)
{
	u8 slot;
	for (slot = 0; slot < wPartyCount; slot++)
		if (get16(party[slot].hp))
			return slot;
	return 0;
}

void battle_wild(u8 species, u8 level) __banked
{
	wTempWildMonSpecies = species;
	wTempEnemyMonSpecies = species;
	wBattleType = 0;
	wOtherTrainerClass = 0;
	wTrainerClass = 0;
	wBattleResult = 0;
	wBattleEnded = 0;
	wBattleMenuCursorPosition = 0;
	wCurMoveNum = 0;
	wNumFleeAttempts = 0;
	wPlayerTurnsTaken = 0;
	wEnemyTurnsTaken = 0;
	wBattleParticipantsNotFainted = 0;
	wBattleWeather = 0;
	clear_bytes(wPlayerSubStatus1, 10);
	neutral(wPlayerStatLevels);
	neutral(wEnemyStatLevels);
	player_mon->level = party[first_fit()].level;
	/* two flashes, then white */
	palettes_flash();
	fade_out();
	make_enemy(species, level);
	send_out(first_fit());
	wTempBattleMonSpecies = player_mon->species;
	wBattleHasJustStarted = 1;
	wBattleMode = 1;
	wSpriteUpdatesEnabled = 0;
	battle_screen();
	message_more(TX_WILD_APPEARED);
	prompt();
	say(TX_GO_MON);
	while (!turn())
		;
	wBattleEnded = 1;
	wWindowStackSize = 0;
	wTempWildMonSpecies = 0;
	fade_out();
	screen_clear(CH_SPACE, 7);
	wSpriteUpdatesEnabled = 1;
	wBattleMode = 0;
}
