/* Party members: making them, their stats, experience and moves. */
#pragma bank 2
#include "game.h"
#include "battle.h"

u8 base_data[32];

void load_base(u8 species)
{
	far_copy(base_data, BANK_BASE_DATA, ADDR_BASE_DATA + (u16)(species - 1) * 32, 32);
}

void load_move(u8 *to, u8 move)
{
	far_copy(to, BANK_MOVES, ADDR_MOVES + (u16)(move - 1) * 7, 7);
}

void species_name(u8 *to, u8 species)
{
	far_copy(to, BANK_POKEMON_NAMES, ADDR_POKEMON_NAMES + (u16)(species - 1) * 10, 10);
	to[10] = CH_END;
}

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

/* The last four moves that a species knows at a level. */
void make_moves(u8 *moves, u8 *pp, u8 species, u8 level)
{
	u8 row[7];
	u8 i, count = 0, move;
	u16 at = far_word(BANK_EVOS_ATTACKS, ADDR_EVOS_ATTACKS + (u16)(species - 1) * 2) + 1;
	for (i = 0; i < 4; i++) {
		moves[i] = 0;
		pp[i] = 0;
	}
	while ((i = far_byte(BANK_EVOS_ATTACKS, at))) {
		if (i > level)
			break;
		move = far_byte(BANK_EVOS_ATTACKS, at + 1);
		at += 2;
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
	u16 at = far_word(BANK_EVOS_ATTACKS, ADDR_EVOS_ATTACKS + (u16)(species - 1) * 2) + 1;
	while ((at_level = far_byte(BANK_EVOS_ATTACKS, at))) {
		if (at_level == level)
			return far_byte(BANK_EVOS_ATTACKS, at + 1);
		at += 2;
	}
	return 0;
}

u32 exp_for_level(u8 level)
{
	return (u32)((u16)level * level) * level;
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

void party_give(u8 species, u8 level) __banked
{
	u8 slot = wPartyCount, i;
	PartyMon *mon = &party[slot];
	u8 *bytes = (u8 *)mon;
	if (slot == 6)
		return;
	for (i = 0; i < sizeof(PartyMon); i++)
		bytes[i] = 0;
	load_base(species);
	mon->species = species;
	mon->ot_id[0] = wPlayerID[0];
	mon->ot_id[1] = wPlayerID[1];
	exp_put(mon->exp, exp_for_level(level));
	mon->dvs[0] = random();
	mon->dvs[1] = random();
	mon->happiness = 70;
	mon->caught[0] = 0x80 | level;
	mon->caught[1] = wCurLandmark;
	mon->level = level;
	make_moves(mon->moves, mon->pp, species, level);
	make_stats(mon->max_hp, mon->stats, mon->dvs, level);
	put16(mon->hp, get16(mon->max_hp));
	species_name(wPartyMonNicknames + slot * 11, species);
	for (i = 0; i < 11; i++)
		wPartyMonOTs[slot * 11 + i] = wPlayerName[i];
	wPartySpecies[slot] = species;
	wPartySpecies[slot + 1] = 0xFF;
	wPartyCount = slot + 1;
	wPokedexCaught[(species - 1) >> 3] |= 1 << ((species - 1) & 7);
	seen(species);
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
