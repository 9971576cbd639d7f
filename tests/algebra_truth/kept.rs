//! Programs of which something false was said once, as short as they became.

use lozenge::isa::mips::code::Insn;
use lozenge::isa::mips::cores::Features;
use lozenge::vectors::Random;

use crate::algebra_truth::compare::compare;
use crate::algebra_truth::machines::OnMips;

/// Inputs are drawn so often.
const TIMES: u64 = 20;

/// Factors of a sum whose carries are looked for grow beyond 64 bits (`domain/stays.rs`): a panic, or, where
/// overflows are not checked, another sum.
#[test]
fn factors_beyond_64_bits_are_not_followed() {
    // sltu $t1, $t2, $t3; addiu $t1, $t1, -2; sra $t4, $t1, 31
    // bne $t2, $t3, .+12; subu $t4, $t0, $t0; subu $t3, $t4, $t1
    // sll $t5, $t3, 31
    // addu $t3, $t4, $t5; sltu $t0, $t4, $t3
    // nor $t4, $t2, $t1
    // beql $t3, $t4, .+20; sltu $t5, $t5, $t5; addu $t4, $t0, $t1; beq $zero, $zero, .+20;
    //     xori $t5, $t0, 255; sll $t3, $t4, 31; subu $t1, $zero, $t2; srl $t3, $t5, 1
    let words: [&[u32]; 6] = [
        &[0x014b_482b, 0x2529_fffe, 0x0009_67c3],
        &[0x154b_0002, 0x0108_6023, 0x0189_5823],
        &[0x000b_6fc0],
        &[0x018d_5821, 0x018b_402b],
        &[0x0149_6027],
        &[
            0x516c_0004,
            0x01ad_682b,
            0x0109_6021,
            0x1000_0004,
            0x390d_00ff,
            0x000c_5fc0,
            0x000a_4823,
            0x000d_5842,
        ],
    ];
    let decoded = |word: &u32| Insn::decode(*word, Features::NONE).expect("an instruction");
    let blocks = words.map(|block| block.iter().map(decoded).collect::<Vec<_>>());
    for seed in 0..TIMES {
        let run = compare::<OnMips>(&blocks, &[], &mut Random::new(seed));
        assert!(run.is_ok(), "{run:?}");
    }
}
