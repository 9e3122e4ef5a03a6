; What the picture needs often and in bulk: fields of one tile, rows of cells, colours half way to white.
	.module drawing
	.globl	_cell, _screen_put, _screen_poke, _fill_asm, _fill_row_asm, _fill_bytes, _picture_cells_asm
	.globl	_copy_cells_asm, _palettes_half_asm, _far_byte, _far_word, _far_copy, _wait_vblank

hROMBank	= 0x9D
hBgCol	= 0xB4
hBgRow	= 0xB5
hFillHeight = 0xCF
hFillWidth = 0xD0
hFillTile = 0xD1
hFillAttr = 0xD2
wTilemap = 0xC4A0
wTilemap_to_wAttrmap = 0xCDD9 - 0xC4A0

	.area	_CODE

; u8 *cell(u8 row, u8 col)
_cell::
	call	cell_at
	ld	b, h
	ld	c, l
	ret
; Of row A, column E: HL
cell_at:
	add	a, a
	add	a, a
	ld	l, a
	ld	h, #0
	add	hl, hl
	add	hl, hl
	add	a, e
	add	a, #<wTilemap
	ld	e, a
	ld	d, #>wTilemap
	add	hl, de
	ret

; void screen_put(u8 row, u8 col, u8 tile)
_screen_put::
	call	cell_at
	ld	d, h
	ld	e, l
	ldhl	sp, #2
	ld	a, (hl)
	ld	(de), a
	pop	hl
	inc	sp
	jp	(hl)

; void screen_poke(u8 row, u8 col, u8 tile): into the buffer and, right after a VBlank, into the picture
_screen_poke::
	ld	b, a
	ld	c, e
	call	cell_at
	ld	d, h
	ld	e, l
	ldhl	sp, #2
	ld	a, (hl)
	ld	(de), a
	push	af
	ldh	a, (hBgRow)
	add	a, b
	and	#31
	add	a, a
	add	a, a
	add	a, a
	ld	l, a
	ld	h, #0x98 / 4
	add	hl, hl
	add	hl, hl
	ldh	a, (hBgCol)
	add	a, c
	and	#31
	or	l
	ld	l, a
	push	hl
	call	_wait_vblank
	pop	hl
	pop	af
	ld	(hl), a
	pop	hl
	inc	sp
	jp	(hl)

; void fill_asm(u8 *at): hFillHeight rows of hFillWidth cells of the screen buffer
_fill_asm::
	call	fill_entry
1$:	ld	h, d
	ld	l, e
	ldh	a, (hFillTile)
	call	fill_run
	ld	hl, #wTilemap_to_wAttrmap
	add	hl, de
	ldh	a, (hFillAttr)
	call	fill_run
	ld	hl, #20
	add	hl, de
	ld	d, h
	ld	e, l
	ldh	a, (hFillHeight)
	dec	a
	ldh	(hFillHeight), a
	jr	nz, 1$
	ret

; void fill_row_asm(u8 *at, u8 tile): hFillWidth cells
_fill_row_asm::
	ld	h, d
	ld	l, e
	ld	d, a
	call	fill_entry
	ld	a, d
	jr	fill_run

; Where to jump to fill hFillWidth bytes: BC
fill_entry:
	ldh	a, (hFillWidth)
	ld	c, a
	ld	a, #<fill_end
	sub	a, c
	ld	c, a
	ld	a, #>fill_end
	sbc	a, #0
	ld	b, a
	ret
fill_run:
	push	bc
	ret
	.rept	20
	ld	(hl+), a
	.endm
fill_end:
	ret

; void fill_bytes(u8 *to, u8 value, u16 count)
_fill_bytes::
	ldhl	sp, #2
	ld	c, (hl)
	inc	hl
	ld	b, (hl)
	ld	h, d
	ld	l, e
	ld	d, a
1$:	ld	a, c
	and	#3
	jr	z, 2$
	ld	(hl), d
	inc	hl
	dec	c
	jr	1$
2$:	call	quarters
	jr	z, 4$
	ld	a, d
3$:	ld	(hl+), a
	ld	(hl+), a
	ld	(hl+), a
	ld	(hl+), a
	dec	c
	jr	nz, 3$
	dec	b
	jr	nz, 3$
4$:	pop	hl
	pop	bc
	jp	(hl)

; BC, a multiple of four, to rounds of a loop over C inside one over B; Z for none
quarters:
	srl	b
	rr	c
	srl	b
	rr	c
	ld	a, c
	or	a
	jr	z, 1$
	inc	b
1$:	ld	a, b
	or	a
	ret

; void picture_cells_asm(u8 *at, u8 tile): five by five cells, numbered column by column, with hFillAttr
_picture_cells_asm::
	ld	c, a
	ld	b, #5
1$:	ld	h, d
	ld	l, e
	ld	a, c
	.rept	5
	ld	(hl+), a
	add	a, #5
	.endm
	ld	hl, #wTilemap_to_wAttrmap
	add	hl, de
	ldh	a, (hFillAttr)
	.rept	5
	ld	(hl+), a
	.endm
	ld	hl, #20
	add	hl, de
	ld	d, h
	ld	e, l
	inc	c
	dec	b
	jr	nz, 1$
	ret

; void copy_cells_asm(u8 *to, const u8 *from): the 20 cells of a row
_copy_cells_asm::
	ld	h, b
	ld	l, c
	.rept	20
	ld	a, (hl+)
	ld	(de), a
	inc	de
	.endm
	ret

; ---- other banks: the bank that is in stays in hROMBank -------------------------------------------------------------
; u8 far_byte(u8 bank, u16 address)
_far_byte::
	ld	(0x2000), a
	ld	a, (de)
	ld	b, a
	ldh	a, (hROMBank)
	ld	(0x2000), a
	ld	a, b
	ret

; u16 far_word(u8 bank, u16 address)
_far_word::
	ld	(0x2000), a
	ld	a, (de)
	ld	c, a
	inc	de
	ld	a, (de)
	ld	b, a
	ldh	a, (hROMBank)
	ld	(0x2000), a
	ret

; void far_copy(void *to, u8 bank, u16 from, u16 count)
_far_copy::
	ld	(0x2000), a
	ldhl	sp, #4
	ld	c, (hl)
	inc	hl
	ld	b, (hl)
	ldhl	sp, #2
	ld	a, (hl+)
	ld	h, (hl)
	ld	l, a
1$:	ld	a, c
	and	#3
	jr	z, 2$
	ld	a, (hl+)
	ld	(de), a
	inc	de
	dec	c
	jr	1$
2$:	call	quarters
	jr	z, 4$
3$:
	.rept	4
	ld	a, (hl+)
	ld	(de), a
	inc	de
	.endm
	dec	c
	jr	nz, 3$
	dec	b
	jr	nz, 3$
4$:	ldh	a, (hROMBank)
	ld	(0x2000), a
	pop	hl
	add	sp, #4
	jp	(hl)

; void palettes_half_asm(u8 *to, const u8 *from, u8 count): colours half way to white, all three parts at a time
_palettes_half_asm::
	ldhl	sp, #2
	ld	a, (hl)
	ld	h, b
	ld	l, c
	ld	b, a
1$:	push	bc
	ld	a, (hl+)
	ld	c, a
	ld	a, (hl+)
	srl	a
	rr	c
	and	#0x3D
	ld	b, a
	ld	a, c
	and	#0xEF
	add	a, #0x10
	ld	(de), a
	inc	de
	ld	a, b
	adc	a, #0x42
	ld	(de), a
	inc	de
	pop	bc
	dec	b
	jr	nz, 1$
	pop	hl
	inc	sp
	jp	(hl)
