/* The start, system calls and `enter` of cross_calls.c: ARM, EABI, Linux.
 * No .note.GNU-stack, as in what arm-none-eabi-gcc makes: with one, ld warns of all others.
 */
	.syntax unified
	.arm
	.text
	.p2align 2
	.global _start
	.type _start, %function
_start:
	bl main
	mov r7, #1	/* exit */
	svc 0
	.size _start, . - _start

	.global sys_read
	.type sys_read, %function
sys_read:
	mov r12, #3
	b system
	.size sys_read, . - sys_read

	.global sys_write
	.type sys_write, %function
sys_write:
	mov r12, #4
system:
	push {r7, lr}
	mov r7, r12
	svc 0
	pop {r7, lr}
	bx lr
	.size sys_write, . - sys_write

/* Calls call->code with known values in every callee-saved register, on a stack of its own. */
	.global enter
	.type enter, %function
enter:
	push {r4-r11, lr}
	ldr r12, =current
	str r0, [r12]
	str sp, [r0, #28]
	mov r12, r0
	ldr sp, [r12, #20]
	add r3, r12, #32
	ldm r3, {r4-r11}
	ldmib r12, {r0-r3}
	ldr r12, [r12]
	mov lr, pc
	bx r12
	ldr r12, =current
	ldr r12, [r12]
	str sp, [r12, #24]
	add r3, r12, #32 + 32
	stm r3, {r4-r11}
	ldr sp, [r12, #28]
	pop {r4-r11, lr}
	bx lr
	.ltorg
	.size enter, . - enter

	.bss
	.p2align 2
current:
	.space 4
