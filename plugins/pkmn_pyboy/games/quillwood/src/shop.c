/* Buying and selling over a counter. */
#pragma bank 3
#include "game.h"
#include "pages.h"

#define LIST_ROW 4
#define VISIBLE 4

static u8 goods[12]; /* what the shop has */
static u8 selling;   /* the pocket that is sold from */

static void draw_good(u8 entry, u8 row)
{
	u8 name[16];
	u16 price;
	item_name(name, goods[entry]);
	screen_text(row, 2, name);
	price = item_price(goods[entry]);
	screen_put(row, price > 999 ? 14 : 15, 0xF0);
	screen_number(row, price > 999 ? 15 : 16, price, price > 999 ? 4 : 3);
}

static void draw_owned(u8 entry, u8 row)
{
	u8 name[16];
	item_name(name, pocket_item(selling, entry));
	screen_text(row, 2, name);
	screen_put(row, 16, 0xF1);
	screen_number(row, 17, pocket_amount(selling, entry), 2);
}

static void frame(void)
{
	map_draw();
	screen_box(0, 10, 3, 10);
	screen_put(1, 11, 0xF0);
	screen_number(1, 12, money_get(), 7);
	screen_box(3, 0, 9, 20);
	message_box();
	screen_push(0, 18);
}

static void remark(u16 id)
{
	message_more(id);
	prompt();
}

static void buy(u8 count)
{
	u8 choice, amount;
	u32 price;
	list_at = list_top = 0;
	for (;;) {
		frame();
		message_more(TX_SHOP_WHAT);
		choice = list_run(count, LIST_ROW, 1, VISIBLE, 18, draw_good, 0);
		if (choice == MENU_CANCEL)
			return;
		item_name(name_buffer, goods[choice]);
		price = item_price(goods[choice]);
		message_more(TX_SHOP_HOW_MANY);
		amount = item_count(goods[choice]);
		if (amount == MOST_OF_ONE) {
			remark(TX_SHOP_FULL);
			continue;
		}
		amount = quantity(9, MOST_OF_ONE - amount, price);
		if (!amount)
			continue;
		price *= amount;
		message_more(TX_SHOP_SURE);
		if (!yes_no())
			continue;
		if (price > money_get()) {
			remark(TX_SHOP_POOR);
			continue;
		}
		if (!item_give(goods[choice], amount)) {
			remark(TX_SHOP_FULL);
			continue;
		}
		money_put(money_get() - price);
		remark(TX_SHOP_THANKS);
	}
}

static void sell(void)
{
	u8 choice, amount, item;
	u32 price;
	list_at = list_top = 0;
	selling = POCKET_ITEMS;
	for (;;) {
		frame();
		message_more(TX_SHOP_SELL_WHAT);
		choice = list_run(pocket_count(selling), LIST_ROW, 1, VISIBLE, 18, draw_owned, LIST_SIDEWAYS);
		if (choice == LIST_LEFT || choice == LIST_RIGHT) {
			selling ^= 1;
			continue;
		}
		if (choice == MENU_CANCEL)
			return;
		item = pocket_item(selling, choice);
		price = item_price(item) >> 1;
		item_name(name_buffer, item);
		message_more(TX_SHOP_HOW_MANY);
		amount = quantity(9, pocket_amount(selling, choice), price);
		if (!amount)
			continue;
		message_more(TX_SHOP_SURE);
		if (!yes_no())
			continue;
		item_take(item, amount);
		money_put(money_get() + price * amount);
		remark(TX_SHOP_THANKS);
	}
}

/* The menu of a shop: a list of Marts has what it sells. */
void shop(u8 number) __banked
{
	u16 at = far_word(BANK_MARTS, ADDR_MARTS + number * 2);
	u8 count = far_byte(BANK_MARTS, at), choice = 0;
	far_copy(goods, BANK_MARTS, at + 1, count);
	for (;;) {
		map_draw();
		screen_box(0, 0, 8, 9);
		screen_words(2, 2, TX_SHOP_MENU);
		screen_box(0, 10, 3, 10);
		screen_put(1, 11, 0xF0);
		screen_number(1, 12, money_get(), 7);
		message_box();
		screen_push(0, 18);
		message_more(TX_SHOP_HELLO);
		wStateFlags |= 0x40;
		wWindowStackSize++;
		choice = menu_run(3, 1, 2, 1, 0x20, 1, choice);
		wWindowStackSize--;
		if (choice == MENU_CANCEL || choice == 2)
			return;
		if (choice == 0)
			buy(count);
		else
			sell();
	}
}
