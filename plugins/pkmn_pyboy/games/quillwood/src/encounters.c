/* What happens on the way: wild creatures, poison, and being carried to the healer. */
#pragma bank 1
#include "game.h"
#include "walking.h"

#define ENVIRONMENT_CAVE 4
#define POISON_STEPS 4

static u8 wild_group, wild_number, wild_width;
static u16 wild_at;

void blackout(void)
{
	u8 i, row[4];
	wScriptRunning = RUN_BLACKOUT;
	wMapStatus = 1;
	battle_lost = 0;
	wPlayerState = STATE_WALKING;
	money_put(money_get() >> 1);
	party_heal();
	for (i = 0; i < NUM_SPAWNS; i++) {
		far_copy(row, BANK_SPAWN_POINTS, ADDR_SPAWN_POINTS + i * 4, 4);
		if (row[0] == wLastSpawnMapGroup && row[1] == wLastSpawnMapNumber)
			break;
	}
	if (i == NUM_SPAWNS)
		far_copy(row, BANK_SPAWN_POINTS, ADDR_SPAWN_POINTS, 4);
	wMapGroup = row[0];
	wMapNumber = row[1];
	wXCoord = row[2];
	wYCoord = row[3];
	player.direction = 0;
	arrive();
	wMapStatus = 2;
	wScriptRunning = 0;
	wScriptMode = 0;
	last_tick = hVBlankCounter;
}

/* The row of the map's wild creatures in a table with rows so wide, 0 for none; looked for once a map and table. */
static u16 wild_row(u16 table, u8 width)
{
	u8 group;
	if (wild_group == wMapGroup && wild_number == wMapNumber && wild_width == width)
		return wild_at;
	wild_group = wMapGroup;
	wild_number = wMapNumber;
	wild_width = width;
	while ((group = far_byte(BANK_WILD_GRASS, table)) != wMapGroup || far_byte(BANK_WILD_GRASS, table + 1) != wMapNumber) {
		if (group == 0xFF)
			return wild_at = 0;
		table += width;
	}
	return wild_at = table;
}

/* Tall grass, the floor of a cave, or water: perhaps a wild creature. Both tables lie in one bank. */
u8 encounter(void)
{
	u16 at = ADDR_WILD_GRASS;
	u8 slot, roll, width = 47, rate_at = 2 + wTimeOfDay, slots_at = 5 + 14 * wTimeOfDay;
	static const u8 odds[7] = {30, 60, 80, 90, 95, 99, 100};
	static const u8 water_odds[3] = {60, 90, 100};
	const u8 *chance = odds;
	if (wWildEncounterCooldown || !wPartyCount)
		return 0;
	if (wPlayerState == STATE_SURFING) {
		at = ADDR_WILD_WATER;
		width = 9;
		rate_at = 2;
		slots_at = 3;
		chance = water_odds;
	} else if (player.tile_collision != 0x18 && (player.tile_collision || wEnvironment != ENVIRONMENT_CAVE)) {
		return 0;
	}
	at = wild_row(at, width);
	/* the rate by the time of day, or the only one */
	if (!at || random() >= far_byte(BANK_WILD_GRASS, at + rate_at))
		return 0;
	roll = random_below(100);
	for (slot = 0; roll >= chance[slot]; slot++)
		;
	at += slots_at + slot * 2;
	at_rest();
	wScriptRunning = RUN_SCRIPT;
	wScriptMode = 1;
	wWildEncounterCooldown = 3;
	battle_wild(far_byte(BANK_WILD_GRASS, at + 1), far_byte(BANK_WILD_GRASS, at));
	if (wBattleResult == RESULT_LOSS) {
		blackout();
	} else {
		map_show();
		fade_in();
		wScriptRunning = 0;
		wScriptMode = 0;
		last_tick = hVBlankCounter;
	}
	return 1;
}

/* Words on the way, with control taken. */
static void tell(u16 id)
{
	at_rest();
	continuing = 0;
	wScriptRunning = RUN_SCRIPT;
	wScriptMode = 1;
	script_say(id);
}

/* Every few steps poison takes one point: 1 when somebody fell, POISON_TOOK_ALL when nobody can walk on. */
u8 field_poison(void)
{
	u8 i, hurt = 0, fell = 0;
	wPoisonStepCount++;
	if (wPoisonStepCount < POISON_STEPS)
		return 0;
	wPoisonStepCount = 0;
	for (i = 0; i < wPartyCount; i++) {
		u16 hp = get16(party[i].hp);
		if (!hp || !(party[i].status & STATUS_POISON))
			continue;
		if (!hurt)
			palettes_flash();
		hurt = 1;
		put16(party[i].hp, hp - 1);
		if (hp == 1) {
			party[i].status = 0;
			nickname(name_buffer, i);
			tell(TX_FELL_ON_WAY);
			fell = 1;
		}
	}
	if (!fell)
		return 0;
	if (!party_fit()) {
		script_say(TX_BLACKOUT);
		fell = POISON_TOOK_ALL;
	}
	window_close();
	if (fell == POISON_TOOK_ALL) {
		fade_out();
		return fell;
	}
	wScriptRunning = 0;
	wScriptMode = 0;
	last_tick = hVBlankCounter;
	return fell;
}
