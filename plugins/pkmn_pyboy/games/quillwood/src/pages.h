/* What the files of bank 3 share. */
#ifndef PAGES_H
#define PAGES_H

#define LIST_LEFT 0xFE
#define LIST_RIGHT 0xFD
/* what list_run does beside up, down, A and B */
#define LIST_SIDEWAYS 1 /* left and right end it */
#define LIST_LEAVE 2    /* a last entry leaves it, and each entry has two rows */

/* Pages that fill the screen stand so long before anything on them can be chosen, as they do in Crystal. */
#define PACK_FRAMES 36
#define PARTY_FRAMES 20

#define MOST_OF_ONE 99 /* of a thing in the pack */

extern u8 list_at, list_top; /* entry under the cursor and first entry shown */
u8 list_run(u8 count, u8 row, u8 col, u8 visible, u8 width, void (*draw)(u8 entry, u8 row), u8 how);
extern void (*list_note)(u8 entry); /* called for the entry under the cursor, 0 for none */
u8 pocket_count(u8 pocket);
u8 pocket_item(u8 pocket, u8 entry);
u8 pocket_amount(u8 pocket, u8 entry);
u32 item_price(u8 item);
u8 item_pocket(u8 item);
u8 quantity(u8 row, u8 most, u32 price);
extern u8 lesson_asked; /* place of the lesson that the party is asked about, 0 for none */
u8 lesson_fits(u8 species, u8 lesson);
void party_rows(void);
u8 lesson_use(u8 item);
void play_time(u8 row, u8 col);
void wait_for_button(void);
u8 badge_count(void);
u16 species_count(const u8 *bits);
void card_page(void);
void guide_page(void);

#endif
