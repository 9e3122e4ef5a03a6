; What runs while the player walks, as quick as it can be: an emulator pays for every instruction
; that is not HALT. Waiting for a tick, cells of the map, collision, people and their figures.
	.module walk
	.globl	_tick_wait, _cells_row_asm, _cells_column_asm, _map_collision, _map_around_asm, _object_at
	.globl	_objects_draw, _player_move, _player_walk_on, _poll_joy, _place_find
	.globl	_wait_vblank, _strip_column_asm, _strip_row_asm
	.globl	_last_tick, _strip_pending, _draw_needed, _emote_over, _objects_walking

rIF	= 0x0F
rSCY	= 0x42
rSCX	= 0x43

hVBlankCounter	= 0x9B
hROMBank	= 0x9D
hJoypadDown	= 0xA4
hJoyPressed	= 0xA7
hJoyDown	= 0xA8
hJoyLast	= 0xA9
hDMA	= 0xFF80
hVblWork = 0xB1		; bit 0: figures, bit 1: place of the picture
hSCX	= 0xB2
hSCY	= 0xB3
hStripX	= 0xB8
hFoot	= 0xBB		; not 0: the player's figure has changed where it is
hCellX	= 0xC0		; arguments: x + 6 and y + 6 of a cell of the map
hCellY	= 0xC1
hCellPart = 0xC2	; where the cell lies in its block: 8 for the right half, 16 for the lower one
hCount	= 0xC3
hBlocks	= 0xC4		; address of the tileset's blocks as they are drawn (word)
hOriginX = 0xC6		; the screen's place on the map, modulo 256
hOriginY = 0xC7
hLowX	= 0xC8		; the first column and row from which figures are drawn
hLowY	= 0xC9
hOAM	= 0xCA		; low byte of the next free entry in the OAM shadow
hOAMEnd	= 0xCB		; that of the first entry not in use
hWalking = 0xCC		; of the figure that is drawn
hDirection = 0xCD
hRowSize = 0xCE		; argument of place_find
hShift	= 0xD3		; how far the others are to be shifted, 0 for not at all
hShiftWay = 0xD4	; by a step in this direction

wTileDown = 0xC2FA
wTileUp	= 0xC2FB
wTileLeft = 0xC2FC
wTileRight = 0xC2FD
wPlayerStepFlags = 0xD150
wYCoord	= 0xDCB7
wXCoord	= 0xDCB8
wMapScriptsBank	= 0xD1A3
wMapBorderBlock	= 0xD19D
wMapWidth	= 0xD19F
wTilesetCollisionBank = 0xD1DF
wTilesetCollisionAddress = 0xD1E0
wCurMapObjectEventCount = 0xDC04
wGameTimeFrames = 0xD4C8

BANK_DRAWN_BLOCKS = 13	; tools/rom.py
shadow_oam	= 0xC000
strip_buffer	= 0xC300	; 64 tiles, then 64 attributes
map_blocks	= 0xC800
objects		= 0xD4D6
OBJECT_SIZE	= 40
MOST_PEOPLE	= 12

; ---- fields of a figure (game.h: Object) -----------------------------------
SPRITE_TILE	= 2
FLAGS2		= 5
WALKING		= 7
DIRECTION	= 8
STEP_DURATION	= 10
STEP_FRAME	= 12
TILE_COLLISION	= 14
MAP_X		= 16
MAP_Y		= 17
LAST_MAP_Y	= 19
SPRITE_Y	= 24
X_OFFSET	= 25
Y_OFFSET	= 26
JUMP_HEIGHT	= 31
EMOTE_TILE	= 120

	.area	_CODE

; ---- void tick_wait(void): two frames after the last tick ------------------
; The first frame does without the interrupt handler: only its changes to the picture
; are made. The second one runs it, and so reads the buttons.
_tick_wait::
	ldh	a, (hVBlankCounter)
	ld	hl, #_last_tick
	sub	a, (hl)
	jr	nz, late
	di
	halt
	nop
	xor	a
	ldh	(rIF), a
	ld	hl, #wGameTimeFrames
	inc	(hl)
	ld	hl, #0xFF00 + hVBlankCounter
	inc	(hl)
	ld	a, (_strip_pending)
	or	a
	call	nz, strip
	ldh	a, (hShift)
	or	a
	call	nz, shift_figures
	ldh	a, (hFoot)
	or	a
	call	nz, foot
	ld	hl, #0xFF00 + hVblWork
	ld	a, (hl)
	or	a
	jr	z, 1$
	ld	(hl), #0
	rra
	ldh	a, (hSCX)
	ldh	(rSCX), a
	ldh	a, (hSCY)
	ldh	(rSCY), a
	call	c, hDMA
1$:	ei
	halt
	nop
ticked:	ldh	a, (hVBlankCounter)
	ld	(_last_tick), a
	ret
	; The work took more than a frame.
late:	call	_wait_vblank
	ldh	a, (hShift)
	or	a
	call	nz, shift_figures
	ldh	a, (hFoot)
	or	a
	call	nz, foot
	ld	a, (_strip_pending)
	or	a
	call	nz, strip
	ldh	a, (hVBlankCounter)
	ld	hl, #_last_tick
	sub	a, (hl)
	cp	#2
	jr	c, late
	jr	ticked

strip:	dec	a
	ld	(_strip_pending), a
	jp	z, _strip_column_asm
	xor	a
	ld	(_strip_pending), a
	jp	_strip_row_asm

; ---- the map ---------------------------------------------------------------
; The block of the tile B = x + 6, C = y + 6 to HL.
block_at:
	ld	hl, #map_blocks
	ld	a, (wMapWidth)
	add	a, #6
	ld	e, a
	ld	d, #0
	ld	a, c
	srl	a
1$:	srl	a
	jr	nc, 2$
	add	hl, de
2$:	sla	e
	rl	d
	or	a
	jr	nz, 1$
	ld	e, b
	srl	e
	ld	d, a
	add	hl, de
	ret

; u8 map_collision(u8 x, u8 y): the collision value of a tile; up to six outside the map they are those of the border
_map_collision::
	add	a, #6
	ld	b, a
	ld	a, e
	add	a, #6
	ld	c, a
	call	block_at
	ld	a, (wTilesetCollisionBank)
	ld	(0x2000), a
	call	collision_of
	ld	b, a
	ldh	a, (hROMBank)
	ld	(0x2000), a
	ld	a, b
	ret

; void map_around_asm(void): the collision values of the player's tile and of the four around it
_map_around_asm::
	ld	a, (wXCoord)
	add	a, #6
	ld	b, a
	ld	a, (wYCoord)
	add	a, #6
	ld	c, a
	call	block_at
	ld	a, (wTilesetCollisionBank)
	ld	(0x2000), a
	push	hl
	call	collision_of
	ld	(objects + TILE_COLLISION), a
	pop	hl
	push	hl
	inc	c
	bit	0, c
	jr	nz, 2$
	ld	a, (wMapWidth)
	add	a, #6
	ld	e, a
	ld	d, #0
	add	hl, de
2$:	call	collision_of
	ld	(wTileDown), a
	dec	c
	dec	c
	pop	hl
	push	hl
	bit	0, c
	jr	z, 3$
	ld	a, (wMapWidth)
	add	a, #6
	cpl
	ld	e, a
	ld	d, #0xFF
	inc	de
	add	hl, de
3$:	call	collision_of
	ld	(wTileUp), a
	inc	c
	pop	hl
	push	hl
	dec	b
	bit	0, b
	jr	z, 4$
	dec	hl
4$:	call	collision_of
	ld	(wTileLeft), a
	pop	hl
	inc	b
	inc	b
	bit	0, b
	jr	nz, 5$
	inc	hl
5$:	call	collision_of
	ld	(wTileRight), a
	ldh	a, (hROMBank)
	ld	(0x2000), a
	ret
; The collision value of the tile of parity B, C in the block at HL to A; the tileset's bank is there.
collision_of:
	ld	a, (hl)
	or	a
	jr	nz, 6$
	dec	a
	ret
6$:	ld	l, a
	ld	h, #0
	add	hl, hl
	add	hl, hl
	ld	a, b
	and	#1
	or	l
	bit	0, c
	jr	z, 7$
	or	#2
7$:	ld	l, a
	ld	a, (wTilesetCollisionAddress)
	ld	e, a
	ld	a, (wTilesetCollisionAddress + 1)
	ld	d, a
	add	hl, de
	ld	a, (hl)
	ret

; Before the first cell: its block's address to HL, its part of the block to hCellPart.
cells_begin:
	ldh	a, (hCellY)
	ld	c, a
	and	#1
	add	a, a
	ld	d, a
	ldh	a, (hCellX)
	ld	b, a
	and	#1
	or	d
	add	a, a
	add	a, a
	add	a, a
	ldh	(hCellPart), a
	ld	a, #BANK_DRAWN_BLOCKS
	ld	(0x2000), a
	jp	block_at

; The cell in the block at HL: its address to HL (tools/tilesets.py has the order of its eight bytes).
cell_bytes:
	ld	a, (hl)
	or	a
	jr	nz, 1$
	ld	a, (wMapBorderBlock)
1$:	rrca
	rrca
	rrca
	ld	b, a
	and	#0x1F
	ld	h, a
	xor	a, b
	ld	b, a
	ldh	a, (hCellPart)
	or	b
	ld	b, a
	ldh	a, (hBlocks)
	add	a, b
	ld	l, a
	ldh	a, (hBlocks + 1)
	adc	a, h
	ld	h, a
	ret

	.macro	PUT
	ld	a, (hl+)
	ld	(de), a
	.endm

; Ten cells from hCellX, hCellY to two rows of the strip buffer, from column hStripX on and round.
_cells_row_asm::
	ld	a, #10
	ldh	(hCount), a
	call	cells_begin
	ld	d, #>strip_buffer
	ldh	a, (hStripX)
	ld	e, a
1$:	push	hl
	call	cell_bytes
	PUT
	inc	e
	PUT
	set	5, e
	PUT
	dec	e
	PUT
	set	6, e		; attributes
	PUT
	inc	e
	PUT
	res	5, e
	PUT
	dec	e
	PUT
	res	6, e
	inc	e
	inc	e
	res	5, e		; round the row
	pop	hl
	ldh	a, (hCellPart)
	xor	a, #8
	ldh	(hCellPart), a
	bit	3, a
	jr	nz, 2$
	inc	hl
2$:	ldh	a, (hCount)
	dec	a
	ldh	(hCount), a
	jr	nz, 1$
	ldh	a, (hROMBank)
	ld	(0x2000), a
	ret

; Nine cells from hCellX, hCellY downwards to the strip buffer, two tiles a row.
_cells_column_asm::
	ld	a, #9
	ldh	(hCount), a
	call	cells_begin
	ld	de, #strip_buffer
1$:	push	hl
	call	cell_bytes
	PUT
	inc	e
	PUT
	inc	e
	inc	e
	PUT
	dec	e
	PUT
	set	6, e		; attributes
	PUT
	inc	e
	PUT
	dec	e
	dec	e
	PUT
	dec	e
	PUT
	ld	a, e
	sub	a, #64 - 4
	ld	e, a
	pop	hl
	ldh	a, (hCellPart)
	xor	a, #16
	ldh	(hCellPart), a
	bit	4, a
	jr	nz, 2$
	ld	a, (wMapWidth)
	add	a, #6
	ld	c, a
	ld	b, #0
	add	hl, bc
2$:	ldh	a, (hCount)
	dec	a
	ldh	(hCount), a
	jr	nz, 1$
	ldh	a, (hROMBank)
	ld	(0x2000), a
	ret

; ---- people ----------------------------------------------------------------
; How many people the map lists, at most MOST_PEOPLE.
people:	ld	a, (wCurMapObjectEventCount)
	cp	#MOST_PEOPLE
	ret	c
	ld	a, #MOST_PEOPLE
	ret

; u8 object_at(u8 map_x, u8 map_y): who stands there or is about to leave (coordinates plus 4), 0 for nobody
_object_at::
	ld	b, a
	ld	c, e
	call	people
	or	a
	ret	z
	ld	e, a
	ldh	(hCount), a
	ld	hl, #objects + OBJECT_SIZE
1$:	ld	a, (hl)
	or	a
	jr	z, 6$
	push	hl
	ld	a, l
	add	a, #MAP_X
	ld	l, a
	jr	nc, 2$
	inc	h
2$:	ld	a, (hl+)
	sub	a, b
	ld	d, a
	ld	a, (hl+)
	sub	a, c
	or	d
	jr	z, 3$
	ld	a, (hl+)	; where the person was before the step
	sub	a, b
	ld	d, a
	ld	a, (hl)
	sub	a, c
	or	d
	jr	nz, 5$
	ld	a, l
	sub	a, #LAST_MAP_Y - WALKING
	ld	l, a
	jr	nc, 4$
	dec	h
4$:	ld	a, (hl)
	inc	a		; STANDING?
	jr	z, 5$
3$:	pop	hl
	ldh	a, (hCount)
	sub	a, e
	inc	a
	ret
5$:	pop	hl
6$:	ld	a, l
	add	a, #OBJECT_SIZE
	ld	l, a
	jr	nc, 7$
	inc	h
7$:	dec	e
	jr	nz, 1$
	xor	a
	ret

; ---- figures ---------------------------------------------------------------
; void objects_draw(void): all figures to the OAM shadow
_objects_draw::
	call	origin
	xor	a
	ld	(_draw_needed), a
	ldh	(hShift), a
	ldh	(hOAM), a
	call	people
	inc	a
	ldh	(hCount), a
	ld	hl, #objects
1$:	ld	a, (hl)
	or	a
	jr	z, 2$
	push	hl
	call	figure
	pop	hl
2$:	ld	a, l
	add	a, #OBJECT_SIZE
	ld	l, a
	jr	nc, 3$
	inc	h
3$:	ldh	a, (hCount)
	dec	a
	ldh	(hCount), a
	jr	nz, 1$
	; entries that the last drawing used and this one does not
	ld	h, #>shadow_oam
	ldh	a, (hOAM)
	ld	l, a
	ldh	a, (hOAMEnd)
	ld	b, a
	ld	a, l
	ldh	(hOAMEnd), a
	ld	de, #4
4$:	ld	a, l
	cp	b
	jr	nc, 5$
	ld	(hl), #0
	add	hl, de
	jr	4$
5$:	ldh	a, (hVblWork)
	or	#1
	ldh	(hVblWork), a
	ret

; The player's figure alone, which is the first one and stays in its place.
player_draw:
	ld	hl, #shadow_oam
	ld	a, l
	ldh	(hOAM), a
	ld	a, (hl+)
	ld	c, a
	ld	b, (hl)
	ld	hl, #objects
	call	look
	ld	a, #1
	ldh	(hFoot), a
	ret

; Where the screen lies on the map.
origin:	ld	hl, #objects + MAP_X
	ld	a, (hl+)
	ld	c, (hl)
	ld	b, a
	sub	a, #7
	ldh	(hLowX), a
	ld	a, c
	sub	a, #7
	ldh	(hLowY), a
	ld	hl, #objects + X_OFFSET
	ld	a, b
	swap	a
	and	#0xF0
	add	a, (hl)
	cpl
	add	a, #73		; 64 and the 8 that OAM counts more
	ldh	(hOriginX), a
	inc	hl
	ld	a, c
	swap	a
	and	#0xF0
	add	a, (hl)
	cpl
	add	a, #77		; 60 and the 16 that OAM counts more
	ldh	(hOriginY), a
	ret

; The object at HL to the next two OAM entries, if it is near enough.
figure:	push	hl
	ld	de, #MAP_X
	add	hl, de
	ldh	a, (hLowX)
	ld	c, a
	ld	a, (hl+)
	ld	b, a
	sub	a, c
	cp	#15
	jr	nc, 1$
	ldh	a, (hLowY)
	ld	c, a
	ld	a, (hl)
	sub	a, c
	cp	#15
	jr	c, 2$
1$:	pop	hl
	ld	de, #FLAGS2
	add	hl, de
	set	6, (hl)
	ret
2$:	ld	c, (hl)
	ld	de, #X_OFFSET - MAP_Y
	add	hl, de
	swap	b
	ld	a, b
	and	#0xF0
	add	a, (hl)
	ld	b, a
	ldh	a, (hOriginX)
	add	a, b
	ld	b, a		; B: x as OAM counts it
	inc	hl
	swap	c
	ld	a, c
	and	#0xF0
	add	a, (hl)
	ld	c, a
	ldh	a, (hOriginY)
	add	a, c
	ld	de, #JUMP_HEIGHT - Y_OFFSET
	add	hl, de
	sub	a, (hl)
	ld	c, a		; C: y as OAM counts it
	ld	de, #SPRITE_Y - JUMP_HEIGHT
	add	hl, de
	sub	a, #16
	ld	(hl-), a
	ld	a, b
	sub	a, #8
	ld	(hl), a
	pop	hl
; How the object at HL looks, at C, B.
look:	inc	hl
	inc	hl
	ld	a, (hl+)	; which sheet: five in each bank of video memory
	ld	d, #0
	cp	#5
	jr	c, 3$
	sub	a, #5
	ld	d, #0x08
3$:	add	a, a
	add	a, a
	add	a, a
	ld	e, a
	add	a, a
	add	a, e
	ld	e, a		; E: its first tile
	inc	hl
	inc	hl
	res	6, (hl)
	inc	hl
	ld	a, (hl+)
	or	d
	ld	d, a		; D: attributes
	ld	a, (hl+)
	ldh	(hWalking), a
	ld	a, (hl+)
	ldh	(hDirection), a
	add	a, a
	cp	#24
	jr	nz, 4$
	ld	a, #16		; to the right: to the left, mirrored
	set	5, d
4$:	add	a, e
	ld	e, a
	inc	hl
	ld	a, (hl+)	; ticks left: in the middle of a step a foot is forward
	sub	a, #3
	cp	#4
	jr	nc, 6$
	ldh	a, (hWalking)
	inc	a
	jr	z, 6$
	ld	a, e
	add	a, #4
	ld	e, a
	inc	hl
	ld	a, (hl+)
	or	a
	ldh	a, (hDirection)
	jr	z, 5$
	or	#2
	bit	3, a
	jr	nz, 5$
	set	5, d		; up and down: the other foot by mirroring
5$:	or	#1
	jr	7$
6$:	inc	hl
	inc	hl
	ldh	a, (hDirection)
7$:	ld	(hl), a		; facing
	ld	h, #>shadow_oam
	ldh	a, (hOAM)
	ld	l, a
	ld	a, c
	ld	(hl+), a
	ld	a, b
	ld	(hl+), a
	ld	a, e
	bit	5, d
	jr	z, 8$
	add	a, #2
8$:	ld	(hl+), a
	ld	a, d
	ld	(hl+), a
	ld	a, c
	ld	(hl+), a
	ld	a, b
	add	a, #8
	ld	(hl+), a
	ld	a, e
	bit	5, d
	jr	nz, 9$
	add	a, #2
9$:	ld	(hl+), a
	ld	a, d
	ld	(hl+), a
	ld	a, l
	ldh	(hOAM), a
	ld	a, (_emote_over)
	or	a
	ret	z
	; a mark over the head of one person
	ld	d, a
	call	people
	ld	e, a
	ldh	a, (hCount)	; counts down from that plus one
	add	a, d
	dec	a
	cp	e
	ret	nz
	ld	a, c
	sub	a, #16
	ld	c, a
	ld	(hl+), a
	ld	a, b
	ld	(hl+), a
	ld	a, #EMOTE_TILE
	ld	(hl+), a
	ld	a, #7
	ld	(hl+), a
	ld	a, c
	ld	(hl+), a
	ld	a, b
	add	a, #8
	ld	(hl+), a
	ld	a, #EMOTE_TILE + 2
	ld	(hl+), a
	ld	a, #7
	ld	(hl+), a
	ld	a, l
	ldh	(hOAM), a
	ret

; ---- void player_move(void): one tick of the player's step, and of the picture with it ----
_player_move::
	ld	hl, #wPlayerStepFlags
	ld	a, (hl)
	and	#0x10
	or	#0x20
	ld	(hl), a
	ld	hl, #objects + STEP_DURATION
	dec	(hl)
	ld	a, (hl)
	ld	b, a		; B: ticks left
	add	a, a
	ld	d, a
	ldh	a, (hVblWork)
	or	#2
	ldh	(hVblWork), a
	ld	hl, #objects + X_OFFSET
	ld	c, #hSCX
	ld	a, (objects + WALKING)
	and	#3		; down, up, left, right
	ld	e, a
	cp	#2
	jr	nc, 1$
	inc	hl
	inc	c
1$:	or	a
	jr	z, 2$
	cp	#3
	jr	z, 2$
	ld	(hl), d		; up or left
	ldh	a, (c)
	sub	a, #2
	ldh	(c), a
	ld	d, #2
	jr	3$
2$:	xor	a
	sub	a, d
	ld	(hl), a
	ldh	a, (c)
	add	a, #2
	ldh	(c), a
	ld	d, #-2
	; D: how far the others have moved on the screen. All figures are drawn at the end of every second step, and where
	; somebody else walks too; in between the others are only shifted. Who comes into view is there since the last
	; drawing, at most three columns off screen.
3$:	ld	a, (_objects_walking)
	ld	hl, #_draw_needed
	or	a, (hl)
	jr	nz, draw_all
	ld	a, (wPlayerStepFlags)
	and	#0x10		; jumping
	jr	nz, draw_all
	ld	a, b
	or	a
	jr	nz, 4$
	ld	a, (objects + STEP_FRAME)
	or	a
	jr	z, draw_all
	jr	5$
4$:	and	#3
	cp	#2		; 6 and 2: the foot
	jr	nz, shift
5$:	push	de
	call	player_draw
	pop	de
shift:	ldh	a, (hOAMEnd)
	cp	#9
	ret	c		; nobody but the player
	ld	a, e
	ldh	(hShiftWay), a
	ld	a, d
	ldh	(hShift), a
	ret
draw_all:
	ld	a, #1
	ld	(_draw_needed), a
	ret

; In VBlank: tiles and attributes of the player's two entries, without a transfer of them all.
foot:	xor	a
	ldh	(hFoot), a
	ld	hl, #shadow_oam + 2
	ld	d, #0xFE
	ld	e, l
	ld	a, (hl+)
	ld	(de), a
	inc	e
	ld	a, (hl)
	ld	(de), a
	ld	l, #6
	ld	e, l
	ld	a, (hl+)
	ld	(de), a
	inc	e
	ld	a, (hl)
	ld	(de), a
	ret

; In VBlank: the figures of the others hShift pixels on, in OAM itself and in its shadow.
shift_figures:
	ld	d, a
	xor	a
	ldh	(hShift), a
	ld	hl, #shadow_oam + 8	; behind the player's two entries
	ldh	a, (hOAMEnd)
	sub	a, l
	rrca
	rrca
	rrca
	ld	b, a		; figures of two entries
	ld	c, #0xFE	; high byte of OAM
	ld	e, #0		; the right half is as high as the left one
	ldh	a, (hShiftWay)
	cp	#2
	jr	c, 1$
	ld	e, #8		; and eight pixels further
	inc	l		; x
1$:	ld	a, (hl)
	add	a, d
	ld	(hl), a
	ld	h, c
	ld	(hl), a
	set	2, l
	add	a, e
	ld	(hl), a
	ld	h, #>shadow_oam
	ld	(hl), a
	ld	a, l
	add	a, #4
	ld	l, a
	dec	b
	jr	nz, 1$
	ret

; u8 player_walk_on(void): the ticks of a step up to the one that ends it, where nobody else walks; returns how many
_player_walk_on::
	ld	a, (objects + STEP_DURATION)
	dec	a
	push	af
1$:	call	_tick_wait
	call	_poll_joy
	call	_player_move
	ld	a, (_draw_needed)
	or	a
	call	nz, _objects_draw
	ld	a, (objects + STEP_DURATION)
	dec	a
	jr	nz, 1$
	pop	af
	ret

; void poll_joy(void): what is held, and what was pressed since the last time
_poll_joy::
	ldh	a, (hJoypadDown)
	ld	b, a
	ldh	a, (hJoyDown)
	cpl
	and	b
	ldh	(hJoyPressed), a
	ldh	(hJoyLast), a
	ld	a, b
	ldh	(hJoyDown), a
	ret

; u8 place_find(u8 count, u16 address): which row of a map's list, from 1, begins with hCellY, hCellX; 0 for none.
; A row has hRowSize bytes.
_place_find::
	or	a
	ret	z
	ld	h, d
	ld	l, e
	ld	e, a
	ldh	(hCount), a
	ld	a, (wMapScriptsBank)
	ld	(0x2000), a
	ldh	a, (hCellX)
	ld	b, a
	ldh	a, (hRowSize)
	ld	c, a
1$:	ldh	a, (hCellY)
	cp	(hl)
	jr	nz, 2$
	inc	hl
	ld	a, (hl-)
	cp	b
	jr	z, 4$
2$:	ld	a, l
	add	a, c
	ld	l, a
	jr	nc, 3$
	inc	h
3$:	dec	e
	jr	nz, 1$
	ld	c, e
	jr	5$
4$:	ldh	a, (hCount)
	sub	a, e
	inc	a
	ld	c, a
5$:	ldh	a, (hROMBank)
	ld	(0x2000), a
	ld	a, c
	ret
