/* Both sides of a battle: making foes, sending creatures out, what a foe chooses. */
#pragma bank 2
#include "game.h"
#include "battle.h"

#define TRAINER_DVS_HIGH 0x98
#define TRAINER_DVS_LOW 0x88

void clear_bytes(u8 *at, u8 count)
{
	while (count--)
		*at++ = 0;
}

void neutral(u8 *stages)
{
	u8 i;
	for (i = 0; i < 7; i++)
		stages[i] = 7;
}

/* A party struct as the one in battle. */
static void to_battle(BattleMon *mon, PartyMon *from, u8 side)
{
	u8 i;
	load_base(from->species);
	mon->species = from->species;
	mon->item = from->item;
	mon->level = from->level;
	mon->happiness = from->happiness;
	mon->status = from->status;
	mon->unused = 0;
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
	for (i = 0; i < NUM_STATS; i++)
		plain_stats[side][i] = get16(from->stats + i * 2);
	apply_stages(side);
}

void make_wild(u8 species, u8 level)
{
	u8 high = random();
	mon_make(&foes[0], species, level, high, random());
	wCurOTMon = 0;
	to_battle(enemy_mon, &foes[0], SIDE_ENEMY);
	wEnemyMonCatchRate = base_data[9];
	species_name(wEnemyMonNickname, species);
	seen(species);
}

/* The party of a trainer: TrainerGroups has a list per class: name, kind, level and species pairs, FF. */
void make_foes(u8 class, u8 id)
{
	u8 level, species, i, count = 0;
	u16 at = far_word(BANK_TRAINER_GROUPS, ADDR_TRAINER_GROUPS + (u16)(class - 1) * 2);
	while (--id)
		while (far_byte(BANK_TRAINER_GROUPS, at++) != 0xFF)
			;
	copy_name(trainer_name, BANK_TRAINER_CLASS_NAMES, ADDR_TRAINER_CLASS_NAMES, class - 1);
	for (i = 0; trainer_name[i] != CH_END; i++)
		;
	if (i)
		trainer_name[i++] = CH_SPACE;
	copy_name(trainer_name + i, BANK_TRAINER_GROUPS, at, 0);
	while (far_byte(BANK_TRAINER_GROUPS, at++) != CH_END)
		;
	at++;
	while ((level = far_byte(BANK_TRAINER_GROUPS, at++)) != 0xFF) {
		species = far_byte(BANK_TRAINER_GROUPS, at++);
		mon_make(&foes[count], species, level, TRAINER_DVS_HIGH, TRAINER_DVS_LOW);
		wOTPartySpecies[count] = species;
		count++;
	}
	if (count < PARTY_SIZE)
		wOTPartySpecies[count] = 0xFF;
	wOTPartyCount = count;
	wEnemyTrainerBaseReward = far_byte(BANK_TRAINER_REWARDS, ADDR_TRAINER_REWARDS + class - 1);
}

/* The first foe of a trainer that can fight, 0xFF for none. */
u8 foe_next(void)
{
	u8 i;
	for (i = 0; i < wOTPartyCount; i++)
		if (get16(foes[i].hp))
			return i;
	return 0xFF;
}

void enemy_send_out(u8 slot)
{
	/* nobody is out until all that tells of the next one is whole */
	wCurOTMon = 0xFF;
	wEnemyTurnsTaken = 0;
	neutral(wEnemyStatLevels);
	clear_bytes(wEnemySubStatus1, 5);
	*trap_of(SIDE_PLAYER) &= ~TRAPS;
	wTempEnemyMonSpecies = foes[slot].species;
	to_battle(enemy_mon, &foes[slot], SIDE_ENEMY);
	wEnemyMonCatchRate = 0;
	species_name(wEnemyMonNickname, enemy_mon->species);
	seen(enemy_mon->species);
	wCurOTMon = slot;
	wBattleParticipantsNotFainted = 1 << wCurBattleMon;
	enemy_out = 1;
	say(TX_TRAINER_SENT);
	battle_picture(SIDE_ENEMY);
}

/* The party member in battle, as it is in the party. */
void send_out(u8 slot)
{
	wCurBattleMon = slot;
	wCurPartyMon = slot;
	to_battle(player_mon, &party[slot], SIDE_PLAYER);
	nickname(wBattleMonNickname, slot);
	wBattleParticipantsNotFainted |= 1 << slot;
}

/* Another member comes out, with its message. */
void own_send_out(u8 slot)
{
	wPlayerTurnsTaken = 0;
	neutral(wPlayerStatLevels);
	clear_bytes(wPlayerSubStatus1, 5);
	*trap_of(SIDE_ENEMY) &= ~TRAPS;
	send_out(slot);
	wTempBattleMonSpecies = player_mon->species;
	wCurMoveNum = 0;
	own_out = 1;
	say(TX_GO_MON);
	battle_picture(SIDE_PLAYER);
}

u8 first_fit(void)
{
	u8 slot;
	for (slot = 0; slot < wPartyCount; slot++)
		if (get16(party[slot].hp))
			return slot;
	return 0;
}

u8 has_pp(const BattleMon *mon)
{
	u8 i;
	for (i = 0; i < 4; i++)
		if (mon->moves[i] && mon->pp[i])
			return 1;
	return 0;
}

/* How good a beginning a move without power is: 2 for an ailment or a trap that takes hold, 1 for a stat of the player's lowered. */
static u8 hinders(const u8 *move)
{
	switch (move[1]) {
	case EFFECT_SLEEP:
	case EFFECT_POISON:
	case EFFECT_PARALYZE:
		return withstands(SIDE_PLAYER, move) ? 0 : 2;
	case EFFECT_TRAP:
		return (*trap_of(SIDE_ENEMY) & TRAPS) ? 0 : 2;
	case EFFECT_ATTACK_DOWN:
	case EFFECT_DEFENSE_DOWN:
	case EFFECT_SPEED_DOWN:
	case EFFECT_ACCURACY_DOWN:
		return 1;
	}
	return 0;
}

/* A trainer's plan: one that hinders at first, then the move that hurts most; wild creatures take any. */
u8 enemy_choice(void)
{
	u8 slot, best = NO_MOVE;
	u16 value, score = 0;
	u8 row[7];
	if (!has_pp(enemy_mon))
		return NO_MOVE;
	if (wBattleMode == BATTLE_WILD || random() < 64) {
		do {
			slot = random() & 3;
		} while (!enemy_mon->moves[slot] || !enemy_mon->pp[slot]);
		return slot;
	}
	for (slot = 0; slot < 4; slot++) {
		if (!enemy_mon->moves[slot] || !enemy_mon->pp[slot])
			continue;
		load_move(row, enemy_mon->moves[slot]);
		if (row[2])
			value = full_damage(SIDE_ENEMY, row, 0);
		else
			value = wEnemyTurnsTaken || !hinders(row) ? 0 : 0xFF00 | hinders(row);
		if (best == NO_MOVE || value > score) {
			score = value;
			best = slot;
		}
	}
	return best;
}
