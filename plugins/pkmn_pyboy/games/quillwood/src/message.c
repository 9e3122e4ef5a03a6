/* The message box: letters one per frame, pages, the blinking arrow. */
#include "game.h"

#define BOX_ROW 12
#define FLAG_PRINTING 0x02

u16 text_number; /* what {num} shows */
u8 text_side;

static const u8 word_foe[] = {0x85, 0xAE, 0xA4, CH_SPACE, CH_END};

/* A name of a list of strings that end with the terminator: entry index from 0. */
void copy_name(u8 *to, u8 bank, u16 from, u8 index)
{
	u8 old = hROMBank, left = 15;
	const u8 *at = (const u8 *)from;
	set_bank(bank);
	while (index) {
		if (*at++ == CH_END)
			index--;
	}
	while (*at != CH_END && left--)
		*to++ = *at++;
	*to = CH_END;
	set_bank(old);
}

/* One line of words into a buffer. */
void copy_words(u8 *to, u16 id)
{
	copy_name(to, BANK_TEXTS, far_word(BANK_TEXTS, ADDR_TEXTS + id * 2), 0);
}

void message_box(void)
{
	screen_box(BOX_ROW, 0, 6, 20);
}

static u8 row, col;

static void letter(u8 ch)
{
	if (col < 19)
		screen_poke(row, col++, ch);
}

static void word_of(const u8 *text)
{
	while (*text != CH_END)
		letter(*text++);
}

static void number(u16 value)
{
	u8 digits[5];
	u8 count = 0;
	do {
		digits[count++] = 0xF6 + (u8)(value % 10);
		value /= 10;
	} while (value);
	while (count)
		letter(digits[--count]);
}

/* Waits for A or B while the arrow blinks. */
void prompt(void)
{
	u8 arrow = 0;
	poll_joy();
	do {
		arrow ^= 1;
		screen_poke(17, 18, arrow ? CH_ARROW : 0x7A);
	} while (!joy_wait(8) || !(hJoyPressed & (PAD_A | PAD_B)));
	screen_poke(17, 18, 0x7A);
}

static void page_clear(void)
{
	screen_fill(BOX_ROW + 1, 1, 4, 18, CH_SPACE, ATTR_TEXT);
	screen_push_tiles(BOX_ROW + 1, 4);
	row = 14;
	col = 1;
}

/* Prints a message into the open box, waiting between pages but not at the end. */
void message_more(u16 id)
{
	u16 at = far_word(BANK_TEXTS, ADDR_TEXTS + id * 2);
	u8 ch;
	wTextboxFlags = 1;
	page_clear();
	wTextboxFlags |= FLAG_PRINTING;
	while ((ch = far_byte(BANK_TEXTS, at)) != CH_END) {
		at++;
		if (ch >= 0x60) {
			letter(ch);
			continue;
		}
		switch (ch) {
		case 0x4F:
			row = 16;
			col = 1;
			break;
		case 0x51:
			wTextboxFlags &= ~FLAG_PRINTING;
			prompt();
			page_clear();
			wTextboxFlags |= FLAG_PRINTING;
			break;
		case 1:
			word_of(wBattleMonNickname);
			break;
		case 2:
			word_of(wEnemyMonNickname);
			break;
		case 3:
			word_of(move_buffer);
			break;
		case 4:
			number(text_number);
			break;
		case 5:
			word_of(name_buffer);
			break;
		case 6:
			if (text_side)
				word_of(word_foe);
			word_of(text_side ? wEnemyMonNickname : wBattleMonNickname);
			break;
		case 7:
			word_of(trainer_name);
			break;
		case 0x52:
			word_of(wPlayerName);
			break;
		case 0x53:
			word_of(wRivalName);
			break;
		default:
			letter(ch);
		}
	}
	wTextboxFlags &= ~FLAG_PRINTING;
}

/* Opens the box over what is on the screen buffer and prints; no wait at the end. */
void message_open(u16 id)
{
	message_box();
	screen_push(BOX_ROW, 6);
	message_more(id);
}

/* A message that waits for a button at its end. */
void message(u16 id)
{
	message_more(id);
	prompt();
}
