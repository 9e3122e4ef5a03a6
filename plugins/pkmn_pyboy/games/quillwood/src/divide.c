/* Long division for the compiler: nearly all numbers of the game fit 16 bits, for which it is much shorter. */
#include "game.h"

u32 _divulong(u32 value, u32 by)
{
	u32 rest = 0;
	u8 bits = 32, carry;
	if (!(u16)(value >> 16) && !(u16)(by >> 16))
		return (u16)value / (u16)by;
	while (bits && !(u8)(value >> 24)) {
		value <<= 8;
		bits -= 8;
	}
	for (; bits; bits--) {
		carry = (u8)(value >> 24) & 0x80;
		value <<= 1;
		rest <<= 1;
		if (carry)
			rest |= 1;
		if (rest >= by) {
			rest -= by;
			value |= 1;
		}
	}
	return value;
}
