/* Runs the map scripts that tools/scripts.py compiles. */
#pragma bank 1
#include "game.h"

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

void script_run(u16 address) __banked
{
	u8 a, b, op;
	u16 w;
	wScriptRunning = 255;
	wScriptMode = 1;
	wScriptBank = wMapScriptsBank;
	wScriptPos = address;
	window_open = 0;
	while ((op = next()) != OP_END) {
		switch (op) {
		case OP_SAY:
			say(next_word());
			prompt();
			break;
		case OP_ASK:
			say(next_word());
			wScriptVar = yes_no();
			/* take the choice window off again, the message box stays */
			map_draw();
			message_box();
			screen_push(6, 12);
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
			w = next_word();
			if (flag_get(w))
				wScriptPos = far_word(wScriptBank, wScriptPos);
			else
				wScriptPos += 2;
			break;
		case OP_SETFLAG:
			flag_set(next_word());
			break;
		case OP_IFSCENE:
			w = next_word();
			a = next();
			if (*(u8 *)w == a)
				wScriptPos = far_word(wScriptBank, wScriptPos);
			else
				wScriptPos += 2;
			break;
		case OP_SETSCENE:
			w = next_word();
			*(u8 *)w = next();
			break;
		case OP_IFNO:
			if (!wScriptVar)
				wScriptPos = far_word(wScriptBank, wScriptPos);
			else
				wScriptPos += 2;
			break;
		case OP_JUMP:
			wScriptPos = far_word(wScriptBank, wScriptPos);
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
			copy_name(name_buffer, BANK_POKEMON_NAMES, ADDR_POKEMON_NAMES, 0);
			far_copy(name_buffer, BANK_POKEMON_NAMES, ADDR_POKEMON_NAMES + (u16)(a - 1) * 10, 10);
			name_buffer[10] = CH_END;
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
	window_close();
	wScriptRunning = 0;
	wScriptMode = 0;
}
