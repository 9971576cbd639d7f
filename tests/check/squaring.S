/* Squares of four words on MIPS32, column by column. A product off the diagonal counts twice:
 * 2 p = top 2^64 + hi 2^32 + lo, and hi may be 2^32 - 1. Adding the carry out of the lowest word
 * to it may carry again. `lost` forgets that, `kept` does not. */
        .set    noreorder
        .set    noat

/* (c2, c1, c0) += t9 2^32 + t8 */
        .macro  gather c0, c1, c2, again
        addu    \c0, \c0, $t8
        sltu    $at, \c0, $t8
        addu    $t9, $t9, $at
        .if     \again
        sltu    $v0, $t9, $at
        addu    \c2, \c2, $v0
        .endif
        addu    \c1, \c1, $t9
        sltu    $at, \c1, $t9
        addu    \c2, \c2, $at
        .endm

        .macro  once x, c0, c1, c2
        multu   \x, \x
        mflo    $t8
        mfhi    $t9
        gather  \c0, \c1, \c2, 0
        .endm

        .macro  twice x, y, c0, c1, c2, again
        multu   \x, \y
        mflo    $t8
        mfhi    $t9
        slt     $v0, $t9, $zero
        addu    \c2, \c2, $v0
        sll     $t9, $t9, 1
        slt     $v0, $t8, $zero
        addu    $t9, $t9, $v0
        sll     $t8, $t8, 1
        gather  \c0, \c1, \c2, \again
        .endm

        .macro  square name, again
        .globl  \name
        .type   \name, @function
        .ent    \name
\name:
        lw      $t0, 0($a1)
        lw      $t1, 4($a1)
        lw      $t2, 8($a1)
        lw      $t3, 12($a1)
        move    $t4, $zero
        move    $t5, $zero
        move    $t6, $zero
        once    $t0, $t4, $t5, $t6
        sw      $t4, 0($a0)
        move    $t4, $zero
        twice   $t0, $t1, $t5, $t6, $t4, \again
        sw      $t5, 4($a0)
        move    $t5, $zero
        twice   $t0, $t2, $t6, $t4, $t5, \again
        once    $t1, $t6, $t4, $t5
        sw      $t6, 8($a0)
        move    $t6, $zero
        twice   $t0, $t3, $t4, $t5, $t6, \again
        twice   $t1, $t2, $t4, $t5, $t6, \again
        sw      $t4, 12($a0)
        move    $t4, $zero
        twice   $t1, $t3, $t5, $t6, $t4, \again
        once    $t2, $t5, $t6, $t4
        sw      $t5, 16($a0)
        move    $t5, $zero
        twice   $t2, $t3, $t6, $t4, $t5, \again
        sw      $t6, 20($a0)
        move    $t6, $zero
        once    $t3, $t4, $t5, $t6
        sw      $t4, 24($a0)
        jr      $ra
        sw      $t5, 28($a0)
        .end    \name
        .size   \name, . - \name
        .endm

        .text
        square  lost, 0
        square  kept, 1
