//! Words where instructions go wrong.

use lozenge::vectors::Random;

/// A word of 32 bits: next to a power of two or an end of a range as often as any.
pub fn word(random: &mut Random) -> u32 {
    const EDGES: [u32; 19] = [
        0,
        1,
        2,
        31,
        32,
        33,
        0x7f,
        0x80,
        0xff,
        0x100,
        0x7fff,
        0x8000,
        0xffff,
        0x1_0000,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xffff_fffe,
        0xffff_ffff,
    ];
    let any = random.draw() as u32;
    match random.below(8) {
        0..4 => EDGES[random.below(EDGES.len())],
        4 => 1 << (any & 31),
        5 => !(1 << (any & 31)),
        6 => any >> (any & 31),
        _ => any,
    }
}
