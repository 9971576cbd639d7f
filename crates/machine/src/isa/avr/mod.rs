//! 8-bit AVR.
//!
//! | file | what |
//! |---|---|
//! | [`instructions`] | the table: name, encoding, syntax, timing class, meaning |
//! | [`machine`] | registers and flags, and the operations the meanings use |
//! | [`code`] | encode, decode and print, from the table |
//! | [`cores`], [`parts`] | costs of each core; memories of each part |
//! | [`run`], [`skip`] | executing decoded code, in any domain; skips as conditional instructions |
//! | [`abi`] | the calling conventions of avr-gcc and IAR: entering, leaving, saving |
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

use num_bigint::BigUint;

use crate::call::Operands;
use crate::codec;
use crate::domain::Abstract;
use crate::domain::concrete::Concrete;
use crate::domain::place::Base;
use crate::format::{Assembler, Dialect, ObjectFormat, Stranger};
use crate::function::{Function, keep_returned, with_returned};
use crate::isa::avr::core::Set;
use crate::isa::avr::operands::Op;
use crate::isa::clock::Timed;
use crate::isa::cost::{Class, Cost, Depth, Stopped};
use crate::isa::{Called, Isa};

/// The AVR instruction set.
pub struct AvrIsa;

/// First address of an operand in a concrete call.
const DATA: usize = 0x0200;

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
    type Insn = code::Insn;
    type Core = cores::Core;

    const WORD_BITS: u32 = 8;
    const ASSEMBLERS: &'static [Assembler] =
        &[Assembler::Gnu, Assembler::Iar, Assembler::CrossWorks];
    const POINTER_BYTES: usize = abi::POINTER_BYTES;

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
            flags: core.arch,
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

    fn text(insn: &code::Insn) -> String {
        insn.text()
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

    fn call<D: Abstract>(
        domain: D,
        core: &cores::Core,
        function: &Function,
        bases: &[Base],
        limit: u64,
    ) -> Result<Called<D>, Stopped> {
        let (mut m, entry) = abi::enter(domain, core, function, bases);
        let ran = run::Decoded::of(function, core).run(&mut m, usize::MAX, limit)?;
        let mut cost = ran.cost;
        cost.stack = abi::depth(core, &m);
        let violations = abi::violations(&mut m, &entry, core, &function.scratch);
        keep_returned(&mut m.d, &m.r[abi::returned(core, function)]);
        Ok(Called {
            domain: m.d,
            cost,
            violations,
            slow_operand: ran.slow_operand,
        })
    }

    fn calling(insn: code::Insn, _: usize, to: usize) -> code::Insn {
        code::Insn::dk(insn.op, 0, (to / 2) as i32)
    }

    // R_AVR_CALL (binutils, elf/avr.h).
    const CALL_RELOCATION: u32 = 18;

    fn execute(
        core: &cores::Core,
        function: &Function,
        area: &mut [u8],
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<Cost, Stopped> {
        let mut m = abi::enter_function(core, function, &[DATA]);
        m.d.memory[DATA..DATA + area.len()].copy_from_slice(area);
        let decoded = run::Decoded::<Concrete>::of(function, core);
        let stop = abi::caller(&m);
        let mut cost = decoded.watched(&mut m, stop, u64::MAX, watch)?.cost;
        cost.stack = Depth::written(&m.d);
        area.copy_from_slice(&m.d.memory[DATA..DATA + area.len()]);
        Ok(cost)
    }

    fn call_concrete(
        core: &cores::Core,
        function: &Function,
        operands: &Operands<'_>,
        limit: u64,
    ) -> Result<(BigUint, Cost), Stopped> {
        // Behind the program's variables.
        let low = function.data.iter().map(|s| s.end() as usize);
        let first = low
            .filter(|end| *end < 0x8000)
            .max()
            .map_or(DATA, |end| end.max(DATA));
        let first = operands.placed_by_noise(first, function);
        let addresses = operands.addresses(first, function, function.word_bits(Self::WORD_BITS));
        let mut m = abi::enter_function(core, function, &addresses);
        let word = function.word_bits(Self::WORD_BITS) as usize / 8;
        operands.spoil(&mut m.d, &addresses, function);
        operands.put(&mut m.d, &addresses, word);
        let decoded = run::Decoded::<Concrete>::of(function, core);
        let stop = abi::caller(&m);
        let mut cost = decoded.run(&mut m, stop, limit)?.cost;
        cost.stack = Depth::written(&m.d);
        let result = operands.result(&m.d, &addresses, word);
        let bits = 8 * operands.spec.result_bytes();
        let returned = &m.r[abi::returned(core, function)];
        Ok((with_returned(result, bits, returned), cost))
    }
}
