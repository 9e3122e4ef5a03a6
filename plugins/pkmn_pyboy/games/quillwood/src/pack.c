/* The pack: four pockets, and using what is in them. */
#pragma bank 3
#include "game.h"
#include "pages.h"

#define LIST_ROW 4
#define VISIBLE 4

static u8 pocket;

static void draw_entry(u8 entry, u8 row)
{
	u8 name[16];
	item_name(name, pocket_item(pocket, entry));
	screen_text(row, 3, name);
	if (pocket < POCKET_KEY) {
		screen_put(row, 16, 0xF1);
		screen_number(row, 17, pocket_amount(pocket, entry), 2);
	}
}

static void draw_page(void)
{
	page_open();
	screen_box(0, 0, 3, 20);
	screen_box(3, 0, 10, 20);
	screen_box(13, 0, 5, 20);
	screen_words(15, 2, TX_PACK_HELP);
	screen_words(1, 7, TX_POCKET_ITEMS + pocket);
	screen_push(0, 18);
	lcd_on();
	fade_in();
}

static void remark(u16 id)
{
	message_open(id);
	prompt();
	fade_out();
}

/* Uses a thing on a member that the player chooses; 1 when it is used. */
static u8 use_on_member(u8 item)
{
	u8 slot, used;
	fade_out();
	slot = party_menu(TX_USE_ON, 1, 0);
	if (slot == MENU_CANCEL) {
		fade_out();
		return 0;
	}
	used = item_use_on(item, slot);
	nickname(name_buffer, slot);
	remark(used ? TX_ITEM_HELPED : TX_NO_EFFECT);
	return used;
}

/* The page of the pack. In battle it gives the thing that was used or is to be thrown, else 0. */
u8 pack_page(u8 in_battle) __banked
{
	u8 choice, item;
	list_at = wItemsPocketCursor;
	list_top = 0;
	if (pocket > POCKET_LESSONS)
		pocket = POCKET_ITEMS;
	for (;;) {
		draw_page();
		wCurPocket = pocket;
		choice = list_run(pocket_count(pocket), LIST_ROW, 1, VISIBLE, 18, draw_entry, 1);
		if (choice == LIST_LEFT || choice == LIST_RIGHT) {
			pocket = choice == LIST_RIGHT ? (pocket == POCKET_LESSONS ? 0 : pocket + 1) : pocket ? pocket - 1 : POCKET_LESSONS;
			list_at = list_top = 0;
			continue;
		}
		if (choice == MENU_CANCEL)
			break;
		wItemsPocketCursor = list_at;
		wItemsPocketScrollPosition = list_top;
		item = pocket_item(pocket, choice);
		switch (item_kind(item)) {
		case ITEM_BALL:
			if (!in_battle) {
				remark(TX_NOT_HERE);
			} else if (wBattleMode == BATTLE_TRAINER) {
				remark(TX_NOT_YOURS);
			} else if (wPartyCount == PARTY_SIZE) {
				remark(TX_PARTY_FULL);
			} else {
				fade_out();
				return item;
			}
			break;
		case ITEM_HEAL:
		case ITEM_CURE:
		case ITEM_REVIVE:
			if (!wPartyCount)
				remark(TX_NO_PARTNER);
			else if (use_on_member(item) && in_battle)
				return item;
			break;
		case ITEM_LESSON:
			if (in_battle)
				remark(TX_NOT_HERE);
			else
				lesson_use(item);
			break;
		default:
			remark(TX_NOT_HERE);
		}
	}
	fade_out();
	return 0;
}
