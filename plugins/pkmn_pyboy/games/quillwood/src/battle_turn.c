/* One use of a move: accuracy, damage, effects. */
#pragma bank 2
#include "game.h"
#include "battle.h"

u16 plain_stats[2][NUM_STATS]; /* stats before stages, player and enemy */

static BattleMon *mon_of(u8 side)
{
	return side ? enemy_mon : player_mon;
}

static u8 *stages_of(u8 side)
{
	return side ? wEnemyStatLevels : wPlayerStatLevels;
}

/* A value by its stage, 1 to 13 with 7 for none. */
static u16 staged(u16 value, u8 stage)
{
	u16 at = ADDR_STAT_STAGES + (stage - 1) * 2;
	u16 result = (u16)((u32)value * far_byte(BANK_STAT_STAGES, at) / far_byte(BANK_STAT_STAGES, at + 1));
	if (result > 999)
		result = 999;
	return result ? result : 1;
}

void apply_stages(u8 side)
{
	u8 i;
	BattleMon *mon = mon_of(side);
	for (i = 0; i < NUM_STATS; i++)
		put16(mon->stats + i * 2, staged(plain_stats[side][i], stages_of(side)[i]));
}

static u8 *move_struct(u8 side)
{
	return side ? wEnemyMoveStruct : wPlayerMoveStruct;
}

/* Whether the player's side acts before the enemy's. */
u8 moves_first(u8 player_move, u8 enemy_move)
{
	u8 row[7];
	u8 mine, theirs;
	u16 my_speed = get16(player_mon->stats + 4), their_speed = get16(enemy_mon->stats + 4);
	load_move(row, player_move);
	mine = row[1] == EFFECT_STRIKES_FIRST;
	load_move(row, enemy_move);
	theirs = row[1] == EFFECT_STRIKES_FIRST;
	if (mine != theirs)
		return mine;
	if (my_speed == their_speed)
		return random() & 1;
	return my_speed > their_speed;
}

/* Factor x10 of an attack type against a defender, same-type bonus not counted. */
static u16 matchup(u8 type, BattleMon *defender)
{
	u16 factor = 10;
	u16 at = ADDR_TYPE_MATCHUPS;
	u8 attacker, kind;
	while ((attacker = far_byte(BANK_TYPE_MATCHUPS, at)) < 0xFE) {
		if (attacker == type) {
			kind = far_byte(BANK_TYPE_MATCHUPS, at + 1);
			if (kind == defender->types[0] || (kind == defender->types[1] && kind != defender->types[0]))
				factor = factor * far_byte(BANK_TYPE_MATCHUPS, at + 2) / 10;
		}
		at += 3;
	}
	return factor;
}

/* Sets wCurDamage, wCriticalHit and wTypeModifier. */
static void damage(u8 side)
{
	BattleMon *attacker = mon_of(side), *defender = mon_of(!side);
	u8 *move = move_struct(side);
	u8 special = move[3] >= 20;
	u16 attack, defense, factor;
	u32 value;
	wCriticalHit = random() < 17;
	if (wCriticalHit) {
		attack = plain_stats[side][special ? 3 : 0];
		defense = plain_stats[!side][special ? 4 : 1];
	} else {
		attack = get16(attacker->stats + (special ? 6 : 0));
		defense = get16(defender->stats + (special ? 8 : 2));
	}
	value = (u16)(attacker->level * 2 / 5 + 2) * (u32)move[2];
	value = value * attack / defense / 50;
	if (wCriticalHit)
		value *= 2;
	if (value > 997)
		value = 997;
	value += 2;
	factor = matchup(move[3], defender);
	wTypeModifier = (u8)factor;
	if (move[3] == attacker->types[0] || move[3] == attacker->types[1]) {
		value += value >> 1;
		wTypeModifier |= 0x80;
	}
	value = value * factor / 10;
	if (value > 1)
		value = value * (217 + random_below(39)) / 255;
	if (!value && factor)
		value = 1;
	put16(wCurDamage, (u16)value);
}

static u8 hits(u8 side)
{
	u8 *move = move_struct(side);
	u16 chance = staged(move[4], stages_of(side)[STAGE_ACCURACY]);
	chance = staged(chance, 14 - stages_of(!side)[STAGE_EVASION]);
	if (chance >= 255)
		return 1;
	return random() < (u8)chance;
}

static const u8 word_attack[] = {0x80, 0x93, 0x93, 0x80, 0x82, 0x8A, CH_END};
static const u8 word_defense[] = {0x83, 0x84, 0x85, 0x84, 0x8D, 0x92, 0x84, CH_END};
static const u8 word_speed[] = {0x92, 0x8F, 0x84, 0x84, 0x83, CH_END};
static const u8 word_accuracy[] = {0x80, 0x82, 0x82, 0x94, 0x91, 0x80, 0x82, 0x98, CH_END};

static void set_word(u8 stage)
{
	const u8 *from = stage == 0 ? word_attack : stage == 1 ? word_defense : stage == 2 ? word_speed : word_accuracy;
	u8 *to = name_buffer;
	do {
		*to++ = *from;
	} while (*from++ != CH_END);
}

/* Raises or lowers a stage of a side, with its message. */
static void change_stage(u8 side, u8 stage, u8 up)
{
	u8 *stages = stages_of(side);
	if (stages[stage] == (up ? 13 : 1)) {
		say(TX_FAILED);
		return;
	}
	stages[stage] += up ? 1 : -1;
	apply_stages(side);
	set_word(stage);
	if (side == SIDE_PLAYER)
		say(up ? TX_MON_STAT_ROSE : TX_MON_STAT_FELL);
	else
		say(up ? TX_FOE_STAT_ROSE : TX_FOE_STAT_FELL);
}

static void strike(u8 side)
{
	BattleMon *defender = mon_of(!side);
	u16 hp = get16(defender->hp), loss;
	damage(side);
	loss = get16(wCurDamage);
	if (loss > hp)
		loss = hp;
	picture_blink(!side);
	put16(defender->hp, hp - loss);
	if (side == SIDE_ENEMY)
		put16(party[wCurBattleMon].hp, hp - loss);
	drain(!side, hp, hp - loss);
	if (wCriticalHit)
		say(TX_CRITICAL);
	if ((wTypeModifier & 0x7F) > 10)
		say(TX_SUPER_EFFECTIVE);
	else if ((wTypeModifier & 0x7F) < 10)
		say(TX_NOT_EFFECTIVE);
}

void use_move(u8 side, u8 move)
{
	u8 *data = move_struct(side);
	hBattleTurn = side;
	load_move(data, move);
	copy_name(move_buffer, BANK_MOVE_NAMES, ADDR_MOVE_NAMES, move - 1);
	if (side == SIDE_PLAYER) {
		wCurPlayerMove = move;
		wPlayerTurnsTaken++;
	} else {
		wCurEnemyMove = move;
		wEnemyTurnsTaken++;
	}
	say(side == SIDE_PLAYER ? TX_MON_USED : TX_FOE_USED);
	wAttackMissed = 0;
	wCriticalHit = 0;
	if (data[1] != EFFECT_ATTACK_UP && data[1] != EFFECT_DEFENSE_UP && !hits(side)) {
		wAttackMissed = 1;
		say(TX_MISSED);
		return;
	}
	if (data[2])
		strike(side);
	switch (data[1]) {
	case EFFECT_ATTACK_UP:
		change_stage(side, 0, 1);
		break;
	case EFFECT_DEFENSE_UP:
		change_stage(side, 1, 1);
		break;
	case EFFECT_ATTACK_DOWN:
		change_stage(!side, 0, 0);
		break;
	case EFFECT_DEFENSE_DOWN:
		change_stage(!side, 1, 0);
		break;
	case EFFECT_SPEED_DOWN:
		change_stage(!side, 2, 0);
		break;
	case EFFECT_ACCURACY_DOWN:
		change_stage(!side, STAGE_ACCURACY, 0);
		break;
	}
}
