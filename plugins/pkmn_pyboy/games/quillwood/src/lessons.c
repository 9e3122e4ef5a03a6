/* Lessons: things that teach a move again and again, and who can learn it. */
#pragma bank 3
#include "game.h"
#include "pages.h"

#define LESSONS 57
#define BASE_LESSONS 24 /* of the species' row: a bit per lesson */

u8 lesson_asked;

/* Whether a species can learn the move of a lesson. */
u8 lesson_fits(u8 species, u8 lesson)
{
	load_base(species);
	return base_data[BASE_LESSONS + (lesson >> 3)] & (u8)(1 << (lesson & 7));
}

static u8 move_of(u8 lesson)
{
	return far_byte(BANK_TMHMMOVES, ADDR_TMHMMOVES + lesson);
}

/* Whether a move came from a lesson: such a one is never forgotten. */
u8 move_stays(u8 move) __banked
{
	u8 i;
	for (i = 0; i < LESSONS; i++)
		if (move && move_of(i) == move)
			return 1;
	return 0;
}

static void remark(u16 id)
{
	message_open(id);
	prompt();
}

static u8 sure(u16 id)
{
	u8 answer;
	message_open(id);
	answer = yes_no();
	party_rows();
	return answer;
}

/* Which of four moves makes room; MENU_CANCEL when none is to. */
static u8 room_for(u8 slot)
{
	u8 i, choice;
	u8 name[16];
	PartyMon *mon = &party[slot];
	for (;;) {
		if (sure(TX_WANTS_TO_LEARN)) {
			message_open(TX_WHICH_MOVE);
			screen_box(2, 4, 6, 16);
			for (i = 0; i < 4; i++) {
				copy_name(name, BANK_MOVE_NAMES, ADDR_MOVE_NAMES, mon->moves[i] - 1);
				screen_text(3 + i, 6, name);
			}
			screen_push(2, 6);
			wWindowStackSize++;
			choice = menu_run(4, 1, 3, 5, 0x10, 1, 0);
			wWindowStackSize--;
			party_rows();
			if (choice != MENU_CANCEL) {
				if (!move_stays(mon->moves[choice]))
					return choice;
				remark(TX_CANT_FORGET);
			}
		}
		if (sure(TX_STOP_LEARNING))
			return MENU_CANCEL;
	}
}

static void teach(u8 slot, u8 lesson)
{
	PartyMon *mon = &party[slot];
	u8 move = move_of(lesson), place;
	u8 row[7];
	nickname(name_buffer, slot);
	for (place = 0; place < 4; place++) {
		if (mon->moves[place] == move) {
			remark(TX_KNOWS_ALREADY);
			return;
		}
	}
	if (!lesson_fits(mon->species, lesson)) {
		remark(TX_CANT_LEARN);
		return;
	}
	for (place = 0; place < 4 && mon->moves[place]; place++)
		;
	if (place == 4) {
		place = room_for(slot);
		if (place == MENU_CANCEL)
			return;
	}
	load_move(row, move);
	mon->moves[place] = move;
	mon->pp[place] = row[5];
	flag_set(FLAG_SHEAR_TAUGHT + lesson - FIRST_LESSON);
	remark(TX_LEARNED);
}

/* A lesson from the pack: the player may choose who learns its move. 1 when another page was opened for it. */
u8 lesson_use(u8 item)
{
	u8 slot, lesson = item_power(item);
	copy_name(move_buffer, BANK_MOVE_NAMES, ADDR_MOVE_NAMES, move_of(lesson) - 1);
	message_open(TX_LESSON_ASK);
	if (!yes_no())
		return 0;
	fade_out();
	lesson_asked = lesson;
	slot = party_menu(TX_TEACH_WHOM, 1, 0);
	if (slot != MENU_CANCEL)
		teach(slot, lesson);
	lesson_asked = 0;
	fade_out();
	return 1;
}
