/* One use of a move: accuracy, damage, effects. */
#pragma bank 2
#include "game.h"
#include "battle.h"

u16 plain_stats[2][NUM_STATS]; /* stats before stages, player and enemy */

BattleMon *mon_of(u8 side)
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
	if (mon->status & STATUS_PARALYZED)
		put16(mon->stats + 4, (get16(mon->stats + 4) >> 2) + 1);
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
u16 matchup(u8 type, BattleMon *defender)
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

/* Raises or lowers a stage of a side, with its message; quiet when it only goes with a blow. */
static void change_stage(u8 side, u8 stage, u8 up)
{
	u8 *stages = stages_of(side);
	if (stages[stage] == (up ? 13 : 1)) {
		say(TX_FAILED);
		return;
	}
	stages[stage] += up ? 1 : -1;
	apply_stages(side);
	copy_words(name_buffer, stage == STAGE_ACCURACY ? TX_STAT_ACCURACY : TX_STAT_ATTACK + stage);
	text_side = side;
	say(up ? TX_STAT_ROSE : TX_STAT_FELL);
}

/* The hit points and the status of the one in battle, in the party too. */
static void store(u8 side)
{
	PartyMon *mon = side ? &foes[wCurOTMon] : &party[wCurBattleMon];
	BattleMon *from = mon_of(side);
	mon->hp[0] = from->hp[0];
	mon->hp[1] = from->hp[1];
	mon->status = from->status;
}

static void change_hp(u8 side, u16 hp)
{
	BattleMon *mon = mon_of(side);
	u16 before = get16(mon->hp);
	put16(mon->hp, hp);
	store(side);
	drain(side, before, hp);
}

static void set_status(u8 side, u8 status, u16 words)
{
	mon_of(side)->status = status;
	store(side);
	apply_stages(side);
	draw_names();
	battle_rows();
	text_side = side;
	say(words);
}

/* Poison, sleep or paralysis by a move; one that does nothing else says so when it fails. */
static void inflict(u8 side, u8 effect, u8 only)
{
	BattleMon *mon = mon_of(side);
	if (!get16(mon->hp))
		return;
	if (mon->status || ((effect == EFFECT_POISON || effect == EFFECT_POISON_HIT) && (mon->types[0] == TYPE_POISON || mon->types[1] == TYPE_POISON))) {
		if (only)
			say(TX_FAILED);
		return;
	}
	if (effect == EFFECT_SLEEP)
		set_status(side, 2 + random_below(3), TX_FELL_ASLEEP);
	else if (effect == EFFECT_POISON || effect == EFFECT_POISON_HIT)
		set_status(side, STATUS_POISON, TX_WAS_POISONED);
	else
		set_status(side, STATUS_PARALYZED, TX_WAS_PARALYZED);
}

/* Sleep and paralysis: whether a side can't act now. */
static u8 held_back(u8 side)
{
	BattleMon *mon = mon_of(side);
	text_side = side;
	if (mon->status & STATUS_SLEEP) {
		mon->status--;
		if (mon->status & STATUS_SLEEP) {
			store(side);
			say(TX_ASLEEP);
			return 1;
		}
		set_status(side, 0, TX_WOKE_UP);
	}
	if ((mon->status & STATUS_PARALYZED) && random() < 64) {
		say(TX_PARALYZED);
		return 1;
	}
	return 0;
}

/* An eighth of the hit points after each turn. */
void hurt_by_poison(u8 side)
{
	BattleMon *mon = mon_of(side);
	u16 hp = get16(mon->hp), loss;
	if (!hp || !(mon->status & STATUS_POISON))
		return;
	loss = (get16(mon->max_hp) >> 3) + 1;
	if (loss > hp)
		loss = hp;
	text_side = side;
	say(TX_HURT_BY_POISON);
	change_hp(side, hp - loss);
}

/* Half of the hit points back. */
static void mend(u8 side)
{
	BattleMon *mon = mon_of(side);
	u16 hp = get16(mon->hp), most = get16(mon->max_hp);
	if (hp == most) {
		say(TX_FAILED);
		return;
	}
	hp += (most >> 1);
	change_hp(side, hp > most ? most : hp);
	text_side = side;
	say(TX_MENDED);
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
	change_hp(!side, hp - loss);
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
	u16 before;
	hBattleTurn = side;
	if (held_back(side))
		return;
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
	if (!(data[1] >= EFFECT_ATTACK_UP && data[1] <= EFFECT_SPEED_UP) && data[1] != EFFECT_MEND && !hits(side)) {
		wAttackMissed = 1;
		say(TX_MISSED);
		return;
	}
	before = get16(mon_of(!side)->hp);
	if (data[2])
		strike(side);
	switch (data[1]) {
	case EFFECT_ATTACK_UP:
		change_stage(side, 0, 1);
		break;
	case EFFECT_DEFENSE_UP:
		change_stage(side, 1, 1);
		break;
	case EFFECT_SPEED_UP:
		change_stage(side, 2, 1);
		break;
	case EFFECT_MEND:
		mend(side);
		break;
	case EFFECT_DRAIN: {
		u16 most = get16(mon_of(side)->max_hp), hp = get16(mon_of(side)->hp);
		hp += (before - get16(mon_of(!side)->hp) + 1) >> 1;
		change_hp(side, hp > most ? most : hp);
		break;
	}
	case EFFECT_SLEEP:
	case EFFECT_POISON:
	case EFFECT_PARALYZE:
		inflict(!side, data[1], 1);
		break;
	case EFFECT_POISON_HIT:
	case EFFECT_PARALYZE_HIT:
		if (random() < data[6])
			inflict(!side, data[1], 0);
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
