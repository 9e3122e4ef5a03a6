/* Saving to the cartridge's memory, laid out as in memory bank 1 of Crystal's. */
#pragma bank 3
#include "game.h"
#include "pages.h"

#define rRAMG (*(volatile u8 *)0x0000)
#define rRAMB (*(volatile u8 *)0x4000)
#define RAM_ON 0x0A
#define SAVED_FROM ((u8 *)0xD47B)
#define SAVED_BYTES 0x0B79
#define sCheckValue1 (*(volatile u8 *)0xA008)
#define sGameData ((u8 *)0xA009)
#define sChecksum ((u8 *)0xAD0D)
#define sCheckValue2 (*(volatile u8 *)0xAD0F)
#define CHECK_1 99
#define CHECK_2 127

static void ram_on(void)
{
	rRAMG = RAM_ON;
	rRAMB = 1;
}

static void ram_off(void)
{
	rRAMB = 0;
	rRAMG = 0;
}

static u16 sum(void)
{
	u16 total = 0, left = SAVED_BYTES;
	u8 *at = sGameData;
	while (left--)
		total += *at++;
	return total;
}

/* Whether the cartridge holds a whole saved game. */
u8 save_there(void) __banked
{
	u8 whole;
	u16 total;
	ram_on();
	whole = sCheckValue1 == CHECK_1 && sCheckValue2 == CHECK_2;
	if (whole) {
		total = sum();
		whole = sChecksum[0] == (u8)total && sChecksum[1] == (u8)(total >> 8);
	}
	ram_off();
	return whole;
}

/* Whether the cartridge holds the game of somebody else. */
u8 save_of_another(void) __banked
{
	u8 another = save_there();
	ram_on();
	another = another && (sGameData[0] != wPlayerID[0] || sGameData[1] != wPlayerID[1]);
	ram_off();
	return another;
}

void save_write(void) __banked
{
	u8 *from = SAVED_FROM, *to = sGameData;
	u16 left = SAVED_BYTES, total;
	wSaveFileExists = 1;
	wSavedAtLeastOnce = 1;
	ram_on();
	sCheckValue1 = 0;
	while (left--)
		*to++ = *from++;
	total = sum();
	sChecksum[0] = (u8)total;
	sChecksum[1] = (u8)(total >> 8);
	sCheckValue2 = CHECK_2;
	sCheckValue1 = CHECK_1;
	ram_off();
}

void save_read(void) __banked
{
	u8 *from = sGameData, *to = SAVED_FROM;
	u16 left = SAVED_BYTES;
	ram_on();
	while (left--)
		*to++ = *from++;
	ram_off();
	wSaveFileExists = 1;
}
