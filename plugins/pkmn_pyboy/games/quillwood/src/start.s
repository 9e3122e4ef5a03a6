; Cartridge entry, interrupt handler and the few routines that must be fast.
	.module start
	.globl	_main
	.globl	_wait_vblank, _idle_asm, _turn_rows_asm, _push_rows_asm, _strip_column_asm, _strip_row_asm
	.globl	_turn_tiles_asm, _push_tiles_asm, _load_palettes_asm, ___sdcc_bcall_ehl

; ---- registers -------------------------------------------------------------
rP1	= 0x00
rDIV	= 0x04
rIF	= 0x0F
rLCDC	= 0x40
rSCY	= 0x42
rSCX	= 0x43
rDMA	= 0x46
rVBK	= 0x4F
rHDMA1	= 0x51
rHDMA2	= 0x52
rHDMA3	= 0x53
rHDMA4	= 0x54
rHDMA5	= 0x55
rBCPS	= 0x68
rBCPD	= 0x69
rSVBK	= 0x70
rIE	= 0xFF

; ---- fields shared with the game state (data/memory.toml) ------------------
hJoypadPressed	= 0xA3
hJoypadDown	= 0xA4
hVBlankCounter	= 0x9B
hROMBank	= 0x9D
hRandomAdd	= 0xE1
hRandomSub	= 0xE2
wGameTimeHours	= 0xD4C4
wGameTimeMinutes = 0xD4C6
wGameTimeSeconds = 0xD4C7
wGameTimeFrames	= 0xD4C8
wTilemap	= 0xC4A0
wAttrmap	= 0xCDD9

; ---- own fields in HRAM ----------------------------------------------------
hDMA	= 0xFF80		; the OAM transfer routine, 18 bytes
hVblWork = 0xB1			; what the handler has to do
hSCX	= 0xB2
hSCY	= 0xB3
hBgCol	= 0xB4			; BG map column (tiles) of screen column 0
hBgRow	= 0xB5			; BG map row (tiles) of screen row 0
hPushRow = 0xB6			; arguments of push_rows_asm
hPushCount = 0xB7
hStripX	= 0xB8			; BG map cell where a strip begins
hStripY	= 0xB9
hTmp	= 0xBA
hIdle	= 0xBE
hPal	= 0xBC			; address of the 128 palette bytes (word)
hPalCount = 0xBF		; 1: those of the background only

shadow_oam = 0xC000
push_tiles = 0xC300		; six BG map rows
strip_buffer = 0xC300		; 64 tiles, then 64 attributes: a strip is shown before rows are pushed
push_attrs = 0xC3C0
stack_top = 0xC29C

	.area	_HEADER (ABS)
	.org	0x00
	ret
	; VBlank is the only interrupt in use, so its handler may lie over the other entries.
	; It is kept short: at rest it is nearly all that runs.
	.org	0x40
vblank:
	push	af
	push	hl
	; random numbers: mixed with the divider
	ldh	a, (rDIV)
	ld	hl, #0xFF00 + hRandomAdd
	adc	a, (hl)
	ld	(hl+), a
	xor	a, (hl)
	ld	(hl), a
	ld	l, #hVBlankCounter
	inc	(hl)
	ld	l, #hVblWork	; not 0: the picture's place is new; bit 0: figures too
	ld	a, (hl)
	or	a
	jr	z, buttons
	ld	(hl), #0
	rra
	ldh	a, (hSCX)
	ldh	(rSCX), a
	ldh	a, (hSCY)
	ldh	(rSCY), a
	call	c, hDMA
buttons:
	ld	a, #0x20
	ldh	(rP1), a
	ldh	a, (rP1)
	ldh	a, (rP1)
	or	#0xF0
	swap	a
	ld	l, a
	ld	a, #0x10
	ldh	(rP1), a
	ldh	a, (rP1)
	ldh	a, (rP1)
	or	#0xF0
	and	l
	cpl
	ld	l, a		; low nibble A B Select Start, high nibble Right Left Up Down
	ldh	a, (hJoypadDown)
	xor	l
	jr	nz, pressed
	ldh	(hJoypadPressed), a
time:
	ld	hl, #wGameTimeFrames
	inc	(hl)
	ld	a, (hl)
	cp	#60
	jr	nc, second
	pop	hl
	pop	af
	reti
pressed:
	and	l
	ldh	(hJoypadPressed), a
	ld	a, l
	ldh	(hJoypadDown), a
	ld	hl, #0xFF00 + hRandomAdd
	add	a, (hl)		; what is pressed, and when, changes what comes
	ld	(hl), a
	jr	time
second:	sub	a, #60
	ld	(hl-), a
	inc	(hl)		; seconds
	ld	a, (hl)
	cp	#60
	jr	c, 3$
	xor	a
	ld	(hl-), a
	inc	(hl)		; minutes
	ld	a, (hl)
	cp	#60
	jr	c, 3$
	xor	a
	ld	(hl-), a
	inc	(hl)		; hours, low byte
	jr	nz, 3$
	dec	hl
	inc	(hl)
3$:	pop	hl
	pop	af
	reti

	.org	0x100
	nop
	jp	start
	; 0x104-0x14F: header, written by tools/pack_rom.py
	.org	0x150
_reset_asm::
start:
	di
	ld	sp, #stack_top
	; LCD off inside VBlank
1$:	ldh	a, (0x44)
	cp	#144
	jr	c, 1$
	xor	a
	ldh	(rLCDC), a
	ldh	(rIF), a
	ldh	(rIE), a
	inc	a
	ldh	(rSVBK), a
	; every byte of RAM starts at zero, so that a power-on is always the same
	ld	hl, #0xC000
	ld	bc, #0x2000
2$:	xor	a
	ld	(hl+), a
	dec	bc
	ld	a, b
	or	c
	jr	nz, 2$
	ld	c, #0x80
3$:	xor	a
	ldh	(c), a
	inc	c
	ld	a, c
	cp	#0xFF
	jr	nz, 3$
	ld	e, #2
4$:	dec	e
	ld	a, e
	ldh	(rVBK), a
	ld	hl, #0x8000
	ld	bc, #0x2000
5$:	xor	a
	ld	(hl+), a
	dec	bc
	ld	a, b
	or	c
	jr	nz, 5$
	ld	a, e
	or	a
	jr	nz, 4$
	; OAM transfer routine to HRAM
	ld	hl, #dma_code
	ld	de, #hDMA
	ld	b, #dma_end - dma_code
6$:	ld	a, (hl+)
	ld	(de), a
	inc	e
	dec	b
	jr	nz, 6$
	ld	a, #1
	ldh	(hROMBank), a
	ld	(0x2000), a
	dec	a
	ld	(0x3000), a
	call	hDMA
	xor	a
	ldh	(rIF), a
	inc	a
	ldh	(rIE), a
	ei
	jp	_main

dma_code:
	ld	a, #>shadow_oam
	ldh	(rDMA), a
	ld	a, #8		; 160 cycles, in as few instructions as fit
9$:	add	sp, #0
	add	sp, #0
	add	sp, #0
	add	sp, #0
	dec	a
	jr	nz, 9$
	ret
dma_end:

; ---- waiting ---------------------------------------------------------------
; Halt until the next VBlank has been handled.
_wait_vblank::
	ld	hl, #0xFF00 + hVBlankCounter
	ld	a, (hl)
1$:	halt
	nop
	cp	(hl)
	jr	z, 1$
	ret

; Nothing moves and no button is held: waits two frames at a time until a button
; goes down, or until hIdle pairs of frames have passed. The first frame of a pair
; is only counted, without the handler; the second one runs it.
_idle_asm::
	ldh	a, (hIdle)
	ld	c, a
1$:	di
	halt
	nop
	xor	a
	ldh	(rIF), a
	ld	hl, #wGameTimeFrames
	inc	(hl)
	ld	hl, #0xFF00 + hVBlankCounter
	inc	(hl)
	ei
	halt
	nop
	ldh	a, (hJoypadDown)
	or	a
	jr	nz, 2$
	dec	c
	jr	nz, 1$
2$:	ld	a, c
	ldh	(hIdle), a
	ret

; ---- calls into another bank: bank in E, address in HL ---------------------
___sdcc_bcall_ehl::
	ldh	a, (hROMBank)
	push	af
	ld	a, e
	ldh	(hROMBank), a
	ld	(0x2000), a
	call	call_hl
	pop	bc
	ld	c, a
	ld	a, b
	ldh	(hROMBank), a
	ld	(0x2000), a
	ld	a, c
	ret
call_hl:
	jp	(hl)

; ---- screen buffer to BG map -----------------------------------------------
; DMA moves whole BG map rows of 32 tiles, so the rows are first turned in
; push_tiles and push_attrs to where they lie in the map. The 12 tiles of a row
; that are off screen get what is in the buffer; a step draws them before it
; brings them into view.

; Turns hPushCount (at most 6) rows from row hPushRow of the screen buffer.
_turn_rows_asm::
	call	_turn_tiles_asm
	ld	bc, #wAttrmap - wTilemap
	add	hl, bc
	ld	de, #push_attrs
	jr	turn
; The tiles alone; HL keeps where they are in the buffer.
_turn_tiles_asm::
	ldh	a, (hPushRow)
	ld	l, a
	ld	h, #0
	ld	c, l
	ld	b, h
	add	hl, hl
	add	hl, hl
	add	hl, bc
	add	hl, hl
	add	hl, hl		; HL = hPushRow * 20
	ld	bc, #wTilemap
	add	hl, bc
	push	hl
	ld	de, #push_tiles
	call	turn
	pop	hl
	ret
turn:	ldh	a, (hPushCount)
1$:	push	af
	push	de
	ldh	a, (hBgCol)
	cp	#13
	jr	nc, 3$
	or	e
	ld	e, a
	call	copy_whole_row
	jr	4$
3$:	or	e
	ld	e, a
	call	copy_row
4$:	pop	de
	ld	a, e
	add	a, #32
	ld	e, a
	jr	nc, 2$
	inc	d
2$:	pop	af
	dec	a
	jr	nz, 1$
	ret

; The turned rows to the BG map, rows hPushRow and on; in VBlank.
_push_tiles_asm::
	ld	hl, #push_tiles
	jr	push_plane
_push_rows_asm::
	xor	a
	ldh	(rVBK), a
	ld	hl, #push_tiles
	call	push_plane
	ld	a, #1
	ldh	(rVBK), a
	ld	hl, #push_attrs
	call	push_plane
	xor	a
	ldh	(rVBK), a
	ret
push_plane:
	ldh	a, (hPushCount)
	ld	b, a
	ldh	a, (hBgRow)
	ld	c, a
	ldh	a, (hPushRow)
	add	a, c
	ld	c, a
2$:	ld	a, c
	call	row_dma
	inc	c
	dec	b
	jr	nz, 2$
	ret

; 32 bytes from HL to row A of the BG map; HL goes on
row_dma:
	and	#31
	swap	a
	ld	e, a
	and	#0x0F
	ld	d, a
	ld	a, e
	and	#0xF0
	ld	e, a
	sla	e
	rl	d
	ld	a, h
	ldh	(rHDMA1), a
	ld	a, l
	ldh	(rHDMA2), a
	ld	a, d
	add	a, #0x98
	ldh	(rHDMA3), a
	ld	a, e
	ldh	(rHDMA4), a
	ld	a, #1
	ldh	(rHDMA5), a
	ld	de, #32
	add	hl, de
	ret

; 20 bytes from HL to DE, all before the row's end
copy_whole_row:
	.rept	20
	ld	a, (hl+)
	ld	(de), a
	inc	e
	.endm
	ret

; 20 bytes from HL to DE, wrapping inside a row of 32
copy_row:
	ldh	a, (hBgCol)
	ld	b, a
	ld	a, #32
	sub	a, b
	cp	#20
	jr	c, 1$
	ld	a, #20
1$:	ld	c, a
	rra			; pairs (both parts are even)
	and	#0x1F
	ld	b, a
2$:	ld	a, (hl+)
	ld	(de), a
	inc	e
	ld	a, (hl+)
	ld	(de), a
	inc	de
	dec	b
	jr	nz, 2$
	ld	a, #20
	sub	a, c
	ret	z
	rra
	and	#0x1F
	ld	b, a
	dec	de
	ld	a, e
	and	#0xE0
	ld	e, a
3$:	ld	a, (hl+)
	ld	(de), a
	inc	e
	ld	a, (hl+)
	ld	(de), a
	inc	e
	dec	b
	jr	nz, 3$
	ret

; A column two tiles wide and 18 rows high from strip_buffer; in VBlank.
_strip_column_asm::
	ld	de, #strip_buffer
	xor	a
	ldh	(rVBK), a
	call	1$
	ld	de, #strip_buffer + 64
	ld	a, #1
	ldh	(rVBK), a
	call	1$
	xor	a
	ldh	(rVBK), a
	ret
1$:	ldh	a, (hStripY)
	and	#31
	ld	c, a
	ld	a, #32
	sub	a, c
	cp	#18
	jr	c, 2$
	ld	a, #18
2$:	ldh	(hTmp), a	; rows before the BG map's end
	ld	l, c
	ld	h, #0
	add	hl, hl
	add	hl, hl
	add	hl, hl
	add	hl, hl
	add	hl, hl
	ldh	a, (hStripX)
	or	l
	ld	l, a
	ld	a, h
	add	a, #0x98
	ld	h, a
	ldh	a, (hTmp)
	call	column
	ldh	a, (hTmp)
	ld	c, a
	ld	a, #18
	sub	a, c
	ret	z
	ld	h, #0x98
	push	af
	ldh	a, (hStripX)
	ld	l, a
	pop	af
; A (even) rows of two tiles from DE to HL
column:	rra
	and	#0x1F
	ld	bc, #31
3$:	push	af
	ld	a, (de)
	inc	e
	ld	(hl+), a
	ld	a, (de)
	inc	e
	ld	(hl), a
	add	hl, bc
	ld	a, (de)
	inc	e
	ld	(hl+), a
	ld	a, (de)
	inc	e
	ld	(hl), a
	add	hl, bc
	pop	af
	dec	a
	jr	nz, 3$
	ret

; Two rows of 32 tiles from strip_buffer to the BG map; in VBlank.
_strip_row_asm::
	ld	hl, #strip_buffer
	xor	a
	ldh	(rVBK), a
	call	1$
	ld	a, #1
	ldh	(rVBK), a
	call	1$
	xor	a
	ldh	(rVBK), a
	ret
1$:	ldh	a, (hStripY)
	call	row_dma
	ldh	a, (hStripY)
	inc	a
	jp	row_dma

; 64 background bytes, then 64 object bytes, from the address in hPal.
_load_palettes_asm::
	ldh	a, (hPal)
	ld	l, a
	ldh	a, (hPal + 1)
	ld	h, a
	ld	c, #rBCPS
	call	1$
	ldh	a, (hPalCount)
	dec	a
	ret	z
	ld	c, #rBCPS + 2
1$:	ld	a, #0x80
	ldh	(c), a
	inc	c
	ld	b, #32
2$:	ld	a, (hl+)
	ldh	(c), a
	ld	a, (hl+)
	ldh	(c), a
	dec	b
	jr	nz, 2$
	ret

	.area	_CODE
	.area	_HOME
	.area	_GSINIT
	.area	_GSFINAL
	.area	_DATA
	.area	_INITIALIZED
	.area	_INITIALIZER
	.area	_BSS
