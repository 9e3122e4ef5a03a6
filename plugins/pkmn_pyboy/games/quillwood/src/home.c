/* Banks, random numbers, buttons, story flags: what every other file uses. */
#include "game.h"

void set_bank(u8 bank)
{
	hROMBank = bank;
	rROMB0 = bank;
}

void wait_frames(u8 frames)
{
	while (frames--)
		wait_vblank();
}

/* Tiles from ROM to video memory by DMA; call it in VBlank (at most 64 tiles) or with the screen off. */
void vram_copy(u16 to, u8 bank, u16 from, u8 tiles)
{
	u8 old = hROMBank;
	set_bank(bank);
	/* DMA takes multiples of 16 only, so the rest of an odd address is copied by hand */
	if (from & 15) {
		u8 *target = (u8 *)to;
		const u8 *source = (const u8 *)from;
		u16 count = (u16)tiles << 4;
		while (count--)
			*target++ = *source++;
	} else {
		rHDMA1 = from >> 8;
		rHDMA2 = (u8)from;
		rHDMA3 = to >> 8;
		rHDMA4 = (u8)to;
		rHDMA5 = tiles - 1;
	}
	set_bank(old);
}

/* The same, whether the screen is on or off: one VBlank for each call. */
void vram_show(u16 to, u8 bank, u16 from, u8 tiles)
{
	vram_wait();
	vram_copy(to, bank, from, tiles);
}

/* The next row of the type chart for an attacking type, 0 behind the last. */
u16 matchup_next(u16 at, u8 type)
{
	const u8 *row = (const u8 *)at;
	rROMB0 = BANK_TYPE_MATCHUPS;
	while (*row != type && *row < 0xFE)
		row += 3;
	at = *row == type ? (u16)row : 0;
	rROMB0 = hROMBank;
	return at;
}

u8 random(void)
{
	hRandomAdd += rDIV;
	hRandomSub ^= hRandomAdd;
	hRandomSub += 0x9D;
	return hRandomAdd ^ hRandomSub;
}

/* A random number below limit, each as likely as the next. */
u8 random_below(u8 limit)
{
	return (u8)(((u16)random() * limit) >> 8);
}

/* What a collision value lets the player do: 0 is land. */
u8 permission(u8 collision)
{
	return far_byte(BANK_COLLISION_PERMISSION_TABLE, ADDR_COLLISION_PERMISSION_TABLE + collision);
}

void flag_set(u16 flag)
{
	wEventFlags[flag >> 3] |= 1 << (flag & 7);
}

void flag_clear(u16 flag)
{
	wEventFlags[flag >> 3] &= ~(1 << (flag & 7));
}

u8 flag_get(u16 flag)
{
	return wEventFlags[flag >> 3] & (u8)(1 << (flag & 7));
}

u16 get16(const u8 *at)
{
	return (u16)at[0] << 8 | at[1];
}

void put16(u8 *at, u16 value)
{
	at[0] = value >> 8;
	at[1] = (u8)value;
}

/* The row of a species to base_data. */
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

void item_name(u8 *to, u8 item)
{
	copy_name(to, BANK_ITEM_NAMES, ADDR_ITEM_NAMES, item - 1);
}

void copy_string(u8 *to, const u8 *from)
{
	u8 left = 23;
	while (*from != CH_END && left--)
		*to++ = *from++;
	*to = CH_END;
}

/* The name of a party member. */
void nickname(u8 *to, u8 slot)
{
	copy_string(to, wPartyMonNicknames + slot * 11);
}

/* The first member that knows a move, PARTY_SIZE for none. */
u8 party_knower(u8 move)
{
	u8 slot, i;
	for (slot = 0; slot < wPartyCount; slot++)
		for (i = 0; i < 4; i++)
			if (party[slot].moves[i] == move)
				return slot;
	return PARTY_SIZE;
}

/* The clock stands at the hour that is saved, until a script sets another. */
void clock_read(void)
{
	hHours = wStartHour;
	wTimeOfDay = hHours < 4 || hHours >= 18 ? NIGHT : hHours < 10 ? MORNING : DAY;
}

u32 money_get(void)
{
	return (u32)wMoney[0] << 16 | (u16)wMoney[1] << 8 | wMoney[2];
}

void money_put(u32 value)
{
	if (value > 999999)
		value = 999999;
	wMoney[0] = value >> 16;
	wMoney[1] = value >> 8;
	wMoney[2] = (u8)value;
}

void main(void)
{
	title();
	overworld();
}
