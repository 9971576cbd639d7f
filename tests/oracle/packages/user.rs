//! A program without std for Linux (RISC-V, ARM) that calls every function of `pack bignum --bits 64 --package rust`, and
//! compares with the compiler's own arithmetic. It exits with 0, or with the number of the check that failed.
#![no_std]
#![no_main]

use lozenge_bignum as big;

type Two = [u32; 2];

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    exit(255)
}

#[cfg(target_arch = "riscv32")]
fn exit(code: u32) -> ! {
    unsafe { core::arch::asm!("ecall", in("a0") code, in("a7") 93, options(noreturn)) }
}

#[cfg(target_arch = "arm")]
fn exit(code: u32) -> ! {
    unsafe { core::arch::asm!("mov r7, #1", "svc 0", in("r0") code, options(noreturn)) }
}

fn words(x: u64) -> Two {
    [x as u32, (x >> 32) as u32]
}

fn four(x: u128) -> [u32; 4] {
    [x as u32, (x >> 32) as u32, (x >> 64) as u32, (x >> 96) as u32]
}

/// The number of the first wrong answer, from 1.
fn wrong(a: u64, b: u64, s: u32) -> Option<usize> {
    let (x, y, s1) = (words(a), words(b), s & 1);
    let (mut r, mut wide) = ([0; 2], [0; 4]);
    let mut right = [false; 18];
    big::mul(&mut wide, &x, &y);
    right[0] = wide == four(a as u128 * b as u128);
    big::sqr(&mut wide, &x);
    right[1] = wide == four(a as u128 * a as u128);
    big::mullo(&mut r, &x, &y);
    right[2] = r == words(a.wrapping_mul(b));
    let carry = big::add(&mut r, &x, &y);
    right[3] = (r, carry) == (words(a.wrapping_add(b)), a.checked_add(b).is_none() as u32);
    let borrow = big::sub(&mut r, &x, &y);
    right[4] = (r, borrow) == (words(a.wrapping_sub(b)), (a < b) as u32);
    let carry = big::shl(&mut r, &x);
    right[5] = (r, carry) == (words(a << 1), (a >> 63) as u32);
    big::shr(&mut r, &x);
    right[6] = r == words(a >> 1);
    let sum = a as u128 + b as u128 * s as u128;
    let carry = big::addmul(&mut r, &x, &y, &[s]);
    right[7] = (r, carry) == (words(sum as u64), (sum >> 64) as u32);
    big::select(&mut r, &x, &y, &[s1]);
    right[8] = r == if s1 == 0 { x } else { y };
    let both = [x[0], x[1], y[0], y[1]];
    let exchanged = [y[0], y[1], x[0], x[1]];
    big::swap(&mut wide, &both, &[s1]);
    right[9] = wide == if s1 == 0 { both } else { exchanged };
    let mut one = [7];
    big::iszero(&mut one, &x);
    right[10] = one == [(a == 0) as u32];
    big::equal(&mut one, &x, &y);
    right[11] = one == [(a == b) as u32];
    // In place.
    let mut r = x;
    let carry = big::add_assign(&mut r, &y);
    right[12] = (r, carry) == (words(a.wrapping_add(b)), a.checked_add(b).is_none() as u32);
    let borrow = big::sub_assign(&mut r, &y);
    right[13] = (r, borrow) == (x, (a.wrapping_add(b) < b) as u32);
    big::shl_assign(&mut r);
    right[14] = r == words(a << 1);
    big::shr_assign(&mut r);
    right[15] = r == words(a << 1 >> 1);
    let mut r = x;
    big::addmul_assign(&mut r, &y, &[s]);
    right[16] = r == words(sum as u64);
    let mut r = both;
    big::swap_assign(&mut r, &[s1]);
    right[17] = r == if s1 == 0 { both } else { exchanged };
    right.iter().position(|right| !right).map(|at| at + 1)
}

#[no_mangle]
pub extern "C" fn _start() -> ! {
    const EDGES: [u64; 8] = [0, 1, 0xff, 0xffff_ffff, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX];
    let mut state = 88_172_645_463_325_252u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for i in 0..256 {
        let (mut a, mut b) = (next(), next());
        if i < 64 {
            (a, b) = (EDGES[i / 8], EDGES[i % 8]);
        }
        if let Some(number) = wrong(a, b, next() as u32) {
            exit(number as u32);
        }
    }
    exit(0)
}
