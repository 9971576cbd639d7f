//! 8-bit AVR.
//!
//! | file | what |
//! |---|---|
//! | [`instructions`] | the table: name, encoding, syntax, timing class, meaning |
//! | [`machine`] | registers and flags, and the operations the meanings use |
//! | [`code`] | how operands are encoded and printed |
//! | [`cores`], [`parts`] | costs of each core; memories of each part |
//! | [`run`], [`skip`] | what is its own in a run; skips as conditional instructions |
//! | [`abi`] | the calling conventions of avr-gcc and IAR |
//! | [`assumed`], [`environment`] | what is assumed at entry and given back; what holds after every instruction |

pub mod abi;
pub mod assumed;
pub mod code;
pub mod convention;
pub mod core;
pub mod cores;
pub mod environment;
pub mod instructions;
pub mod machine;
pub mod operands;
pub mod parts;
pub mod past;
pub mod run;
pub mod skip;
pub mod stack;

use crate::codec::{self, Places};
use crate::format::{Assembler, Dialect, ObjectFormat, Stranger};
use crate::isa::Isa;
use crate::isa::avr::core::Set;
use crate::isa::avr::machine::Avr;
use crate::isa::avr::operands::Op;
use crate::isa::clock::Timed;
use crate::isa::cost::Class;
use crate::isa::runs::alike;

/// The AVR instruction set.
pub struct AvrIsa;

/// Compilers for parts that do not run a function of a set, or call it in another way. An assembly file is empty there.
const IAR_CALLS: Stranger = Stranger {
    when: "defined(__ICCAVR__)",
    why: "is called as avr-gcc: this compiler calls in another way",
    in_assembly: false,
};
static OF_IAR: [Stranger; 1] = [Stranger {
    when: "defined(__AVR__) && defined(__GNUC__)",
    why: "is called as IAR AVR, data stack in Y: this compiler calls in another way",
    in_assembly: false,
}];
static OF_32_REGISTERS: [Stranger; 2] = [
    IAR_CALLS,
    Stranger {
        when: "defined(__AVR_TINY__)",
        why: "needs 32 registers, and this part has 16: make it with --mcu attiny10 or the like",
        in_assembly: false,
    },
];
static THAT_MULTIPLY: [Stranger; 2] = [
    IAR_CALLS,
    Stranger {
        when: "defined(__AVR__) && defined(__GNUC__) && !defined(__AVR_HAVE_MUL__)",
        why: "multiplies, and this part has no MUL: make it with --mcu attiny85 or the like",
        in_assembly: false,
    },
];
static OF_16_REGISTERS: [Stranger; 2] = [
    IAR_CALLS,
    Stranger {
        when: "defined(__AVR__) && defined(__GNUC__) && !defined(__AVR_TINY__)",
        why: "is called as on parts with 16 registers, and this one has 32: make it with --mcu attiny85 or the like",
        in_assembly: false,
    },
];

impl Isa for AvrIsa {
    alike!(Avr, 8);

    const WORD_BITS: u32 = 8;
    const ASSEMBLERS: &'static [Assembler] =
        &[Assembler::Gnu, Assembler::Iar, Assembler::CrossWorks];

    fn core_name(core: &cores::Core) -> String {
        core.name.to_string()
    }

    fn relatives(core: &cores::Core) -> Vec<cores::Core> {
        core.relatives().collect()
    }

    fn abi(core: &cores::Core) -> &'static str {
        core.abi.title
    }

    fn is_frame(core: &cores::Core, insn: &code::Insn) -> bool {
        core.class(insn) == Class::Frame
    }

    fn object_format(core: &cores::Core) -> ObjectFormat {
        ObjectFormat {
            architecture: object::Architecture::Avr,
            big_endian: false,
            flags: core.part.map_or(core.arch, |part| part.arch),
            align: 2,
            mapping_symbol: None,
            attributes: None,
            stack_note: false,
        }
    }

    fn dialect(core: &cores::Core) -> Dialect {
        Dialect {
            preamble: "",
            align: "\t.p2align 1\n",
            guard: match core.set {
                Set::Avre => "defined(__AVR__) && !defined(__AVR_TINY__)",
                Set::AvrePlus | Set::Avrxm | Set::Avrxt => "defined(__AVR_HAVE_MUL__)",
                Set::Avrrc => "defined(__AVR_TINY__)",
            },
            strangers: match (core.abi.data_stack, core.set) {
                (true, _) => &OF_IAR,
                (false, Set::Avre) => &OF_32_REGISTERS,
                (false, Set::AvrePlus | Set::Avrxm | Set::Avrxt) => &THAT_MULTIPLY,
                (false, Set::Avrrc) => &OF_16_REGISTERS,
            },
        }
    }

    fn encode(core: &cores::Core, program: &[code::Insn]) -> Result<Vec<u8>, String> {
        match program.iter().find_map(|insn| core.refusal(insn)) {
            Some(refusal) => Err(refusal),
            None => codec::encode(program, false),
        }
    }

    fn decode(core: &cores::Core, code: &[u8]) -> Result<Vec<(usize, code::Insn)>, usize> {
        codec::decode(code, |bytes| code::Insn::decode_on(core, bytes))
    }

    fn branch(insn: &code::Insn) -> Option<i64> {
        let relative = matches!(insn.op, Op::RJMP | Op::RCALL | Op::BRBS | Op::BRBC);
        relative.then(|| 2 * (i64::from(insn.ops.k) + 1))
    }

    fn jump(insn: &code::Insn) -> Option<i64> {
        Self::branch(insn)
    }

    fn register(name: &str) -> Option<u8> {
        let number = name.strip_prefix('r')?.parse().ok()?;
        (number < 32).then_some(number)
    }

    fn calling(insn: code::Insn, _: usize, to: usize) -> Option<code::Insn> {
        Some(code::Insn::dk(insn.op, 0, (to / 2) as i32))
    }

    // R_AVR_CALL (binutils, elf/avr.h).
    fn call_relocation(_: &cores::Core) -> (u32, u64) {
        (18, 0)
    }

    fn registers(insn: &code::Insn) -> [Places; 2] {
        code::registers(insn)
    }
}
