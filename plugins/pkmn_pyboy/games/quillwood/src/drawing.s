; What the picture needs often and in bulk: fields of one tile, rows of cells, colours half way to white.
	.module drawing
	.globl	_fill_asm, _copy_cells_asm, _palettes_half_asm

hFillHeight = 0xCF
hFillWidth = 0xD0
hFillTile = 0xD1
hFillAttr = 0xD2
wTilemap_to_wAttrmap = 0xCDD9 - 0xC4A0

	.area	_CODE

; void fill_asm(u8 *at): hFillHeight rows of hFillWidth cells of the screen buffer
_fill_asm::
	ldh	a, (hFillWidth)
	ld	b, a
	ld	h, d
	ld	l, e
	ldh	a, (hFillTile)
1$:	ld	(hl+), a
	dec	b
	jr	nz, 1$
	ld	hl, #wTilemap_to_wAttrmap
	add	hl, de
	ldh	a, (hFillWidth)
	ld	b, a
	ldh	a, (hFillAttr)
2$:	ld	(hl+), a
	dec	b
	jr	nz, 2$
	ld	hl, #20
	add	hl, de
	ld	d, h
	ld	e, l
	ldh	a, (hFillHeight)
	dec	a
	ldh	(hFillHeight), a
	jr	nz, _fill_asm
	ret

; void copy_cells_asm(u8 *to, const u8 *from): the 20 cells of a row
_copy_cells_asm::
	ld	h, b
	ld	l, c
	ld	b, #10
1$:	ld	a, (hl+)
	ld	(de), a
	inc	de
	ld	a, (hl+)
	ld	(de), a
	inc	de
	dec	b
	jr	nz, 1$
	ret

; void palettes_half_asm(u8 *to, const u8 *from): 64 colours half way to white, all three parts at a time
_palettes_half_asm::
	ld	h, b
	ld	l, c
	ld	b, #64
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
	ret
