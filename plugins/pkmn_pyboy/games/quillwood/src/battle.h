/* What the battle files share; all of them live in bank 2. */
#ifndef BATTLE_H
#define BATTLE_H

#define player_mon ((BattleMon *)0xC62C)
#define enemy_mon ((BattleMon *)0xD206)
#define NUM_STATS 5
#define STAGE_ACCURACY 5
#define STAGE_EVASION 6
#define SIDE_PLAYER 0
#define SIDE_ENEMY 1

/* effects of moves */
#define EFFECT_ATTACK_UP 10
#define EFFECT_DEFENSE_UP 11
#define EFFECT_ATTACK_DOWN 18
#define EFFECT_DEFENSE_DOWN 19
#define EFFECT_SPEED_DOWN 20
#define EFFECT_ACCURACY_DOWN 23
#define EFFECT_STRIKES_FIRST 103

/* results of a battle */
#define RESULT_WIN 0
#define RESULT_LOSS 1
#define RESULT_RAN 2

/* creature.c */
extern u8 base_data[32];
void load_base(u8 species);
void load_move(u8 *to, u8 move);
void species_name(u8 *to, u8 species);
void make_stats(u8 *max_hp, u8 *stats, const u8 *dvs, u8 level);
void make_moves(u8 *moves, u8 *pp, u8 species, u8 level);
u8 move_at_level(u8 species, u8 level);
u32 exp_for_level(u8 level);
u32 exp_get(const u8 *at);
void exp_put(u8 *at, u32 value);
void seen(u8 species);

/* battle_screen.c */
void battle_screen(void);
void battle_middle(void);
void draw_names(void);
void draw_bar(u8 side, u16 hp, u16 max_hp);
void draw_exp(void);
void drain(u8 side, u16 from, u16 to);
void picture_clear(u8 side);
void picture_blink(u8 side);
void say(u16 id);

/* battle_turn.c */
extern u16 plain_stats[2][NUM_STATS];
void apply_stages(u8 side);
void use_move(u8 side, u8 move);
u8 moves_first(u8 player_move, u8 enemy_move);

#endif
