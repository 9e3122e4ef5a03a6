/* A battle from its first message to its last. */
#pragma bank 2
#include "game.h"
#include "battle.h"

/* The own creature has fallen: another one, or the end of the battle. */
static u8 own_fell(void)
{
	u8 slot;
	picture_clear(SIDE_PLAYER);
	own_out = 0;
	message_more(TX_MON_FELL);
	prompt();
	party[wCurBattleMon].status = 0;
	wBattleParticipantsNotFainted &= ~(u8)(1 << wCurBattleMon);
	if (!party_fit()) {
		message_more(TX_BLACKOUT);
		prompt();
		wBattleResult = RESULT_LOSS;
		return 1;
	}
	if (wBattleMode == BATTLE_WILD) {
		message_more(TX_USE_NEXT);
		if (!yes_no()) {
			battle_restore();
			if (tries_to_run()) {
				message(TX_GOT_AWAY);
				wBattleResult = RESULT_RAN;
				return 1;
			}
			message(TX_CANT_ESCAPE);
		}
	}
	slot = choose_member(0);
	battle_screen();
	own_send_out(slot);
	return 0;
}

/* The enemy has fallen: experience, then a trainer's next one; 1 when the battle is over. */
static u8 enemy_fell(void)
{
	u8 next;
	picture_clear(SIDE_ENEMY);
	enemy_out = 0;
	message_more(TX_FOE_FELL);
	prompt();
	reward_foe();
	next = wBattleMode == BATTLE_TRAINER ? foe_next() : 0xFF;
	if (next != 0xFF) {
		enemy_send_out(next);
		return 0;
	}
	if (wBattleMode == BATTLE_TRAINER) {
		trainer_back();
		text_number = (u16)wEnemyTrainerBaseReward * enemy_mon->level;
		message_more(TX_TRAINER_BEATEN);
		prompt();
		message_more(TX_PRIZE);
		prompt();
		money_put(money_get() + text_number);
	}
	wBattleResult = RESULT_WIN;
	flag_set(FLAG_FIRST_WIN);
	return 1;
}

#define GOES_ON 0
#define TURN_ENDS 1
#define BATTLE_ENDS 2

static u8 check_fainted(void)
{
	u8 own_down = !get16(player_mon->hp), enemy_down = !get16(enemy_mon->hp);
	/* when both fall and nobody is left, the battle is lost */
	if (enemy_down && (!own_down || party_fit())) {
		if (enemy_fell())
			return BATTLE_ENDS;
	}
	if (own_down)
		return own_fell() ? BATTLE_ENDS : TURN_ENDS;
	return enemy_down ? TURN_ENDS : GOES_ON;
}

/* What comes at the end of a side's turn, whatever it did. */
static u8 end_of_act(u8 side)
{
	hurt_by_poison(side);
	return check_fainted();
}

static u8 act(u8 side, u8 slot)
{
	u8 result;
	use_move(side, slot);
	result = check_fainted();
	return result == GOES_ON ? end_of_act(side) : result;
}

/* The player did something else than to use a move: then it is the enemy's turn. */
static u8 enemy_only(void)
{
	u8 result = end_of_act(SIDE_PLAYER);
	if (result == GOES_ON)
		result = act(SIDE_ENEMY, enemy_choice());
	return result == BATTLE_ENDS;
}

/* One turn from the menu on; 1 when the battle is over. */
static u8 turn(void)
{
	u8 mine, theirs, result;
	u8 want = ask_player();
	mine = wanted_slot;
	switch (want) {
	case WANT_RUN:
		if (mine) {
			message(TX_GOT_AWAY);
			wBattleResult = RESULT_RAN;
			return 1;
		}
		message(TX_CANT_ESCAPE);
		return enemy_only();
	case WANT_SWITCH:
		say(TX_COME_BACK);
		own_send_out(mine);
		return enemy_only();
	case WANT_ITEM:
		if (item_kind(mine) == ITEM_BALL && throw_ball(mine))
			return 1;
		return enemy_only();
	}
	theirs = enemy_choice();
	if (moves_first(mine == NO_MOVE ? MOVE_BUMP : player_mon->moves[mine], theirs == NO_MOVE ? MOVE_BUMP : enemy_mon->moves[theirs])) {
		result = act(SIDE_PLAYER, mine);
		if (result == GOES_ON)
			result = act(SIDE_ENEMY, theirs);
	} else {
		result = act(SIDE_ENEMY, theirs);
		if (result == GOES_ON)
			result = act(SIDE_PLAYER, mine);
	}
	return result == BATTLE_ENDS;
}

static void begin(void)
{
	wBattleType = 0;
	wBattleResult = 0;
	wBattleEnded = 0;
	wBattleMenuCursorPosition = 0;
	wCurMoveNum = 0;
	wNumFleeAttempts = 0;
	wPlayerTurnsTaken = 0;
	wEnemyTurnsTaken = 0;
	wBattleParticipantsNotFainted = 0;
	wBattleWeather = 0;
	grown = 0;
	clear_bytes(wPlayerSubStatus1, 10);
	neutral(wPlayerStatLevels);
	neutral(wEnemyStatLevels);
	own_out = 1;
	palettes_flash();
	fade_out();
}

static void fight(u8 mode)
{
	send_out(first_fit());
	wTempBattleMonSpecies = player_mon->species;
	wBattleHasJustStarted = 1;
	wBattleMode = mode;
	wSpriteUpdatesEnabled = 0;
	battle_screen();
	if (mode == BATTLE_WILD) {
		message_more(TX_WILD_APPEARED);
		prompt();
	} else {
		message_more(TX_TRAINER_WANTS);
		prompt();
		enemy_send_out(0);
	}
	say(TX_GO_MON);
	while (!turn())
		;
	if (wBattleResult == RESULT_WIN)
		evolve_all();
	wBattleEnded = 1;
	wWindowStackSize = 0;
	wTempWildMonSpecies = 0;
	wOtherTrainerClass = 0;
	fade_out();
	screen_clear(CH_SPACE, 7);
	wSpriteUpdatesEnabled = 1;
	wBattleMode = 0;
}

void battle_wild(u8 species, u8 level) __banked
{
	wTempWildMonSpecies = species;
	wTempEnemyMonSpecies = species;
	wOtherTrainerClass = 0;
	wTrainerClass = 0;
	begin();
	enemy_out = 1;
	wOTPartyCount = 0;
	make_wild(species, level);
	fight(BATTLE_WILD);
}

void battle_trainer(u8 class, u8 id) __banked
{
	wTempWildMonSpecies = 0;
	wOtherTrainerClass = class;
	wTrainerClass = class;
	wOtherTrainerID = id;
	wCurOTMon = 0xFF;
	begin();
	enemy_out = TRAINER_OUT;
	make_foes(class, id);
	fight(BATTLE_TRAINER);
}
