/* Things: their values, the pockets of the pack, what they do to a party member. */
#pragma bank 3
#include "game.h"
#include "pages.h"

#define ROW 7

static u8 attribute(u8 item, u8 which)
{
	return far_byte(BANK_ITEM_ATTRIBUTES, ADDR_ITEM_ATTRIBUTES + (u16)(item - 1) * ROW + which);
}

u32 item_price(u8 item)
{
	return (u16)attribute(item, 0) | (u16)attribute(item, 1) << 8;
}

u8 item_kind(u8 item) __banked
{
	return attribute(item, 2);
}

u8 item_power(u8 item) __banked
{
	return attribute(item, 3);
}

/* The pocket, 0 to 3; the table counts from 1 as items, key things, balls, lessons. */
u8 item_pocket(u8 item)
{
	u8 pocket = attribute(item, 5);
	return pocket == 1 ? POCKET_ITEMS : pocket == 3 ? POCKET_BALLS : pocket == 4 ? POCKET_LESSONS : POCKET_KEY;
}

static u8 *count_of(u8 pocket)
{
	return pocket == POCKET_ITEMS ? &wNumItems : pocket == POCKET_BALLS ? &wNumBalls : &wNumKeyItems;
}

static u8 size_of(u8 pocket)
{
	return pocket == POCKET_ITEMS ? 20 : pocket == POCKET_BALLS ? 12 : 25;
}

/* The lesson owned as the n-th, 0 when there are not so many. */
static u8 lesson_owned(u8 n)
{
	u8 item;
	for (item = 1; item <= NUM_ITEMS; item++)
		if (attribute(item, 2) == ITEM_LESSON && wTMsHMs[attribute(item, 3)] && !n--)
			return item;
	return 0;
}

u8 pocket_count(u8 pocket)
{
	u8 count = 0;
	if (pocket == POCKET_LESSONS) {
		while (lesson_owned(count))
			count++;
		return count;
	}
	return *count_of(pocket);
}

u8 pocket_item(u8 pocket, u8 entry)
{
	u8 *list = count_of(pocket) + 1;
	if (pocket == POCKET_LESSONS)
		return lesson_owned(entry);
	return pocket == POCKET_KEY ? list[entry] : list[entry * 2];
}

u8 pocket_amount(u8 pocket, u8 entry)
{
	u8 *list = count_of(pocket) + 1;
	return pocket >= POCKET_KEY ? 1 : list[entry * 2 + 1];
}

/* The entry of a thing in its pocket, 0xFF when there is none. */
static u8 find(u8 item)
{
	u8 pocket = item_pocket(item), i;
	for (i = 0; i < pocket_count(pocket); i++)
		if (pocket_item(pocket, i) == item)
			return i;
	return 0xFF;
}

u8 item_count(u8 item) __banked
{
	u8 at = find(item);
	return at == 0xFF ? 0 : pocket_amount(item_pocket(item), at);
}

/* 1 when there was room. */
u8 item_give(u8 item, u8 count) __banked
{
	u8 pocket = item_pocket(item), at = find(item);
	u8 *number = count_of(pocket), *list = number + 1;
	if (pocket == POCKET_LESSONS)
		return wTMsHMs[attribute(item, 3)] = 1;
	if (at == 0xFF) {
		if (*number == size_of(pocket))
			return 0;
		at = (*number)++;
		if (pocket == POCKET_KEY) {
			list[at] = item;
			list[at + 1] = 0xFF;
			return 1;
		}
		list[at * 2] = item;
		list[at * 2 + 1] = count;
		list[at * 2 + 2] = 0xFF;
		return 1;
	}
	if (pocket == POCKET_KEY || list[at * 2 + 1] + count > MOST_OF_ONE)
		return 0;
	list[at * 2 + 1] += count;
	return 1;
}

void item_take(u8 item, u8 count) __banked
{
	u8 pocket = item_pocket(item), at = find(item), width = pocket == POCKET_KEY ? 1 : 2, i;
	u8 *number = count_of(pocket), *list = number + 1;
	if (at == 0xFF || pocket == POCKET_LESSONS)
		return;
	if (width == 2 && list[at * 2 + 1] > count) {
		list[at * 2 + 1] -= count;
		return;
	}
	(*number)--;
	for (i = at * width; i < *number * width; i++)
		list[i] = list[i + width];
	list[i] = 0xFF;
}

/* Uses a thing on a member: 1 when it did something; the thing is then gone. */
u8 item_use_on(u8 item, u8 slot) __banked
{
	PartyMon *mon = &party[slot];
	u16 hp = get16(mon->hp), most = get16(mon->max_hp);
	u8 power = item_power(item);
	switch (item_kind(item)) {
	case ITEM_HEAL:
		if (!hp || hp == most)
			return 0;
		hp += power;
		put16(mon->hp, hp > most ? most : hp);
		break;
	case ITEM_CURE:
		if (!hp || !(mon->status & power))
			return 0;
		mon->status = 0;
		break;
	case ITEM_REVIVE:
		if (hp)
			return 0;
		put16(mon->hp, most >> 1);
		mon->status = 0;
		break;
	default:
		return 0;
	}
	item_take(item, 1);
	return 1;
}
