/* Throwing a capsule at a wild creature. */
#pragma bank 2
#include "game.h"
#include "battle.h"

/* Of 255: more for weak and ailing ones. */
static u8 chance(u8 power)
{
	u16 hp = get16(enemy_mon->hp), most = get16(enemy_mon->max_hp);
	u32 value = (u32)(most * 3 - hp * 2) * wEnemyMonCatchRate / (most * 3);
	value = value * power / 10;
	if (enemy_mon->status)
		value += 20;
	return value > 255 ? 255 : value ? (u8)value : 1;
}

/* 1 when the creature is caught and the battle over. */
u8 throw_ball(u8 item)
{
	u8 slot = wPartyCount, i, odds, shakes;
	item_name(move_buffer, item);
	say(TX_THREW);
	item_take(item, 1);
	odds = chance(item_power(item));
	picture_clear(SIDE_ENEMY);
	shakes = random() <= odds ? 3 : 1 + (random() & 1);
	for (i = 0; i < shakes; i++) {
		screen_put(5, 15, 0xF4);
		screen_push(5, 1);
		wait_frames(12);
		screen_put(5, 15, CH_SPACE);
		screen_push(5, 1);
		wait_frames(8);
	}
	if (shakes < 3) {
		battle_picture(SIDE_ENEMY);
		message(TX_BROKE_FREE);
		return 0;
	}
	message(TX_CAUGHT);
	for (i = 0; i < sizeof(PartyMon); i++)
		((u8 *)&party[slot])[i] = ((u8 *)&foes[0])[i];
	party_join(slot);
	flag_set(FLAG_FIRST_CATCH);
	offer_nickname();
	wBattleResult = RESULT_WIN;
	return 1;
}
