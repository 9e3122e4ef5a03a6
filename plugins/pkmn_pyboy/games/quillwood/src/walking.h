/* What the files of walking share: bank 1. */
#ifndef WALKING_H
#define WALKING_H

#define STANDING 0xFF
#define STEP_TICKS 8
#define THICKET 0x12 /* collision */
/* wScriptRunning */
#define RUN_SCRIPT 255
#define RUN_EDGE 4
#define RUN_WARP 5
#define RUN_BLACKOUT 7
#define RUN_TURN 9

extern const i8 step_x[4];
extern const i8 step_y[4];
extern u8 continuing; /* the last step ended with a direction held */

/* overworld.c */
void at_rest(void);
void begin_step(u8 direction);
void move(void);
/* crossing.c: doors, stairs, mats, map edges */
u8 warp_at(u8 x, u8 y);
u8 warps_on_entry(u8 collision);
u8 mat_for(u8 collision, u8 direction);
void arrive(void);
void warp(u8 number);
void cross(u8 direction);
/* speaking.c: triggers, people, signs */
u16 trigger_here(void);
void run_script(u16 address);
void interact(void);
/* encounters.c: wild creatures, poison, the way back to the healer */
#define POISON_TOOK_ALL 2
u8 encounter(void);
u8 field_poison(void);
void blackout(void);

#endif
