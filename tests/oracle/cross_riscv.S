/* The start, system calls and `enter` of cross_calls.c: RV32, ilp32, Linux. */
	.option norelax
	.text
	.p2align 2
	.global _start
	.type _start, %function
_start:
	lui gp, %hi(__global_pointer$)
	addi gp, gp, %lo(__global_pointer$)
	andi sp, sp, -16
	jal main
	li a7, 93	/* exit */
	ecall
	.size _start, . - _start

	.global sys_read
	.type sys_read, %function
sys_read:
	li a7, 63
	ecall
	ret
	.size sys_read, . - sys_read

	.global sys_write
	.type sys_write, %function
sys_write:
	li a7, 64
	ecall
	ret
	.size sys_write, . - sys_write

/* Calls call->code with known values in every callee-saved register, on a stack of its own. */
	.global enter
	.type enter, %function
enter:
	addi sp, sp, -64
	sw s0, 0(sp)
	sw s1, 4(sp)
	sw s2, 8(sp)
	sw s3, 12(sp)
	sw s4, 16(sp)
	sw s5, 20(sp)
	sw s6, 24(sp)
	sw s7, 28(sp)
	sw s8, 32(sp)
	sw s9, 36(sp)
	sw s10, 40(sp)
	sw s11, 44(sp)
	sw gp, 48(sp)
	sw tp, 52(sp)
	sw ra, 56(sp)
	lui t0, %hi(current)
	sw a0, %lo(current)(t0)
	sw sp, 28(a0)
	mv t0, a0
	lw t1, 0(t0)
	lw a0, 4(t0)
	lw a1, 8(t0)
	lw a2, 12(t0)
	lw a3, 16(t0)
	lw sp, 20(t0)
	lw s0, 32(t0)
	lw s1, 36(t0)
	lw s2, 40(t0)
	lw s3, 44(t0)
	lw s4, 48(t0)
	lw s5, 52(t0)
	lw s6, 56(t0)
	lw s7, 60(t0)
	lw s8, 64(t0)
	lw s9, 68(t0)
	lw s10, 72(t0)
	lw s11, 76(t0)
	lw gp, 80(t0)
	lw tp, 84(t0)
	jalr t1
	lui t0, %hi(current)
	lw t0, %lo(current)(t0)
	sw sp, 24(t0)
	sw s0, 88(t0)
	sw s1, 92(t0)
	sw s2, 96(t0)
	sw s3, 100(t0)
	sw s4, 104(t0)
	sw s5, 108(t0)
	sw s6, 112(t0)
	sw s7, 116(t0)
	sw s8, 120(t0)
	sw s9, 124(t0)
	sw s10, 128(t0)
	sw s11, 132(t0)
	sw gp, 136(t0)
	sw tp, 140(t0)
	lw sp, 28(t0)
	lw s0, 0(sp)
	lw s1, 4(sp)
	lw s2, 8(sp)
	lw s3, 12(sp)
	lw s4, 16(sp)
	lw s5, 20(sp)
	lw s6, 24(sp)
	lw s7, 28(sp)
	lw s8, 32(sp)
	lw s9, 36(sp)
	lw s10, 40(sp)
	lw s11, 44(sp)
	lw gp, 48(sp)
	lw tp, 52(sp)
	lw ra, 56(sp)
	addi sp, sp, 64
	ret
	.size enter, . - enter

	.bss
	.p2align 2
current:
	.space 4
