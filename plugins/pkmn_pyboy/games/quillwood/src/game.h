/* Types, hardware registers, the game's own variables and what the source files offer each other. */
#ifndef GAME_H
#define GAME_H

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned int u16;
typedef unsigned long u32;

#include "../build/memory.h"
#include "../build/data.h"

/* ---- hardware --------------------------------------------------------- */
#define rDIV (*(volatile u8 *)0xFF04)
#define rLCDC (*(volatile u8 *)0xFF40)
#define rWY (*(volatile u8 *)0xFF4A)
#define rVBK (*(volatile u8 *)0xFF4F)
#define rHDMA1 (*(volatile u8 *)0xFF51)
#define rHDMA2 (*(volatile u8 *)0xFF52)
#define rHDMA3 (*(volatile u8 *)0xFF53)
#define rHDMA4 (*(volatile u8 *)0xFF54)
#define rHDMA5 (*(volatile u8 *)0xFF55)
#define rROMB0 (*(volatile u8 *)0x2000)

#define LCDC_OFF 0x00
#define LCDC_NO_OBJECTS 0x85 /* an emulator is a quarter faster without objects */
#define LCDC_ON 0x87 /* background from 8800, map 9800, 8x16 objects on */

/* ---- own fields in HRAM (start.s uses the same) ----------------------- */
#define hVblWork (*(volatile u8 *)0xFFB1)
#define hSCX (*(volatile u8 *)0xFFB2)
#define hSCY (*(volatile u8 *)0xFFB3)
#define hBgCol (*(volatile u8 *)0xFFB4)
#define hBgRow (*(volatile u8 *)0xFFB5)
#define hPushRow (*(volatile u8 *)0xFFB6)
#define hPushCount (*(volatile u8 *)0xFFB7)
#define hStripX (*(volatile u8 *)0xFFB8)
#define hStripY (*(volatile u8 *)0xFFB9)
#define hCellX (*(volatile u8 *)0xFFC0)
#define hCellY (*(volatile u8 *)0xFFC1)
#define hBlocks (*(volatile u16 *)0xFFC4)
#define hRowSize (*(volatile u8 *)0xFFCE)
#define hFillHeight (*(volatile u8 *)0xFFCF)
#define hFillWidth (*(volatile u8 *)0xFFD0)
#define hFillTile (*(volatile u8 *)0xFFD1)
#define hFillAttr (*(volatile u8 *)0xFFD2)
#define hIdle (*(volatile u8 *)0xFFBE)
#define hPal (*(volatile u16 *)0xFFBC)
#define hPalCount (*(volatile u8 *)0xFFBF)

/* ---- own buffers at fixed places (tools/check_memory.py knows them) --- */
#define shadow_oam ((u8 *)0xC000)    /* 160 */
#define strip_tiles ((u8 *)0xC300)   /* 64: the column or row that comes into view */
#define strip_attrs ((u8 *)0xC340)   /* 64 */
#define push_tiles ((u8 *)0xC300)    /* 192: six rows of the BG map */
#define push_attrs ((u8 *)0xC3C0)    /* 192 */
#define palettes ((u8 *)0xD9C4)      /* 128: the colours wanted */
#define palettes_shown ((u8 *)0xDEF4) /* 128: the colours on screen, between fades */
#define name_buffer ((u8 *)0xDF80)   /* 16: {word} and {move} */
#define move_buffer ((u8 *)0xDF90)   /* 16 */
#define trainer_name ((u8 *)0xDFA0)  /* 24: {trainer} */
#define base_data ((u8 *)0xDB80)     /* 32: the species row that load_base read */

/* ---- buttons ---------------------------------------------------------- */
#define PAD_A 0x01
#define PAD_B 0x02
#define PAD_SELECT 0x04
#define PAD_START 0x08
#define PAD_RIGHT 0x10
#define PAD_LEFT 0x20
#define PAD_UP 0x40
#define PAD_DOWN 0x80

/* ---- letters and window pieces ---------------------------------------- */
#define CH_SPACE 0x7F
#define CH_END 0x50
#define CH_ARROW 0xEE
#define CH_CURSOR 0xED
#define CH_HOLLOW 0xEC
#define CH_SLASH 0xF3
#define CH_LEVEL 0x6E
#define ATTR_TEXT 0x87 /* palette 7, over the objects */

/* ---- directions: step codes ------------------------------------------- */
#define DIR_DOWN 0
#define DIR_UP 1
#define DIR_LEFT 2
#define DIR_RIGHT 3
#define DIR_NONE 0xFF

/* ---- structs ---------------------------------------------------------- */
typedef struct {
	u8 sprite, map_object, sprite_tile, movement, flags1, flags2, palette, walking;
	u8 direction, step_type, step_duration, action, step_frame, facing, tile_collision, last_tile;
	u8 map_x, map_y, last_map_x, last_map_y, init_x, init_y, radius, sprite_x, sprite_y;
	i8 x_offset, y_offset;
	u8 movement_index, step_index, unused1[2], jump_height, range, unused2[7];
} Object;

typedef struct {
	u8 struct_id, sprite, y, x, movement, radius, hour1, hour2, palette_and_type, sight;
	u16 script, event_flag;
	u8 unused[2];
} MapObject;

typedef struct {
	u8 species, item, moves[4], ot_id[2], exp[3], stat_exp[10], dvs[2], pp[4], happiness, pokerus, caught[2], level;
	u8 status, unused, hp[2], max_hp[2], stats[10];
} PartyMon;

typedef struct {
	u8 species, item, moves[4], dvs[2], pp[4], happiness, level, status, unused, hp[2], max_hp[2], stats[10], types[2];
} BattleMon;

#define objects ((Object *)0xD4D6)
#define player objects[0]
#define map_objects ((MapObject *)0xD71E)
#define party ((PartyMon *)0xDCDF)
#define foes ((PartyMon *)0xD288)
#define PARTY_SIZE 6

/* status of a creature */
#define STATUS_SLEEP 0x07 /* turns left */
#define STATUS_POISON 0x08
#define STATUS_PARALYZED 0x40

/* wBattleMode and wBattleResult */
#define BATTLE_WILD 1
#define BATTLE_TRAINER 2
#define RESULT_WIN 0
#define RESULT_LOSS 1
#define RESULT_RAN 2

#define KIND_TRAINER 2
#define MORNING 0 /* of wTimeOfDay */
#define DAY 1
#define NIGHT 2
#define NOON 12 /* where the clock of a new game stands */
#define NUM_OBJECTS 13
#define MOVEMENT_BOULDER 25
#define STATE_WALKING 0 /* of wPlayerState */
#define STATE_SURFING 4
#define STRENGTH_IN_USE 1 /* of wBikeFlags: until the map is left */
#define FIRST_LESSON 50   /* in wTMsHMs; those before it are unused */

/* ---- home.c: banks, random numbers ------------------------------------ */
void wait_vblank(void);
void wait_frames(u8 frames);
void set_bank(u8 bank);
u8 far_byte(u8 bank, u16 address);
u16 far_word(u8 bank, u16 address);
void far_copy(void *to, u8 bank, u16 from, u16 count);
void vram_copy(u16 to, u8 bank, u16 from, u8 tiles);
void vram_show(u16 to, u8 bank, u16 from, u8 tiles);
u16 matchup_next(u16 at, u8 type);
u8 random(void);
u8 random_below(u8 limit);
void flag_set(u16 flag);
void flag_clear(u16 flag);
u8 flag_get(u16 flag);
u16 get16(const u8 *at);
void put16(u8 *at, u16 value);
void load_base(u8 species);
void load_move(u8 *to, u8 move);
void species_name(u8 *to, u8 species);
void item_name(u8 *to, u8 item);
void nickname(u8 *to, u8 slot);
void copy_string(u8 *to, const u8 *from);
u8 party_knower(u8 move);
void clock_read(void);
u32 money_get(void);
void money_put(u32 value);

/* ---- drawing.s: what is drawn in bulk ---------------------------------- */
u8 *cell(u8 row, u8 col); /* of the screen buffer */
void fill_asm(u8 *at);
void fill_row_asm(u8 *at, u8 tile);
void fill_bytes(u8 *to, u8 value, u16 count);
void picture_cells_asm(u8 *at, u8 tile);
void copy_cells_asm(u8 *to, const u8 *from);
void palettes_half_asm(u8 *to, const u8 *from, u8 count);

/* ---- screen.c: window pieces, letters, colours ------------------------ */
void screen_clear(u8 tile, u8 attr);
void screen_fill(u8 row, u8 col, u8 height, u8 width, u8 tile, u8 attr);
void screen_box(u8 row, u8 col, u8 height, u8 width);
void screen_put(u8 row, u8 col, u8 tile);
u8 screen_text(u8 row, u8 col, const u8 *text);
void screen_words(u8 row, u8 col, u16 id);
void screen_number(u8 row, u8 col, u32 value, u8 digits);
void screen_push(u8 row, u8 count);
void screen_push_tiles(u8 row, u8 count);
void vram_wait(void);
extern u8 pushed_from;
void screen_poke(u8 row, u8 col, u8 tile);
void lcd_off(void);
void lcd_on(void);
void font_load(void);
void palettes_load(u8 bank, u16 address);
void palettes_object_load(void);
void palettes_show(void);
void fade_out(void);
void fade_in(void);
void palettes_flash(void);
void sprites_hide(void);
void picture_load(u16 to, u8 species, u8 back);
void creature_colors(u8 palette, u8 species);
void page_open(void);

/* ---- message.c: the message box --------------------------------------- */
extern u16 text_number;
extern u8 text_side; /* whom {who} names: 0 the own creature, 1 the enemy's */
void copy_words(u8 *to, u16 id);
void message_box(void);
void message(u16 id);
void message_open(u16 id);
void message_more(u16 id);
void prompt(void);
void copy_name(u8 *to, u8 bank, u16 from, u8 index);

/* ---- menu.c: menus with a cursor -------------------------------------- */
#define MENU_CANCEL 0xFF
void reset_asm(void); /* start.s: as the switch does */
void idle_asm(void); /* start.s: hIdle pairs of frames or until a button is held */
u8 joy_wait(u8 pairs);
u8 menu_run(u8 rows, u8 cols, u8 init_y, u8 init_x, u8 offsets, u8 can_cancel, u8 first);
u8 yes_no(void);

/* ---- walk.s: what must be quick on the way ---------------------------- */
void tick_wait(void);
u8 map_collision(u8 x, u8 y);
void map_around_asm(void);
u8 object_at(u8 map_x, u8 map_y);
void cells_row_asm(void);
void cells_column_asm(void);
void objects_draw(void);
void player_move(void);
u8 player_walk_on(void);
void poll_joy(void);
u8 place_find(u8 count, u16 address);
extern u8 last_tick; /* the VBlank count at the last tick of the overworld */

/* ---- overworld (bank 1) ----------------------------------------------- */
extern u8 strip_pending;
extern u8 tileset_loaded;
extern u8 draw_needed; /* a figure has moved or turned */
void overworld(void) __banked;
void map_load(void) __banked;
void map_connections(void) __banked;
void map_draw(void) __banked;
void map_strip(u8 direction) __banked;
void map_show(void) __banked;
void map_redraw(void) __banked;
void map_neighbours(void) __banked;
void trainers_load(void);
u8 trainers_look(void);
void object_walk(u8 number, u8 direction);
extern u8 emote_over; /* the person with a mark over the head, 0 for none */
extern u8 battle_lost; /* a script's battle was lost: the way leads to the healer */
u8 permission(u8 collision);
void map_cut(u8 x, u8 y);
void map_changes(void) __banked;
void map_places(void) __banked;
void object_stand(u8 number, u8 x, u8 y) __banked;
u8 off_map(u8 x, u8 y);
void field_tile(u8 collision, u8 direction);
void field_boulder(void);
void field_push(u8 number, u8 direction);
void script_say(u16 id);
u8 script_ask(u16 id);
void player_figure(void);
void objects_load(void) __banked;
void objects_graphics(void) __banked;
extern u8 objects_walking; /* how many people are in a step */
void objects_tick(u8 ticks) __banked;
void script_run(u16 address) __banked;
void player_step(u8 direction) __banked;
void player_walk(u8 direction) __banked;
void step_advance(Object *object) __banked;
void window_close(void) __banked;

/* ---- creatures and battle (bank 2) ------------------------------------ */
void party_give(u8 species, u8 level) __banked;
void party_heal(void) __banked;
u8 party_fit(void) __banked;
void battle_wild(u8 species, u8 level) __banked;
void battle_trainer(u8 class, u8 id) __banked;
void hp_bar(u8 row, u8 col, u16 hp, u16 max) __banked;
void mon_level_exp(u8 species, u8 level, u8 *to) __banked;

/* ---- title, START menu and pages (bank 3) ----------------------------- */
#define POCKET_ITEMS 0
#define POCKET_BALLS 1
#define POCKET_KEY 2
#define POCKET_LESSONS 3
#define ITEM_BALL 1
#define ITEM_HEAL 2
#define ITEM_CURE 3
#define ITEM_REVIVE 4
#define ITEM_LESSON 5
void title(void) __banked;
void start_menu(void) __banked;
u8 let_go(void) __banked;
u8 party_menu(u16 text, u8 can_cancel, u8 first) __banked;
void summary_page(u8 slot) __banked;
u8 pack_page(u8 in_battle) __banked;
u8 item_give(u8 item, u8 count) __banked;
u8 item_count(u8 item) __banked;
void item_take(u8 item, u8 count) __banked;
u8 item_use_on(u8 item, u8 slot) __banked;
u8 item_kind(u8 item) __banked;
u8 move_stays(u8 move) __banked;
u8 item_power(u8 item) __banked;
void shop(u8 number) __banked;
void naming(u8 *to, u8 species, u8 longest) __banked;
#define NAME_LENGTH 7 /* of the player and others */
#define NICKNAME_LENGTH 10
#define HAS_GUIDE 0x01 /* of wStatusFlags: Crystal's bit for the same */
void offer_nickname(void) __banked;
u8 save_there(void) __banked;
u8 save_of_another(void) __banked;
void save_write(void) __banked;
void save_read(void) __banked;
void ending(void) __banked;

#endif
