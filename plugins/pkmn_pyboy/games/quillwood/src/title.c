/* The title screen and the start of a new game. */
#pragma bank 3
#include "game.h"

#define PICTURE_CELLS 300 /* 15 rows */

static const u8 word_press[] = {0x8F, 0x91, 0x84, 0x92, 0x92, 0x7F, 0x92, 0x93, 0x80, 0x91, 0x93, CH_END};
static const u8 word_hero[] = {0x96, 0x91, 0x84, 0x8D, CH_END};
static const u8 word_mother[] = {0x8C, 0x8E, 0x8C, CH_END};

static void copy(u8 *to, const u8 *from)
{
	do {
		*to++ = *from;
	} while (*from++ != CH_END);
}

static void empty_list(u8 *count)
{
	count[0] = 0;
	count[1] = 0xFF;
}

/* The state of a new game. */
static void new_game(void)
{
	copy(wPlayerName, word_hero);
	copy(wMomsName, word_mother);
	wPlayerID[0] = random();
	wPlayerID[1] = random();
	wSecretID[0] = random();
	wSecretID[1] = random();
	wMoney[1] = 3000 >> 8;
	wMoney[2] = (u8)3000;
	empty_list(&wPartyCount);
	empty_list(&wNumItems);
	empty_list(&wNumKeyItems);
	empty_list(&wNumBalls);
	empty_list(&wNumPCItems);
	wOptions = 0x01;
	wTimeOfDay = 1;
	hHours = 12;
	wGameTimerPaused = 1;
	wGameTimeHours[0] = wGameTimeHours[1] = 0;
	wGameTimeMinutes = 0;
	wGameTimeSeconds = 0;
	wGameTimeFrames = 0;
	wMapGroup = MAP_HOME_2F_GROUP;
	wMapNumber = MAP_HOME_2F_NUMBER;
	wXCoord = 3;
	wYCoord = 3;
	wLastSpawnMapGroup = MAP_HOME_2F_GROUP;
	wLastSpawnMapNumber = MAP_HOME_2F_NUMBER;
	player.walking = 0xFF;
	flag_set(FLAG_GAME_STARTED);
}

void title(void) __banked
{
	u8 i;
	lcd_off();
	font_load();
	vram_copy(0x9000, BANK_TITLE_TILES, ADDR_TITLE_TILES, 96);
	rVBK = 1;
	vram_copy(0x9000, BANK_TITLE_TILES, ADDR_TITLE_TILES + 96 * 16, 96);
	rVBK = 0;
	palettes_load(BANK_PAL_TITLE, ADDR_PAL_TITLE);
	palettes_object_load();
	screen_clear(CH_SPACE, 7);
	far_copy(wTilemap, BANK_TITLE_NUMBERS, ADDR_TITLE_NUMBERS, PICTURE_CELLS);
	far_copy(wAttrmap, BANK_TITLE_ATTRIBUTES, ADDR_TITLE_ATTRIBUTES, PICTURE_CELLS);
	screen_text(16, 5, word_press);
	screen_push(0, 18);
	lcd_on();
	fade_in();
	poll_joy();
	for (i = 0;; i++) {
		wait_vblank();
		poll_joy();
		if (hJoyPressed & (PAD_A | PAD_START))
			break;
	}
	fade_out();
	new_game();
}
