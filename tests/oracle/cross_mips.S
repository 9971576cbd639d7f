/* The start, system calls and `enter` of cross_calls.c: MIPS32, o32, Linux. */
	.set noreorder
	.set noat
	.text
	.p2align 2
	.global _start
	.type _start, %function
_start:
	addiu $sp, $sp, -64
	jal main
	nop
	move $a0, $v0
	li $v0, 4001	/* exit */
	syscall
	.size _start, . - _start

	.global sys_read
	.type sys_read, %function
sys_read:
	b system
	li $v0, 4003
	.size sys_read, . - sys_read

	.global sys_write
	.type sys_write, %function
sys_write:
	li $v0, 4004
system:
	syscall
	jr $ra
	nop
	.size sys_write, . - sys_write

/* Calls call->code with known values in every callee-saved register, on a stack of its own. */
	.global enter
	.type enter, %function
enter:
	addiu $sp, $sp, -48
	sw $s0, 0($sp)
	sw $s1, 4($sp)
	sw $s2, 8($sp)
	sw $s3, 12($sp)
	sw $s4, 16($sp)
	sw $s5, 20($sp)
	sw $s6, 24($sp)
	sw $s7, 28($sp)
	sw $gp, 32($sp)
	sw $fp, 36($sp)
	sw $ra, 40($sp)
	lui $t0, %hi(current)
	sw $a0, %lo(current)($t0)
	sw $sp, 28($a0)
	move $t0, $a0
	lw $t9, 0($t0)
	lw $a0, 4($t0)
	lw $a1, 8($t0)
	lw $a2, 12($t0)
	lw $a3, 16($t0)
	lw $sp, 20($t0)
	lw $s0, 32($t0)
	lw $s1, 36($t0)
	lw $s2, 40($t0)
	lw $s3, 44($t0)
	lw $s4, 48($t0)
	lw $s5, 52($t0)
	lw $s6, 56($t0)
	lw $s7, 60($t0)
	lw $gp, 64($t0)
	lw $fp, 68($t0)
	lw $k0, 72($t0)
	lw $k1, 76($t0)
	jalr $t9
	nop
	lui $t0, %hi(current)
	lw $t0, %lo(current)($t0)
	sw $sp, 24($t0)
	sw $s0, 80($t0)
	sw $s1, 84($t0)
	sw $s2, 88($t0)
	sw $s3, 92($t0)
	sw $s4, 96($t0)
	sw $s5, 100($t0)
	sw $s6, 104($t0)
	sw $s7, 108($t0)
	sw $gp, 112($t0)
	sw $fp, 116($t0)
	sw $k0, 120($t0)
	sw $k1, 124($t0)
	lw $sp, 28($t0)
	lw $s0, 0($sp)
	lw $s1, 4($sp)
	lw $s2, 8($sp)
	lw $s3, 12($sp)
	lw $s4, 16($sp)
	lw $s5, 20($sp)
	lw $s6, 24($sp)
	lw $s7, 28($sp)
	lw $gp, 32($sp)
	lw $fp, 36($sp)
	lw $ra, 40($sp)
	jr $ra
	addiu $sp, $sp, 48
	.size enter, . - enter

	.bss
	.p2align 2
current:
	.space 4
	.section .note.GNU-stack,"",%progbits
