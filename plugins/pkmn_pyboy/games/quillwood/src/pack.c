/* The pack: four pockets, and using what is in them. The page stands empty for a while before its list comes. */
#pragma bank 3
#include "game.h"
#include "pages.h"

#define LIST_ROW 2
#define LIST_COL 7
#define LIST_WIDTH 13
#define VISIBLE 5

static u8 pocket;

/* A name in one row, the amount in the next: the longest name ends at the edge of the screen. */
static void draw_entry(u8 entry, u8 row)
{
	u8 name[16];
	item_name(name, pocket_item(pocket, entry));
	screen_text(row, LIST_COL + 1, name);
	if (pocket < POCKET_KEY) {
		screen_put(row + 1, 16, 0xF1);
		screen_number(row + 1, 17, pocket_amount(pocket, entry), 2);
	}
}

/* The message box tells what the thing under the cursor is for. */
static void draw_note(u8 entry)
{
	message_box();
	if (entry < pocket_count(pocket))
		screen_words(14, 1, TX_ABOUT_NONE + item_kind(pocket_item(pocket, entry)));
	screen_push(12, 6);
}

static void draw_pocket(void)
{
	screen_fill(1, 0, 1, LIST_COL, CH_SPACE, ATTR_TEXT);
	screen_words(1, 0, TX_POCKET_ITEMS + pocket);
	screen_push(1, 1);
}

static void draw_page(void)
{
	page_open();
	screen_words(1, 0, TX_POCKET_ITEMS + pocket);
	screen_box(3, 0, 6, 6);
	message_box();
	screen_push(0, 18);
	lcd_on();
	fade_in();
	wait_frames(PACK_FRAMES);
}

static void remark(u16 id)
{
	message_open(id);
	prompt();
}

/* Whether the thing that was chosen is to be used. */
static u8 wants_to_use(void)
{
	u8 choice;
	screen_box(7, 13, 5, 7);
	screen_words(8, 15, TX_ITEM_MENU);
	screen_push(7, 5);
	wWindowStackSize++;
	choice = menu_run(2, 1, 8, 14, 0x20, 1, 0);
	wWindowStackSize--;
	return choice == 0;
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
	fade_out();
	return used;
}

/* Left and right turn the pockets in a ring. */
static void turn_pocket(u8 choice)
{
	if (choice == LIST_RIGHT)
		pocket = pocket == POCKET_LESSONS ? POCKET_ITEMS : pocket + 1;
	else
		pocket = pocket ? pocket - 1 : POCKET_LESSONS;
	wCurPocket = pocket;
	list_at = list_top = 0;
	draw_pocket();
}

/* The page of the pack. In battle it gives the thing that was used or is to be thrown, else 0. */
u8 pack_page(u8 in_battle) __banked
{
	u8 choice, item, given = 0, fresh = 1;
	list_at = wItemsPocketCursor;
	list_top = 0;
	if (pocket > POCKET_LESSONS)
		pocket = POCKET_ITEMS;
	wWindowStackSize++;
	while (!given) {
		wCurPocket = pocket;
		if (fresh)
			draw_page();
		fresh = 0;
		wWindowStackSize--; /* the list counts its own */
		list_note = draw_note;
		choice = list_run(pocket_count(pocket), LIST_ROW, LIST_COL, VISIBLE, LIST_WIDTH, draw_entry,
			LIST_SIDEWAYS | LIST_LEAVE);
		list_note = 0;
		wWindowStackSize++;
		if (choice == LIST_LEFT || choice == LIST_RIGHT) {
			turn_pocket(choice);
			continue;
		}
		if (choice == MENU_CANCEL)
			break;
		wItemsPocketCursor = list_at;
		wItemsPocketScrollPosition = list_top;
		item = pocket_item(pocket, choice);
		if (!wants_to_use())
			continue;
		switch (item_kind(item)) {
		case ITEM_BALL:
			if (!in_battle)
				remark(TX_NOT_HERE);
			else if (wBattleMode == BATTLE_TRAINER)
				remark(TX_NOT_YOURS);
			else if (wPartyCount == PARTY_SIZE)
				remark(TX_PARTY_FULL);
			else
				given = item;
			break;
		case ITEM_HEAL:
		case ITEM_CURE:
		case ITEM_REVIVE:
			if (!wPartyCount) {
				remark(TX_NO_PARTNER);
				break;
			}
			fresh = 1;
			if (use_on_member(item) && in_battle) {
				wWindowStackSize--;
				return item;
			}
			break;
		case ITEM_LESSON:
			if (in_battle)
				remark(TX_NOT_HERE);
			else
				fresh = lesson_use(item);
			break;
		default:
			remark(TX_NOT_HERE);
		}
	}
	wWindowStackSize--;
	fade_out();
	return given;
}
