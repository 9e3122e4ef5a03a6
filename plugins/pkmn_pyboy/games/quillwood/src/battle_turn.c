/* One use of a move: what holds a side back, the blow, the effects. */
#pragma bank 2
#include "game.h"
#include "battle.h"

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

/* Whether an ailment can't take hold: another one is there, or the type is proof against the move. */
u8 withstands(u8 side, const u8 *move)
{
	BattleMon *mon = mon_of(side);
	if (mon->status)
		return 1;
	if (move[1] == EFFECT_SLEEP)
		return 0;
	if ((move[1] == EFFECT_POISON || move[1] == EFFECT_POISON_HIT) && (mon->types[0] == TYPE_POISON || mon->types[1] == TYPE_POISON))
		return 1;
	return !matched(move[3], mon, 10);
}

/* Poison, sleep or paralysis by a move; one that does nothing else says so when it fails. */
static void inflict(u8 side, const u8 *move)
{
	if (!get16(mon_of(side)->hp))
		return;
	if (withstands(side, move)) {
		if (!move[2])
			say(TX_FAILED);
		return;
	}
	if (move[1] == EFFECT_SLEEP)
		set_status(side, 2 + random_below(3), TX_FELL_ASLEEP);
	else if (move[1] == EFFECT_POISON || move[1] == EFFECT_POISON_HIT)
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

/* An eighth of the hit points after each turn, one at least. */
void hurt_by_poison(u8 side)
{
	BattleMon *mon = mon_of(side);
	u16 hp = get16(mon->hp), loss;
	if (!hp || !(mon->status & STATUS_POISON))
		return;
	loss = get16(mon->max_hp) >> 3;
	if (!loss)
		loss = 1;
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

/* The other side can't leave while both are out. */
static void trap(u8 side)
{
	u8 *held = trap_of(side);
	if (*held & TRAPS) {
		say(TX_FAILED);
		return;
	}
	*held |= TRAPS;
	text_side = !side;
	say(TX_TRAPPED);
}

static void strike(u8 side)
{
	BattleMon *defender = mon_of(!side);
	u16 hp = get16(defender->hp), loss;
	damage(side);
	if (!(wTypeModifier & ~SAME_TYPE)) {
		wCriticalHit = 0;
		say(TX_NO_EFFECT_ON);
		return;
	}
	loss = get16(wCurDamage);
	if (loss > hp)
		loss = hp;
	picture_blink(!side);
	change_hp(!side, hp - loss);
	if (wCriticalHit)
		say(TX_CRITICAL);
	if ((wTypeModifier & ~SAME_TYPE) > 10)
		say(TX_SUPER_EFFECTIVE);
	else if ((wTypeModifier & ~SAME_TYPE) < 10)
		say(TX_NOT_EFFECTIVE);
}

/* Who has no move left and struck all the same pays a quarter of the damage done. */
static void recoil(u8 side, u16 dealt)
{
	u16 hp = get16(mon_of(side)->hp), loss = dealt >> 2;
	if (!loss)
		loss = 1;
	text_side = side;
	say(TX_RECOIL);
	change_hp(side, hp > loss ? hp - loss : 0);
}

static void spend(u8 side, u8 slot)
{
	if (side == SIDE_ENEMY) {
		enemy_mon->pp[slot]--;
		foes[wCurOTMon].pp[slot]--;
	} else {
		player_mon->pp[slot]--;
		party[wCurBattleMon].pp[slot]--;
	}
}

/* A side uses the move of a slot, BUMP for NO_MOVE. Who sleeps or can't move pays no PP. */
void use_move(u8 side, u8 slot)
{
	u8 *data = move_struct(side);
	u8 move = slot == NO_MOVE ? MOVE_BUMP : mon_of(side)->moves[slot];
	u16 before;
	hBattleTurn = side;
	if (held_back(side))
		return;
	wAttackMissed = 0;
	wCriticalHit = 0;
	wTypeModifier = 0;
	put16(wCurDamage, 0);
	if (slot != NO_MOVE)
		spend(side, slot);
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
	if (!(data[1] >= EFFECT_ATTACK_UP && data[1] <= EFFECT_SPEED_UP) && data[1] != EFFECT_MEND && !hits(side)) {
		wAttackMissed = 1;
		say(TX_MISSED);
		return;
	}
	before = get16(mon_of(!side)->hp);
	if (data[2]) {
		strike(side);
		if (!get16(wCurDamage))
			return;
		before -= get16(mon_of(!side)->hp);
		if (slot == NO_MOVE)
			recoil(side, before);
	}
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
		hp += (before + 1) >> 1;
		change_hp(side, hp > most ? most : hp);
		break;
	}
	case EFFECT_SLEEP:
	case EFFECT_POISON:
	case EFFECT_PARALYZE:
		inflict(!side, data);
		break;
	case EFFECT_POISON_HIT:
	case EFFECT_PARALYZE_HIT:
		if (random() < data[6])
			inflict(!side, data);
		break;
	case EFFECT_TRAP:
		trap(side);
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
