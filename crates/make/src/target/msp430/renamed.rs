//! Functions whose arguments come in other registers than the EABI's: made as the EABI says, then renamed.

use machine::isa::msp430::code::Insn;
use machine::isa::msp430::convention::Abi;
use machine::program::{Claim, Place, Program};

/// The instructions with their arguments where `abi` says. PUSHM and POPM are of no such register.
pub fn insns(abi: &Abi, mut insns: Vec<Insn>) -> Vec<Insn> {
    for insn in &mut insns {
        (insn.ops.s, insn.ops.d) = (abi.moved(insn.ops.s), abi.moved(insn.ops.d));
    }
    insns
}

/// The same of a program and what it claims.
pub fn program(abi: &Abi, program: Program<Insn>) -> Program<Insn> {
    let place = |place| match place {
        Place::Register(r) => Place::Register(abi.moved(r)),
        Place::Memory(..) => place,
    };
    let claims = program.claims.into_iter();
    let claims: Vec<Claim> = claims.map(|claim| claim.seen(place)).collect();
    Program {
        insns: insns(abi, program.insns),
        claims,
        notes: program.notes,
    }
}
