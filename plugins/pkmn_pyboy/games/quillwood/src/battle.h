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
#define EFFECT_SLEEP 1
#define EFFECT_POISON_HIT 2
#define EFFECT_DRAIN 3
#define EFFECT_PARALYZE_HIT 6
#define EFFECT_ATTACK_UP 10
#define EFFECT_DEFENSE_UP 11
#define EFFECT_SPEED_UP 12
#define EFFECT_ATTACK_DOWN 18
#define EFFECT_DEFENSE_DOWN 19
#define EFFECT_SPEED_DOWN 20
#define EFFECT_ACCURACY_DOWN 23
#define EFFECT_MEND 32
#define EFFECT_POISON 66
#define EFFECT_PARALYZE 67
#define EFFECT_STRIKES_FIRST 103
#define EFFECT_TRAP 106

#define TRAPS 0x80 /* of the fifth condition byte of the one who holds the other side fast, as Crystal has it */

#define GROWTH_FAST 4
#define GROWTH_SLOW 5

#define FIRST_SPECIAL_TYPE 20 /* from here on the special stats count */
#define CRITICAL_CHANCE 17 /* of 256 */
#define SAME_TYPE 0x80 /* in wTypeModifier, beside the factor x 10 */

#define MOVE_BUMP 1
#define NO_MOVE 0xFF

/* creature.c */
void make_stats(u8 *max_hp, u8 *stats, const u8 *dvs, u8 level);
void make_moves(u8 *moves, u8 *pp, u8 species, u8 level);
u8 move_at_level(u8 species, u8 level);
u8 evolution(u8 species, u8 level);
u32 exp_for_level(u8 species, u8 level);
u32 exp_get(const u8 *at);
void exp_put(u8 *at, u32 value);
void seen(u8 species);
void caught(u8 species);
void mon_make(PartyMon *mon, u8 species, u8 level, u8 dvs_high, u8 dvs_low);
void party_join(u8 slot);
void party_grow(u8 slot);

/* battle_screen.c */
#define PICTURE_ONLY 2
#define TRAINER_OUT 3
extern u8 enemy_out, own_out; /* whose picture is shown */
extern u8 picture_only; /* the species shown without name and bar */
void battle_screen(void);
void battle_middle(void);
void battle_picture(u8 side);
void trainer_back(void);
void battle_rows(void);
void battle_restore(void);
void draw_names(void);
void draw_bar(u8 side, u16 hp, u16 max_hp);
void draw_exp(void);
void drain(u8 side, u16 from, u16 to);
void picture_clear(u8 side);
void picture_blink(u8 side);
void say(u16 id);

/* battle_damage.c */
extern u16 plain_stats[2][NUM_STATS];
BattleMon *mon_of(u8 side);
u8 *stages_of(u8 side);
u8 *move_struct(u8 side);
void apply_stages(u8 side);
u8 moves_first(u8 player_move, u8 enemy_move);
u32 matched(u8 type, BattleMon *defender, u32 value);
u16 full_damage(u8 side, const u8 *move, u8 critical);
void damage(u8 side);
u8 hits(u8 side);
u8 *trap_of(u8 side);

/* battle_turn.c */
void use_move(u8 side, u8 slot);
u8 withstands(u8 side, const u8 *move);
void hurt_by_poison(u8 side);

/* battle_side.c */
void clear_bytes(u8 *at, u8 count);
void neutral(u8 *stages);
void make_wild(u8 species, u8 level);
void make_foes(u8 class, u8 id);
u8 enemy_choice(void);
void enemy_send_out(u8 slot);
u8 foe_next(void);
void send_out(u8 slot);
void own_send_out(u8 slot);
u8 first_fit(void);
u8 has_pp(const BattleMon *mon);

/* battle_menu.c: what the player wants */
#define WANT_MOVE 0
#define WANT_ITEM 1
#define WANT_SWITCH 2
#define WANT_RUN 3
extern u8 wanted_slot; /* the move, the item or the party member */
u8 ask_player(void);
u8 choose_member(u8 can_cancel);
u8 tries_to_run(void);

/* battle_reward.c */
extern u8 grown;
void reward_foe(void);
void evolve_all(void);

/* battle_catch.c */
u8 throw_ball(u8 item);

#endif
