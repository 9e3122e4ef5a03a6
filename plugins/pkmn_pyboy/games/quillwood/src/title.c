/* The title screen and the start of a new game. */
#pragma bank 3
#include "game.h"
#include "pages.h"

#define PICTURE_CELLS 300 /* 15 rows */
#define OWN_NAMES 3
#define CREDITS_PAGES 5
#define CREDITS_FRAMES 96 /* of each page */
/* before the door of the house where the game began */
#define HOME_X 4
#define HOME_Y 5

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
	copy_words(wRivalName, TX_RIVAL);
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
	wStartHour = NOON;
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
	clock_read();
	wGameTimerPaused = 1;
}

enum { WANTS_OLD, WANTS_NEW, WANTS_TITLE };

static void forget(void);

/* Whose game it is, with badges and play time, until A confirms it: 0 for B. The map is that of the saved game already,
 * but it does not run yet. */
static u8 confirmed(void)
{
	page_open();
	save_read();
	screen_box(8, 4, 10, 16);
	screen_text(10, 5, wPlayerName);
	screen_words(12, 5, TX_BADGES);
	screen_number(12, 18, badge_count(), 1);
	screen_words(14, 5, TX_TIME);
	play_time(14, 13);
	wWindowStackSize++;
	screen_push(0, 18);
	lcd_on();
	fade_in();
	poll_joy();
	do {
		wait_vblank();
		poll_joy();
	} while (!(hJoyPressed & (PAD_A | PAD_B)));
	wWindowStackSize--;
	fade_out();
	if (hJoyPressed & PAD_A)
		return 1;
	forget();
	return 0;
}

/* CONTINUE or NEW GAME, when there is a saved game. START begins a new one, B leads back to the title. */
static u8 old_or_new(void)
{
	u8 choice;
	do {
		page_open();
		screen_box(0, 0, 6, 14);
		screen_words(2, 2, TX_CONTINUE_MENU);
		screen_push(0, 18);
		lcd_on();
		fade_in();
		wWindowStackSize++;
		choice = menu_run(2, 1, 2, 1, 0x20, 2, 0);
		wWindowStackSize--;
		fade_out();
		if (choice == MENU_CANCEL)
			return wMenuJoypad == PAD_B ? WANTS_TITLE : WANTS_NEW;
	} while (choice == 0 && !confirmed());
	return choice == 0 ? WANTS_OLD : WANTS_NEW;
}

/* The player's name: one of some, or one spelled on the page of letters. START takes the usual one. */
static void ask_name(void)
{
	u8 choice;
	page_open();
	screen_box(0, 0, 2 * OWN_NAMES + 4, 12);
	screen_words(2, 2, TX_OWN_NAMES);
	message_box();
	screen_push(0, 18);
	lcd_on();
	fade_in();
	message_more(TX_ASK_NAME);
	wWindowStackSize++;
	choice = menu_run(OWN_NAMES + 1, 1, 2, 1, 0x20, 2, 0);
	wWindowStackSize--;
	fade_out();
	if (choice == 0)
		naming(wPlayerName, 0, NAME_LENGTH);
	else if (choice != MENU_CANCEL)
		copy_words(wPlayerName, TX_HERO + choice - 1);
}

/* Nothing of the game that was looked at stays. */
static void forget(void)
{
	u8 *at = (u8 *)0xD47B;
	while (at != (u8 *)0xDFF4)
		*at++ = 0;
}

/* After the last goal: the game is saved, the credits roll by themselves, and the console starts anew. */
void ending(void) __banked
{
	u8 page;
	wSpawnAfterChampion = 1;
	save_write();
	fade_out();
	for (page = 0; page < CREDITS_PAGES; page++) {
		page_open();
		screen_words(6, 2, TX_CREDITS_1 + page);
		if (page == CREDITS_PAGES - 1) {
			screen_words(12, 2, TX_TIME);
			play_time(12, 8);
		}
		screen_push(0, 18);
		lcd_on();
		fade_in();
		wait_frames(CREDITS_FRAMES);
		fade_out();
	}
	reset_asm();
}

/* Whoever has won goes on at home, wherever the game was saved. */
static void go_home(void)
{
	if (!wSpawnAfterChampion)
		return;
	wSpawnAfterChampion = 0;
	wMapGroup = MAP_ALDERBROOK_GROUP;
	wMapNumber = MAP_ALDERBROOK_NUMBER;
	wXCoord = HOME_X;
	wYCoord = HOME_Y;
	player.direction = DIR_DOWN;
}

static void picture(void)
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
}

void title(void) __banked
{
	u8 wanted = WANTS_NEW;
	do {
		picture();
		if (save_there()) {
			wanted = old_or_new();
			if (wanted != WANTS_OLD)
				forget();
		}
	} while (wanted == WANTS_TITLE);
	if (wanted == WANTS_NEW) {
		new_game();
		ask_name();
	} else
		go_home();
	options();
}
