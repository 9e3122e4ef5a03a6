/* The numbers of a battle: stages, who is first, the type chart, damage, accuracy. */
#pragma bank 2
#include "game.h"
#include "battle.h"

u16 plain_stats[2][NUM_STATS]; /* stats before stages, player and enemy */

BattleMon *mon_of(u8 side)
{
	return side ? enemy_mon : player_mon;
}

u8 *stages_of(u8 side)
{
	return side ? wEnemyStatLevels : wPlayerStatLevels;
}

u8 *move_struct(u8 side)
{
	return side ? wEnemyMoveStruct : wPlayerMoveStruct;
}

/* The byte that tells whether a side holds the other one fast. */
u8 *trap_of(u8 side)
{
	return (side ? wEnemySubStatus1 : wPlayerSubStatus1) + 4;
}

/* A value by its stage, 1 to 13 with 7 for none; table is that of the stats or that of accuracy. */
static u16 staged(u16 value, u16 table, u8 stage)
{
	u16 at = table + (stage - 1) * 2;
	u16 result = stage == 7 ? value : (u16)((u32)value * far_byte(BANK_STAT_STAGES, at) / far_byte(BANK_STAT_STAGES, at + 1));
	if (result > 999)
		result = 999;
	return result ? result : 1;
}

void apply_stages(u8 side)
{
	u8 i;
	BattleMon *mon = mon_of(side);
	for (i = 0; i < NUM_STATS; i++)
		put16(mon->stats + i * 2, staged(plain_stats[side][i], ADDR_STAT_STAGES, stages_of(side)[i]));
	if (mon->status & STATUS_PARALYZED)
		put16(mon->stats + 4, (get16(mon->stats + 4) >> 2) + 1);
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

static u8 has_type(const BattleMon *mon, u8 type)
{
	return mon->types[0] == type || mon->types[1] == type;
}

/* A value by what a type does to a defender: each factor in turn, as a product of them would lose a half. */
u32 matched(u8 type, BattleMon *defender, u32 value)
{
	u16 at = ADDR_TYPE_MATCHUPS;
	while ((at = matchup_next(at, type))) {
		if (has_type(defender, far_byte(BANK_TYPE_MATCHUPS, at + 1)))
			value = value * far_byte(BANK_TYPE_MATCHUPS, at + 2) / 10;
		at += 3;
	}
	return value;
}

/* What a move does at best, before chance: the level, both stats, the own type, the chart. */
u16 full_damage(u8 side, const u8 *move, u8 critical)
{
	BattleMon *attacker = mon_of(side), *defender = mon_of(!side);
	u8 special = move[3] >= FIRST_SPECIAL_TYPE;
	u16 attack, defense;
	u32 value;
	if (critical) {
		attack = plain_stats[side][special ? 3 : 0];
		defense = plain_stats[!side][special ? 4 : 1];
	} else {
		attack = get16(attacker->stats + (special ? 6 : 0));
		defense = get16(defender->stats + (special ? 8 : 2));
	}
	value = (u16)(attacker->level * 2 / 5 + 2) * (u32)move[2];
	value = value * attack / defense / 50;
	if (critical)
		value *= 2;
	if (value > 997)
		value = 997;
	value += 2;
	if (has_type(attacker, move[3]))
		value += value >> 1;
	return (u16)matched(move[3], defender, value);
}

/* Sets wCurDamage, wCriticalHit and wTypeModifier. */
void damage(u8 side)
{
	u8 *move = move_struct(side);
	u32 value;
	wCriticalHit = random() < CRITICAL_CHANCE;
	value = full_damage(side, move, wCriticalHit);
	wTypeModifier = (u8)matched(move[3], mon_of(!side), 10);
	if (value > 1)
		value = value * (217 + random_below(39)) / 255;
	if (!value && wTypeModifier)
		value = 1;
	if (has_type(mon_of(side), move[3]))
		wTypeModifier |= SAME_TYPE;
	put16(wCurDamage, (u16)value);
}

u8 hits(u8 side)
{
	u16 chance = staged(move_struct(side)[4], ADDR_ACCURACY_STAGES, stages_of(side)[STAGE_ACCURACY]);
	chance = staged(chance, ADDR_ACCURACY_STAGES, 14 - stages_of(!side)[STAGE_EVASION]);
	return chance >= 255 || random() < (u8)chance;
}
