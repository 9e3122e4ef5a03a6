/* The battle's picture: creatures, names, bars. */
#pragma bank 2
#include "game.h"
#include "battle.h"

#define FRONT_TILE 0x00
#define BACK_TILE 0x31
#define SIDE 5 /* tiles of a picture's edge */
#define FRONT_ROW 1
#define FRONT_COL 13
#define BACK_ROW 7
#define BACK_COL 2
#define BAR_LENGTH 6

u8 enemy_out, own_out; /* PICTURE_ONLY: without name and bar, TRAINER_OUT: the trainer stands there */
u8 picture_only;

static void place_picture(u8 row, u8 col, u8 tile, u8 attr)
{
	hFillAttr = attr;
	picture_cells_asm(cell(row, col), tile);
}

void picture_clear(u8 side)
{
	if (side == SIDE_ENEMY) {
		screen_fill(FRONT_ROW, FRONT_COL, SIDE, SIDE, CH_SPACE, 7);
		screen_push(FRONT_ROW, SIDE);
	} else {
		screen_fill(BACK_ROW, BACK_COL, SIDE, SIDE, CH_SPACE, 7);
		screen_push(BACK_ROW, SIDE);
	}
}

/* The picture on the enemy's side to video memory. */
static void load_front(void)
{
	u8 species = enemy_out == PICTURE_ONLY ? picture_only : enemy_mon->species;
	u16 row = ADDR_PORTRAITS + (u16)(wOtherTrainerClass - 1) * 10;
	if (enemy_out == TRAINER_OUT) {
		vram_show(0x9000 + FRONT_TILE * 16, BANK_PORTRAITS, far_word(BANK_PORTRAITS, row), SIDE * SIDE);
		far_copy(palettes, BANK_PORTRAITS, row + 2, 8);
	} else {
		picture_load(0x9000 + FRONT_TILE * 16, species, 0);
		creature_colors(0, species);
	}
}

/* The trainer stands there again, after the last creature has fallen. */
void trainer_back(void)
{
	enemy_out = TRAINER_OUT;
	load_front();
	palettes_show();
	battle_restore();
}

/* The creature that has come out: its picture and colours, then names and bars. */
void battle_picture(u8 side)
{
	u8 species = player_mon->species;
	if (side) {
		load_front();
	} else {
		picture_load(0x9000 + BACK_TILE * 16, species, 1);
		creature_colors(1, species);
	}
	palettes_show();
	if (side)
		place_picture(FRONT_ROW, FRONT_COL, FRONT_TILE, 0);
	else
		place_picture(BACK_ROW, BACK_COL, BACK_TILE, 1);
	draw_names();
	battle_rows();
}

/* All rows above the message box. */
void battle_rows(void)
{
	screen_push(0, 12);
}

static void picture_show(u8 side)
{
	if (side == SIDE_ENEMY) {
		place_picture(FRONT_ROW, FRONT_COL, FRONT_TILE, 0);
		screen_push(FRONT_ROW, SIDE);
	} else {
		place_picture(BACK_ROW, BACK_COL, BACK_TILE, 1);
		screen_push(BACK_ROW, SIDE);
	}
}

/* The creature that was hit flickers. */
void picture_blink(u8 side)
{
	u8 i;
	for (i = 0; i < 2; i++) {
		picture_clear(side);
		wait_frames(3);
		picture_show(side);
		wait_frames(3);
	}
}

/* A bar of 48 pixels in the screen buffer. */
static void bar(u8 row, u8 col, u8 pixels, u8 attr)
{
	u8 i, full;
	u8 *at = cell(row, col), *colors = at + (wAttrmap - wTilemap);
	for (i = BAR_LENGTH; i; i--) {
		full = pixels > 8 ? 8 : pixels;
		pixels -= full;
		*at++ = 0x63 + full;
		*colors++ = attr;
	}
	*at = 0x6C;
	*colors = attr;
}

static u8 pixels_of(u16 hp, u16 max_hp)
{
	u8 pixels;
	if (hp == max_hp)
		return BAR_LENGTH * 8;
	pixels = hp < 1365 ? (u8)((u16)(hp * 48) / max_hp) : (u8)((u32)hp * 48 / max_hp);
	return hp && !pixels ? 1 : pixels;
}

static u8 color_of(u8 pixels)
{
	return pixels > 24 ? 2 : pixels > 10 ? 3 : 4;
}

/* HP mark, bar and colour; for the other screens too. */
void hp_bar(u8 row, u8 col, u16 hp, u16 max_hp) __banked
{
	u8 pixels = pixels_of(hp, max_hp);
	screen_fill(row, col, 1, 1, 0x6D, 7);
	bar(row, col + 1, pixels, color_of(pixels));
}

void draw_bar(u8 side, u16 hp, u16 max_hp)
{
	if (side == SIDE_ENEMY) {
		hp_bar(2, 2, hp, max_hp);
	} else {
		hp_bar(9, 10, hp, max_hp);
		screen_number(10, 11, hp, 3);
		screen_put(10, 14, CH_SLASH);
		screen_number(10, 15, max_hp, 3);
	}
}

/* Moves a bar from one value to another, a few HP a frame. */
void drain(u8 side, u16 from, u16 to)
{
	u16 max_hp = get16(side ? enemy_mon->max_hp : player_mon->max_hp);
	u16 step = (from > to ? from - to : to - from) / 16 + 1;
	while (from != to) {
		if (from > to)
			from = from - to > step ? from - step : to;
		else
			from = to - from > step ? from + step : to;
		draw_bar(side, from, max_hp);
		screen_push(side ? 2 : 9, side ? 1 : 2);
		wait_vblank();
	}
}

static u8 exp_species, exp_level;
static u32 exp_low, exp_span;

void draw_exp(void)
{
	PartyMon *mon = &party[wCurBattleMon];
	u32 have;
	/* what the level takes is worked out once */
	if (mon->species != exp_species || mon->level != exp_level) {
		exp_species = mon->species;
		exp_level = mon->level;
		exp_low = exp_for_level(exp_species, exp_level);
		exp_span = exp_for_level(exp_species, exp_level + 1) - exp_low;
	}
	have = exp_get(mon->exp) - exp_low;
	screen_fill(11, 10, 1, 1, 0x6F, 7);
	bar(11, 11, (u8)(have * 48 / exp_span), 5);
}

/* The level, or what ails the creature. */
static void draw_level(u8 row, u8 col, BattleMon *mon)
{
	screen_fill(row, col, 1, 4, CH_SPACE, 7);
	if (mon->status) {
		screen_words(row, col, (mon->status & STATUS_SLEEP) ? TX_SLP : (mon->status & STATUS_POISON) ? TX_PSN : TX_PAR);
		return;
	}
	screen_put(row, col, CH_LEVEL);
	screen_number(row, col + 1, mon->level, mon->level > 9 ? 2 : 1);
}

void draw_names(void)
{
	screen_fill(0, 1, 1, 11, CH_SPACE, 7);
	screen_fill(7, 10, 1, 10, CH_SPACE, 7);
	if (enemy_out == 1) {
		screen_text(0, 1, wEnemyMonNickname);
		draw_level(1, 6, enemy_mon);
		draw_bar(SIDE_ENEMY, get16(enemy_mon->hp), get16(enemy_mon->max_hp));
	} else {
		screen_fill(1, 1, 2, 11, CH_SPACE, 7);
	}
	if (own_out) {
		screen_text(7, 10, wBattleMonNickname);
		draw_level(8, 14, player_mon);
		draw_bar(SIDE_PLAYER, get16(player_mon->hp), get16(player_mon->max_hp));
		draw_exp();
	}
}

/* The rows that the move menu's window covered. */
void battle_middle(void)
{
	screen_fill(8, 0, 4, 11, CH_SPACE, 7);
	place_picture(BACK_ROW, BACK_COL, BACK_TILE, 1);
	draw_names();
	message_box();
	screen_push(7, 11);
}

/* What windows have covered, above the message box. */
void battle_restore(void)
{
	screen_fill(0, 0, 12, 20, CH_SPACE, 7);
	if (enemy_out)
		place_picture(FRONT_ROW, FRONT_COL, FRONT_TILE, 0);
	if (own_out)
		place_picture(BACK_ROW, BACK_COL, BACK_TILE, 1);
	screen_fill(FRONT_ROW + SIDE, FRONT_COL - 1, 1, SIDE + 2, 0x70, 6);
	draw_names();
	battle_rows();
}

/* Everything but the menus; the screen is white before. */
void battle_screen(void)
{
	page_open();
	if (enemy_out)
		load_front();
	picture_load(0x9000 + BACK_TILE * 16, player_mon->species, 1);
	creature_colors(1, player_mon->species);
	message_box();
	if (enemy_out)
		place_picture(FRONT_ROW, FRONT_COL, FRONT_TILE, 0);
	if (own_out)
		place_picture(BACK_ROW, BACK_COL, BACK_TILE, 1);
	screen_fill(FRONT_ROW + SIDE, FRONT_COL - 1, 1, SIDE + 2, 0x70, 6);
	draw_names();
	screen_push(0, 18);
	lcd_on();
	fade_in();
}

/* A message that goes on by itself. */
void say(u16 id)
{
	message_more(id);
	wait_frames(14);
}
