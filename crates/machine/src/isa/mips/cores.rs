//! What instructions cost: a five-stage pipeline with a multiply/divide unit beside it.
//!
//! Every instruction issues in one cycle unless it waits: for a loaded word, for a word
//! from HI or LO, for the multiplier. A branch costs its delay slot and nothing more.
//!
//! The scoreboard is [`crate::isa::clock`]'s; a core says what each instruction takes of it.

use crate::fault::Source;
use crate::isa::clock::{Product, Scoreboard, Timed, Work};
use crate::isa::cost::Class;
use crate::isa::energy::Draw;
use crate::isa::mips::code::Insn;
use crate::isa::mips::instructions::{Op, Timing};
pub use crate::isa::mips::operands::Features;
use crate::isa::mips::operands::{Feature, Ops};

/// A number of cycles, and who says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Number {
    pub cycles: u32,
    pub source: &'static str,
}

/// A core: its costs, its byte order and its extensions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Core {
    pub name: &'static str,
    pub summary: &'static str,
    /// From a multiplication to the next one, and to a use of HI or LO: `rt` of 32 bits.
    pub multiply: Number,
    /// The same with an `rt` of at most 16 bits.
    pub multiply_short: Number,
    /// Cycles that the use of a loaded word waits, right after the load.
    pub load_use: Number,
    /// Cycles that the use of a word waits, right after MFHI or MFLO brought it.
    pub move_from_use: Number,
    /// From MTHI, MTLO or SHA to a use of HI or LO.
    pub move_to: Number,
    /// Cycles that MUL stalls the pipeline more than the multiplication does the multiplier.
    pub mul_stall: Number,
    /// Cycles that the use of MUL's result waits then.
    pub mul_use: Number,
    /// Cycles of DIVU by bits of `rs`: 8, 16, 24, 32; DIV takes one more.
    pub divide: [Number; 4],
    /// Cycles after a jump or taken branch, besides the delay slot.
    pub branch: Number,
    pub big_endian: bool,
    pub features: Features,
}

const MANUAL: &str = "MD00016 rev. 1.18, by way of GCC 12 gcc/config/mips/4k.md";
const PAPER: &str = "gk2003, sections 4.3 and 5.2";

const fn manual(cycles: u32) -> Number {
    Number {
        cycles,
        source: MANUAL,
    }
}

const fn paper(cycles: u32) -> Number {
    Number {
        cycles,
        source: PAPER,
    }
}

/// The 4Km as sold: a 32x16 multiplier that is through sooner when `rt` has 16 bits.
pub const MIPS_4KM: Core = Core {
    name: "mips-4km",
    summary: "MIPS32 4Km, fast multiply/divide unit (32x16, early when rt has 16 bits)",
    multiply: manual(2),
    multiply_short: manual(1),
    load_use: manual(1),
    move_from_use: manual(1),
    move_to: manual(1),
    mul_stall: manual(0),
    mul_use: manual(1),
    divide: [manual(9), manual(17), manual(25), manual(33)],
    branch: manual(0),
    big_endian: false,
    features: Features::NONE,
};

/// The paper's 4Km with a multiplier of `32 x bits`: the same time for all operands.
const fn with_multiplier(name: &'static str, summary: &'static str, cycles: u32) -> Core {
    Core {
        name,
        summary,
        multiply: paper(cycles),
        multiply_short: paper(cycles),
        ..MIPS_4KM
    }
}

/// All cores, little-endian and without extensions.
pub static CORES: [Core; 4] = [
    MIPS_4KM,
    with_multiplier(
        "mips-4km-32x32",
        "MIPS32 4Km with a single-cycle 32x32 multiplier",
        1,
    ),
    with_multiplier(
        "mips-4km-32x16",
        "MIPS32 4Km with a 32x16 multiplier, 2 cycles for all operands",
        2,
    ),
    with_multiplier(
        "mips-4km-32x12",
        "MIPS32 4Km with a 32x12 multiplier, 3 cycles for all operands",
        3,
    ),
];

impl Core {
    /// The core called `name`.
    pub fn named(name: &str) -> Option<Core> {
        CORES.iter().find(|c| c.name == name).cloned()
    }

    /// Its name, extensions and byte order: `mips-4km+wide-acc+autoinc, big-endian`.
    pub fn full_name(&self) -> String {
        let mut name = self.name.to_string();
        for (_, word) in Features::EACH.iter().filter(|(f, _)| self.features.has(*f)) {
            name += "+";
            name += word;
        }
        if self.big_endian {
            name += ", big-endian";
        }
        name
    }

    /// The same core with `feature`.
    pub fn with(mut self, feature: Feature) -> Self {
        self.features = self.features.with(feature);
        self
    }

    /// The same core, most significant byte first.
    pub fn big_endian(mut self) -> Self {
        self.big_endian = true;
        self
    }

    /// Every number, with what it is.
    pub fn numbers(&self) -> Vec<(&'static str, Number)> {
        let mut list = vec![
            ("MULT, MADD, ... with rt of 32 bits", self.multiply),
            ("the same with rt of 16 bits", self.multiply_short),
            ("wait for a loaded word", self.load_use),
            ("wait for a word from HI or LO", self.move_from_use),
            ("MTHI, MTLO, SHA", self.move_to),
            ("MUL, beyond the multiplication", self.mul_stall),
            ("wait for the result of MUL", self.mul_use),
            ("branch, beyond the delay slot", self.branch),
        ];
        let names = ["DIVU, rs of 8 bits", "16 bits", "24 bits", "32 bits"];
        list.extend(names.into_iter().zip(self.divide));
        list
    }

    /// Shortest and longest time of the multiply/divide unit, when the observed operand is `value`.
    fn unit_cycles(&self, insn: &Insn, value: Option<u64>) -> (u32, u32) {
        let (long, short) = (self.multiply.cycles, self.multiply_short.cycles);
        match insn.form().timing {
            Timing::Multiply | Timing::MultiplyRegister | Timing::MultiplyAddRegister => {
                match value {
                    Some(k) if k < 1 << 15 => (short, short),
                    Some(k) if (1 << 16..0xffff_8000).contains(&k) => (long, long),
                    // 16 bits, but signed or unsigned?
                    Some(_) => (short, long),
                    None => (short, long),
                }
            }
            Timing::Divide => {
                let signed = insn.op == Op::DIV;
                let bits = |k: u64| match signed {
                    true => 64 - u64::from((k as u32 as i32).unsigned_abs()).leading_zeros(),
                    false => 64 - k.leading_zeros(),
                };
                let at = |size: usize| self.divide[size].cycles + u32::from(signed);
                match value {
                    Some(k) => {
                        let cycles = at((bits(k).saturating_sub(1) as usize / 8).min(3));
                        (cycles, cycles)
                    }
                    None => (at(0), at(3)),
                }
            }
            _ => (0, 0),
        }
    }
}

impl Timed<Ops> for Core {
    type Line = Scoreboard;

    fn work(&self, insn: &Insn) -> Work {
        let (least, _) = self.unit_cycles(insn, None);
        self.taking(insn, Work::single(insn.reads(), insn.writes()), least)
    }

    fn observing(&self, insn: &Insn, work: &Work, value: Option<u64>) -> [Work; 2] {
        let (least, most) = self.unit_cycles(insn, value);
        [least, most].map(|unit| self.taking(insn, *work, unit))
    }

    /// `rt` of a product, `rs` of a division.
    fn observes(&self, insn: &Insn) -> Option<u8> {
        let early = self.multiply.cycles != self.multiply_short.cycles;
        match insn.form().timing {
            Timing::Multiply | Timing::MultiplyRegister | Timing::MultiplyAddRegister if early => {
                Some(insn.ops.t)
            }
            Timing::Divide => Some(insn.ops.s),
            _ => None,
        }
    }

    fn observed(&self, insn: &Insn, source: &Source) -> String {
        format!("the time of {} depends on {source}", insn.form().name)
    }

    /// A skipped delay slot.
    fn left_out(&self, _: usize) -> Work {
        Work::single(0, 0)
    }

    fn class(&self, insn: &Insn) -> Class {
        insn.class()
    }

    fn draw(&self, insn: &Insn) -> Draw {
        match insn.form().timing {
            Timing::Alu | Timing::MoveFrom | Timing::MoveTo => Draw::Alu,
            Timing::Multiply | Timing::MultiplyRegister | Timing::MultiplyAddRegister => Draw::Mul,
            Timing::Load => Draw::Load,
            Timing::Store => Draw::Store,
            Timing::Branch | Timing::Jump | Timing::Divide | Timing::Trap => Draw::Other,
        }
    }
}

impl Core {
    /// What `insn` takes if its work in the multiply/divide unit takes `unit` cycles: what it reads and writes as in `work`.
    fn taking(&self, insn: &Insn, work: Work, unit: u32) -> Work {
        let wait = |n: Number| n.cycles;
        let factors = (insn.ops.s, insn.ops.t);
        let in_unit = |issue: u32, result: u32, unit: u32, product| Work {
            issue,
            result,
            unit: Some(unit),
            product,
            ..work
        };
        match insn.form().timing {
            Timing::Load => Work {
                result: 1 + wait(self.load_use),
                // The pointer comes from the adder, not from memory.
                early: match insn.op {
                    Op::LWI => 1 << insn.ops.s & !1,
                    _ => 0,
                },
                ..work
            },
            Timing::MoveFrom => Work {
                result: 1 + wait(self.move_from_use),
                ..work
            },
            Timing::MoveTo => in_unit(1, wait(self.move_to), wait(self.move_to), Product::Stays),
            Timing::Multiply => in_unit(1, unit, unit, Product::Lost),
            Timing::Divide => in_unit(1, unit, unit, Product::Stays),
            Timing::MultiplyRegister => {
                // The pipeline stands still meanwhile (4k.md, r4k_mul_4kc).
                let issue = 1 + unit + wait(self.mul_stall);
                in_unit(issue, issue + wait(self.mul_use), issue, Product::Lost)
            }
            // It holds its write slot (gk2003, section 5.2); the loop of four grows by two
            // cycles with two-cycle products, so the second of a pair finds its product.
            Timing::MultiplyAddRegister => in_unit(unit, unit, unit, Product::Of(factors)),
            Timing::Branch | Timing::Jump => Work {
                issue: 1 + wait(self.branch),
                ..work
            },
            Timing::Alu | Timing::Store | Timing::Trap => work,
        }
    }
}
