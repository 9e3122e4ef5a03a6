/* Pages about the player: the card, and the guide of the creatures seen and caught. */
#pragma bank 3
#include "game.h"
#include "pages.h"

#define BADGES 3
#define LIST_ROW 4
#define VISIBLE 6
#define GUIDE_CAUGHT 0xF1 /* the mark of a caught one */

u8 badge_count(void)
{
	u8 i, count = 0;
	for (i = 0; i < 8; i++)
		if (wJohtoBadges & (u8)(1 << i))
			count++;
	return count;
}

/* How many species stand in a list of bits. */
u16 species_count(const u8 *bits)
{
	u8 i;
	u16 count = 0;
	for (i = 0; i < NUM_SPECIES; i++)
		if (bits[i >> 3] & (u8)(1 << (i & 7)))
			count++;
	return count;
}

/* Name, number, money, time, badges, creatures. */
void card_page(void)
{
	u8 i;
	page_open();
	screen_box(0, 0, 18, 20);
	screen_text(2, 2, wPlayerName);
	screen_words(2, 11, TX_CARD_NUMBER);
	screen_number(2, 14, get16(wPlayerID), 5);
	screen_words(4, 2, TX_CARD_MONEY);
	screen_put(4, 11, 0xF0);
	screen_number(4, 12, money_get(), 6);
	screen_words(6, 2, TX_TIME);
	play_time(6, 12);
	screen_words(8, 2, TX_BADGES);
	screen_number(8, 17, badge_count(), 1);
	for (i = 0; i < BADGES; i++)
		if (wJohtoBadges & (u8)(1 << i))
			screen_words(10, 2 + i * 6, TX_CARD_BADGE_0 + i);
	screen_words(12, 2, TX_CARD_SEEN);
	screen_number(12, 15, species_count(wPokedexSeen), 3);
	screen_number(14, 15, species_count(wPokedexCaught), 3);
	screen_push(0, 18);
	lcd_on();
	fade_in();
	wWindowStackSize++;
	wait_for_button();
	wWindowStackSize--;
	fade_out();
}

static void draw_species(u8 entry, u8 row)
{
	u8 name[16], bit = 1 << (entry & 7);
	screen_number(row, 2, entry + 1, 2);
	if (!(wPokedexSeen[entry >> 3] & bit)) {
		screen_words(row, 6, TX_GUIDE_UNSEEN);
		return;
	}
	species_name(name, entry + 1);
	screen_text(row, 6, name);
	if (wPokedexCaught[entry >> 3] & bit)
		screen_put(row, 17, GUIDE_CAUGHT);
}

/* All species by number: those seen by name, those caught with a mark. */
void guide_page(void)
{
	page_open();
	screen_box(0, 0, 3, 20);
	screen_words(1, 2, TX_GUIDE_SEEN);
	screen_number(1, 7, species_count(wPokedexSeen), 2);
	screen_words(1, 11, TX_GUIDE_CAUGHT);
	screen_number(1, 16, species_count(wPokedexCaught), 2);
	screen_box(3, 0, 15, 20);
	screen_push(0, 18);
	lcd_on();
	fade_in();
	list_at = list_top = 0;
	while (list_run(NUM_SPECIES, LIST_ROW + 1, 1, VISIBLE, 18, draw_species, 0) != MENU_CANCEL)
		;
	fade_out();
}
