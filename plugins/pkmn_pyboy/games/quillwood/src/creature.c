/* Party members: making them, their stats, experience and moves. */
#pragma bank 2
#include "game.h"
#include "battle.h"

/* The four attribute values of a creature: attack, defense, speed, special. */
static u8 dv_of(const u8 *dvs, u8 which)
{
	u8 pair = dvs[which >> 1];
	return (which & 1) ? pair & 15 : pair >> 4;
}

static u16 stat_of(u8 base, u8 dv, u8 level, u8 plus)
{
	return (u16)(((u16)base + dv) * 2 * level) / 100 + plus;
}

/* The stats of a species at a level; base_data must be its row. */
void make_stats(u8 *max_hp, u8 *stats, const u8 *dvs, u8 level)
{
	static const u8 which[5] = {0, 1, 2, 3, 3};
	u8 i;
	u8 hp_dv = (dv_of(dvs, 0) & 1) << 3 | (dv_of(dvs, 1) & 1) << 2 | (dv_of(dvs, 2) & 1) << 1 | (dv_of(dvs, 3) & 1);
	put16(max_hp, stat_of(base_data[1], hp_dv, level, level + 10));
	for (i = 0; i < 5; i++)
		put16(stats + i * 2, stat_of(base_data[2 + i], dv_of(dvs, which[i]), level, 5));
}

/* Where the level-up moves of a species begin, behind its evolutions (three bytes each, then 0). */
static u16 moves_of(u8 species)
{
	u16 at = far_word(BANK_EVOS_ATTACKS, ADDR_EVOS_ATTACKS + (u16)(species - 1) * 2);
	while (far_byte(BANK_EVOS_ATTACKS, at))
		at += 3;
	return at + 1;
}

/* The last four moves that a species knows at a level. */
void make_moves(u8 *moves, u8 *pp, u8 species, u8 level)
{
	u8 row[7];
	u8 i, count = 0, move;
	u16 at = moves_of(species);
	for (i = 0; i < 4; i++) {
		moves[i] = 0;
		pp[i] = 0;
	}
	while ((i = far_byte(BANK_EVOS_ATTACKS, at))) {
		if (i > level)
			break;
		move = far_byte(BANK_EVOS_ATTACKS, at + 1);
		at += 2;
		for (i = 0; i < count; i++)
			if (moves[i] == move)
				break;
		if (i < count)
			continue;
		if (count == 4) {
			for (i = 0; i < 3; i++)
				moves[i] = moves[i + 1];
			count = 3;
		}
		moves[count++] = move;
	}
	for (i = 0; i < count; i++) {
		load_move(row, moves[i]);
		pp[i] = row[5];
	}
}

/* The move learned at exactly a level, 0 for none. */
u8 move_at_level(u8 species, u8 level)
{
	u8 at_level;
	u16 at = moves_of(species);
	while ((at_level = far_byte(BANK_EVOS_ATTACKS, at))) {
		if (at_level == level)
			return far_byte(BANK_EVOS_ATTACKS, at + 1);
		at += 2;
	}
	return 0;
}

/* What a species becomes at a level, 0 for nothing. */
u8 evolution(u8 species, u8 level)
{
	u16 at = far_word(BANK_EVOS_ATTACKS, ADDR_EVOS_ATTACKS + (u16)(species - 1) * 2);
	if (!far_byte(BANK_EVOS_ATTACKS, at) || level < far_byte(BANK_EVOS_ATTACKS, at + 1))
		return 0;
	return far_byte(BANK_EVOS_ATTACKS, at + 2);
}

/* Experience that a level takes: the cube of the level, by the species' rate of growth a fifth less or a quarter more. */
u32 exp_for_level(u8 species, u8 level)
{
	u32 cube = (u32)((u16)level * level) * level;
	u8 growth = far_byte(BANK_BASE_DATA, ADDR_BASE_DATA + (u16)(species - 1) * 32 + 22);
	if (growth == GROWTH_FAST)
		return cube * 4 / 5;
	if (growth == GROWTH_SLOW)
		return cube * 5 / 4;
	return cube;
}

u32 exp_get(const u8 *at)
{
	return (u32)at[0] << 16 | (u16)at[1] << 8 | at[2];
}

void exp_put(u8 *at, u32 value)
{
	at[0] = value >> 16;
	at[1] = value >> 8;
	at[2] = value;
}

void seen(u8 species)
{
	wPokedexSeen[(species - 1) >> 3] |= 1 << ((species - 1) & 7);
}

void caught(u8 species)
{
	wPokedexCaught[(species - 1) >> 3] |= 1 << ((species - 1) & 7);
	seen(species);
}

/* A creature as new, with these attribute values. */
void mon_make(PartyMon *mon, u8 species, u8 level, u8 dvs_high, u8 dvs_low)
{
	u8 i;
	u8 *bytes = (u8 *)mon;
	for (i = 0; i < sizeof(PartyMon); i++)
		bytes[i] = 0;
	load_base(species);
	mon->species = species;
	exp_put(mon->exp, exp_for_level(species, level));
	mon->dvs[0] = dvs_high;
	mon->dvs[1] = dvs_low;
	mon->happiness = 70;
	mon->level = level;
	make_moves(mon->moves, mon->pp, species, level);
	make_stats(mon->max_hp, mon->stats, mon->dvs, level);
	put16(mon->hp, get16(mon->max_hp));
}

/* What a new party member has beside its own values. */
void party_join(u8 slot)
{
	u8 i;
	PartyMon *mon = &party[slot];
	mon->ot_id[0] = wPlayerID[0];
	mon->ot_id[1] = wPlayerID[1];
	mon->caught[0] = 0x80 | mon->level;
	mon->caught[1] = wCurLandmark;
	species_name(wPartyMonNicknames + slot * 11, mon->species);
	for (i = 0; i < 11; i++)
		wPartyMonOTs[slot * 11 + i] = wPlayerName[i];
	wPartySpecies[slot] = mon->species;
	wPartySpecies[slot + 1] = 0xFF;
	wPartyCount = slot + 1;
	caught(mon->species);
}

void party_give(u8 species, u8 level) __banked
{
	u8 slot = wPartyCount, high;
	if (slot == PARTY_SIZE)
		return;
	high = random();
	mon_make(&party[slot], species, level, high, random());
	party_join(slot);
}

/* The stats of a member whose level or species has changed; the hit points grow with the most there are. */
void party_grow(u8 slot)
{
	PartyMon *mon = &party[slot];
	u16 before = get16(mon->max_hp);
	load_base(mon->species);
	make_stats(mon->max_hp, mon->stats, mon->dvs, mon->level);
	put16(mon->hp, get16(mon->hp) + get16(mon->max_hp) - before);
}

void party_heal(void) __banked
{
	u8 slot, i;
	u8 row[7];
	for (slot = 0; slot < wPartyCount; slot++) {
		PartyMon *mon = &party[slot];
		put16(mon->hp, get16(mon->max_hp));
		mon->status = 0;
		for (i = 0; i < 4; i++) {
			if (!mon->moves[i])
				continue;
			load_move(row, mon->moves[i]);
			mon->pp[i] = row[5];
		}
	}
}

/* How many members can fight. */
u8 party_fit(void) __banked
{
	u8 slot, count = 0;
	for (slot = 0; slot < wPartyCount; slot++)
		if (get16(party[slot].hp))
			count++;
	return count;
}
