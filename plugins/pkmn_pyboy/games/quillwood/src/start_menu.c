/* The START menu and the party screen. */
#pragma bank 3
#include "game.h"

void start_menu(void) __banked
{
}
