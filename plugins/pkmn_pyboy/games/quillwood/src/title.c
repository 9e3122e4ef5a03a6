/* The title screen and the start of a new game. */
#pragma bank 3
#include "game.h"
#include "pages.h"

#define PICTURE_CELLS 300 /* 15 rows */

static void empty_list(u8 *count)
{
	count[0] = 0;
	count[1] = 0xFF;
}

/* The state of a new game. */
static void new_game(void)
{
	copy_words(wPlayerName, TX_HERO);
	copy_words(wMomsName, TX_MOTHER);
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

/* What every game has, new or continued. */
static void options(void)
{
	wOptions = 0x01;
	wTimeOfDay = 1;
	hHours = 12;
	wGameTimerPaused = 1;
}

static u8 badges(void)
{
	u8 i, count = 0;
	for (i = 0; i < 8; i++)
		if (wJohtoBadges & (u8)(1 << i))
			count++;
	return count;
}

/* CONTINUE or NEW GAME, when there is a saved game: 1 to go on with it. START begins a new one. */
static u8 wants_to_continue(void)
{
	u8 choice;
	page_open();
	save_read();
	screen_box(1, 1, 6, 14);
	screen_words(3, 3, TX_CONTINUE_MENU);
	screen_box(8, 1, 8, 18);
	screen_text(10, 3, wPlayerName);
	screen_words(12, 3, TX_BADGES);
	screen_number(12, 11, badges(), 1);
	screen_words(14, 3, TX_TIME);
	play_time(14, 9);
	screen_push(0, 18);
	lcd_on();
	fade_in();
	wWindowStackSize = 1;
	choice = menu_run(2, 1, 3, 2, 0x20, 2, 0);
	wWindowStackSize = 0;
	fade_out();
	return choice == 0;
}

/* Nothing of the game that was looked at stays. */
static void forget(void)
{
	u8 *at = (u8 *)0xD47B;
	while (at != (u8 *)0xDFF4)
		*at++ = 0;
}

/* The picture after the last goal. */
void ending(void) __banked
{
	fade_out();
	page_open();
	screen_box(0, 0, 18, 20);
	screen_words(3, 2, TX_ENDING_1);
	screen_words(7, 2, TX_ENDING_2);
	screen_words(13, 2, TX_TIME);
	play_time(13, 8);
	screen_push(0, 18);
	lcd_on();
	fade_in();
	poll_joy();
	do {
		wait_vblank();
		poll_joy();
	} while (!(hJoyPressed & (PAD_A | PAD_B | PAD_START)));
	fade_out();
	map_show();
	fade_in();
}

void title(void) __banked
{
	lcd_off();
	font_load();
	vram_copy(0x9000, BANK_TITLE_TILES, ADDR_TITLE_TILES, 96);
	rVBK = 1;
	vram_copy(0x9000, BANK_TITLE_TILES, ADDR_TITLE_TILES + 96 * 16, 96);
	tileset_loaded = 0;
	rVBK = 0;
	palettes_load(BANK_PAL_TITLE, ADDR_PAL_TITLE);
	palettes_object_load();
	screen_clear(CH_SPACE, 7);
	far_copy(wTilemap, BANK_TITLE_NUMBERS, ADDR_TITLE_NUMBERS, PICTURE_CELLS);
	far_copy(wAttrmap, BANK_TITLE_ATTRIBUTES, ADDR_TITLE_ATTRIBUTES, PICTURE_CELLS);
	screen_words(16, 5, TX_PRESS_START);
	screen_push(0, 18);
	lcd_on();
	fade_in();
	poll_joy();
	do {
		wait_vblank();
		poll_joy();
	} while (!(hJoyPressed & (PAD_A | PAD_START)));
	fade_out();
	if (save_there()) {
		if (wants_to_continue()) {
			options();
			return;
		}
		forget();
	}
	new_game();
	options();
}
