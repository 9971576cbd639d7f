//! 8-bit AVR.
//!
//! | file | what |
//! |---|---|
//! | [`instructions`] | the table: name, encoding, syntax, timing class, meaning |
//! | [`machine`] | registers and flags, and the operations the meanings use |
//! | [`code`] | encode, decode and print, from the table |
//! | [`cores`], [`parts`] | costs of each core; memories of each part |
//! | [`run`] | executing decoded code, in any domain |
//! | [`abi`] | the avr-gcc calling convention: entering, leaving, saving |
//! | [`lower`], [`columns`], [`rows`], [`pointers`] | from a schedule to a program |

pub mod abi;
pub mod code;
pub mod columns;
pub mod cores;
pub mod instructions;
pub mod lower;
pub mod machine;
pub mod parts;
pub mod pointers;
pub mod rows;
pub mod run;
pub mod windows;
pub mod words;

use std::rc::Rc;

use num_bigint::BigUint;

use crate::domain::concrete::Concrete;
use crate::domain::{Abstract, Base};
use crate::emit::{Dialect, ObjectFormat};
use crate::facts::Facts;
use crate::isa::{Called, Class, Cost, Isa, LowerError, Operands, Stopped};
use crate::program::Program;
use crate::schedule::{Counts, Schedule};

/// The AVR instruction set.
pub struct AvrIsa;

/// First address of an operand in a concrete call.
const DATA: usize = 0x0200;

impl Isa for AvrIsa {
    type Insn = code::Insn;
    type Core = cores::Core;

    const WORD_BITS: u32 = 8;
    const STACK_TOP: i64 = 1;
    const ABI: &'static str = "avr-gcc";

    fn core_name(core: &cores::Core) -> String {
        core.name.to_string()
    }

    fn relatives(_: &cores::Core) -> Vec<cores::Core> {
        cores::CORES.iter().map(|c| (*c).clone()).collect()
    }

    fn is_frame(insn: &code::Insn) -> bool {
        insn.form().class == Class::Frame
    }

    fn facts(_: &cores::Core) -> Facts {
        lower::FACTS
    }

    fn lower_within(
        schedule: &Schedule,
        _: &cores::Core,
        registers: usize,
    ) -> Result<Vec<Program<code::Insn>>, LowerError> {
        lower::lower(schedule, registers)
    }

    fn at_least(counts: &Counts) -> u64 {
        // Loads, stores and MUL take 2 cycles. Every product but the first of a block is added
        // in 2 more; there are at least two products to a block, or one, and then RET makes up.
        let memory = counts.loads + counts.stores;
        (2 * memory + 3 * counts.products) as u64
    }

    fn object_format(core: &cores::Core) -> ObjectFormat {
        ObjectFormat {
            architecture: object::Architecture::Avr,
            big_endian: false,
            flags: core.arch,
            align: 2,
            mapping_symbol: None,
            stack_note: false,
        }
    }

    fn dialect(_: &cores::Core) -> Dialect {
        Dialect {
            preamble: "",
            align: "\t.p2align 1\n",
        }
    }

    fn encode(_: &cores::Core, program: &[code::Insn]) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::with_capacity(2 * program.len());
        for insn in program {
            insn.encode(&mut bytes).map_err(|e| e.to_string())?;
        }
        Ok(bytes)
    }

    fn decode(_: &cores::Core, code: &[u8]) -> Result<Vec<(usize, code::Insn)>, usize> {
        let mut list = Vec::with_capacity(code.len() / 2);
        let mut at = 0;
        while at < code.len() {
            let insn = code::Insn::decode(&code[at..]).ok_or(at)?;
            list.push((at, insn));
            at += 2 * insn.form().words;
        }
        Ok(list)
    }

    fn text(insn: &code::Insn) -> String {
        insn.text()
    }

    fn call<D: Abstract>(
        domain: D,
        core: &cores::Core,
        code: &[u8],
        arguments: &[Base],
        limit: u64,
    ) -> Result<Called<D>, Stopped> {
        let (mut m, entry) = abi::enter(domain, core, code, arguments);
        let cost = run::Decoded::new(code, core).run(&mut m, usize::MAX, limit)?;
        let violations = abi::violations(&mut m, &entry, core);
        Ok(Called {
            domain: m.d,
            cost,
            violations,
            // No AVR instruction's time depends on its operands.
            slow_operand: None,
        })
    }

    fn call_concrete(
        core: &cores::Core,
        code: &[u8],
        operands: &Operands<'_>,
        limit: u64,
    ) -> Result<(BigUint, Cost), Stopped> {
        let addresses = operands.addresses(DATA);
        let mut m = abi::enter_concrete(core, Rc::from(code), &addresses);
        operands.put(&mut m.d, &addresses, 1);
        let decoded = run::Decoded::<Concrete>::new(code, core);
        let stop = abi::caller(&m);
        let cost = decoded.run(&mut m, stop, limit)?;
        let result = operands.result(&m.d, &addresses, 1);
        Ok((result, cost))
    }
}
