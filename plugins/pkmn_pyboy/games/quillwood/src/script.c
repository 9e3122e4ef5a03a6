/* Runs the map scripts that tools/scripts.py compiles. */
#pragma bank 1
#include "game.h"
#include "walking.h"

#define NIGHT_FRAMES 30 /* that a rest takes */

static u8 window_open;

static u8 next(void)
{
	return far_byte(wScriptBank, wScriptPos++);
}

static u16 next_word(void)
{
	u16 value = far_word(wScriptBank, wScriptPos);
	wScriptPos += 2;
	return value;
}

/* Words in the box, which opens over the map with the first ones. */
static void say(u16 id)
{
	if (!window_open) {
		window_open = 1;
		wStateFlags |= 0x40;
		map_draw();
		message_box();
		screen_push(12, 6);
	}
	message_more(id);
}

/* A message that waits for a button. */
void script_say(u16 id)
{
	say(id);
	prompt();
}

/* A question, 1 for YES. */
u8 script_ask(u16 id)
{
	u8 answer;
	say(id);
	answer = yes_no();
	/* take the choice window off again, the message box stays */
	map_draw();
	message_box();
	screen_push(6, 12);
	pushed_from = 12;
	return answer;
}

/* Takes all windows off the map. */
void window_close(void) __banked
{
	if (window_open) {
		window_open = 0;
		map_redraw();
	}
	wStateFlags &= ~0x40;
	wWindowStackSize = 0;
}

static void jump_if(u8 condition)
{
	if (condition)
		wScriptPos = far_word(wScriptBank, wScriptPos);
	else
		wScriptPos += 2;
}

static u8 in_party(u8 species)
{
	u8 i;
	for (i = 0; i < wPartyCount; i++)
		if (party[i].species == species)
			return 1;
	return 0;
}

/* A battle with a trainer, or a wild creature if wild, then the map again. */
static void battle(u8 class, u8 id, u8 wild)
{
	if (window_open)
		window_close();
	if (wild)
		battle_wild(class, id);
	else
		battle_trainer(class, id);
	if (wBattleResult == RESULT_LOSS) {
		battle_lost = 1;
		return;
	}
	map_show();
	fade_in();
}

void script_run(u16 address) __banked
{
	u8 a, b, op;
	u16 w;
	wScriptRunning = RUN_SCRIPT;
	wScriptMode = 1;
	wScriptBank = wMapScriptsBank;
	wScriptPos = address;
	window_open = 0;
	while (!battle_lost && (op = next()) != OP_END) {
		switch (op) {
		case OP_SAY:
			script_say(next_word());
			break;
		case OP_ASK:
			wScriptVar = script_ask(next_word());
			break;
		case OP_FACE:
			if (hLastTalked) {
				objects[hLastTalked].direction = player.direction ^ 4;
				objects_draw();
			}
			break;
		case OP_TURN:
			a = next();
			objects[a].direction = next() << 2;
			objects_draw();
			break;
		case OP_TURNPLAYER:
			player.direction = next() << 2;
			objects_draw();
			break;
		case OP_WALK:
			a = next();
			b = next();
			window_close();
			wScriptMode = 2;
			while (b--)
				player_walk(a);
			break;
		case OP_IFFLAG:
		case OP_TRAINER:
			jump_if(flag_get(next_word()));
			break;
		case OP_SETFLAG:
			flag_set(next_word());
			break;
		case OP_CLEARFLAG:
			flag_clear(next_word());
			break;
		case OP_IFFACING:
			a = next();
			jump_if(player.direction == a << 2);
			break;
		case OP_CHANGES:
			window_close();
			map_changes();
			map_places();
			map_neighbours();
			map_draw();
			screen_push(0, 18);
			pushed_from = 18;
			objects_draw();
			break;
		case OP_IFSCENE:
			w = next_word();
			jump_if(*(u8 *)w == next());
			break;
		case OP_SETSCENE:
			w = next_word();
			*(u8 *)w = next();
			break;
		case OP_IFNO:
			jump_if(!wScriptVar);
			break;
		case OP_JUMP:
			jump_if(1);
			break;
		case OP_IFBADGE:
			jump_if(wJohtoBadges & (u8)(1 << next()));
			break;
		case OP_BADGE:
			wJohtoBadges |= 1 << next();
			break;
		case OP_STATUS:
			wStatusFlags |= 1 << next();
			break;
		case OP_NAMERIVAL:
			window_close();
			fade_out();
			naming(wRivalName, 0, NAME_LENGTH);
			map_show();
			fade_in();
			break;
		case OP_IFITEM:
			jump_if(item_count(next()));
			break;
		case OP_GIVEITEM:
			a = next();
			b = next();
			item_name(name_buffer, a);
			wScriptVar = item_give(a, b);
			break;
		case OP_TAKEITEM:
			item_take(next(), 1);
			break;
		case OP_IFSPECIES:
			jump_if(in_party(next()));
			break;
		case OP_IFFULL:
			jump_if(wPartyCount == PARTY_SIZE);
			break;
		case OP_SHOP:
			a = next();
			window_close();
			shop(a);
			window_open = 1;
			break;
		case OP_NICKNAME:
			window_close();
			offer_nickname();
			break;
		case OP_BATTLE:
			a = next();
			battle(a, next(), 0);
			break;
		case OP_WILD:
			a = next();
			battle(a, next(), 1);
			break;
		case OP_HOUR:
			window_close();
			fade_out();
			wStartHour = next();
			clock_read();
			wait_frames(NIGHT_FRAMES);
			map_show();
			fade_in();
			break;
		case OP_IFNIGHT:
			jump_if(wTimeOfDay == NIGHT);
			break;
		case OP_STEP:
			a = next();
			b = next();
			window_close();
			wScriptMode = 2;
			w = next();
			while (w--)
				object_walk(a, b);
			wScriptMode = 1;
			break;
		case OP_EMOTE:
			emote_over = next();
			objects_draw();
			wait_frames(30);
			emote_over = 0;
			objects_draw();
			break;
		case OP_LETGO:
			window_close();
			wScriptVar = let_go();
			break;
		case OP_SHOVE:
			field_boulder();
			break;
		case OP_ENDING:
			window_close();
			ending();
			break;
		case OP_HIDE:
			a = next();
			flag_set(next_word());
			wObjectMasks[a] = 0xFF;
			map_objects[a].struct_id = 0xFF;
			objects[a].sprite = 0;
			objects_draw();
			break;
		case OP_GIVE:
			a = next();
			party_give(a, next());
			species_name(name_buffer, a);
			break;
		case OP_HEAL:
			party_heal();
			break;
		case OP_MEND:
			wScriptMode = 3;
			party_heal();
			wait_frames(40);
			wScriptMode = 1;
			break;
		case OP_SPAWN:
			wLastSpawnMapGroup = next();
			wLastSpawnMapNumber = next();
			break;
		}
	}
	if (battle_lost)
		return;
	window_close();
	wScriptRunning = 0;
	wScriptMode = 0;
}
