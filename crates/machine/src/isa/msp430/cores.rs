//! What instructions cost, by addressing mode, on the CPU and on the CPUX; cores and parts.
//!
//! Sources: SLAU144, *MSP430x2xx Family User's Guide*, tables 3-14 to 3-16 (CPU; those of SLAU049 are the same); SLAU208,
//! *MSP430x5xx and MSP430x6xx Family User's Guide*, tables 6-8 to 6-12 (CPUX).
//!
//! What was read a second time: all numbers of one and of two operands on the CPUX, in transcriptions of SLAU445I's tables 4-9
//! and 4-10 (pages 154 and 155), which are those of SLAU208. Chapter 4 there says that the CPUX of the families 2xx and 4xx
//! (`msp430x-mpy16`) takes slightly other times in some cases; no table of these was seen.

use crate::fault::Source as Origin;
use crate::isa::clock::{Cycles, Memoryless, Timed};
use crate::isa::cost::Class;
use crate::isa::energy::Draw;
use crate::isa::msp430::code::Insn;
use crate::isa::msp430::convention::{Abi, GCC};
use crate::isa::msp430::instructions::Timing;
use crate::isa::msp430::multiplier::{Irq, Kind, Multiplier};
pub use crate::isa::msp430::operands::Features;
use crate::isa::msp430::operands::{Dest, Ops, PC, Source};

/// A core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Core {
    pub name: &'static str,
    pub summary: &'static str,
    /// Who says what it costs.
    pub source: &'static str,
    pub features: Features,
    pub multiplier: Option<Multiplier>,
    /// What interrupt handlers do with it.
    pub irq: Irq,
    /// How functions are called.
    pub abi: &'static Abi,
}

const CPU: &str = "SLAU144, tables 3-14 to 3-16";
const CPUX: &str = "SLAU208, tables 6-8 to 6-12";

/// Where the multiplier is: on the families 1xx to 4xx, and from 5xx on.
const LOW: u16 = 0x0130;
const HIGH: u16 = 0x04c0;

const fn core(
    name: &'static str,
    summary: &'static str,
    extended: bool,
    multiplier: Option<Multiplier>,
) -> Core {
    Core {
        name,
        summary,
        source: if extended { CPUX } else { CPU },
        features: Features { extended },
        multiplier,
        irq: Irq::None,
        abi: &GCC,
    }
}

const fn multiplier(kind: Kind, base: u16) -> Option<Multiplier> {
    Some(Multiplier { kind, base })
}

/// All cores.
#[rustfmt::skip]
pub static CORES: [Core; 6] = [
    core("msp430-mpy16", "MSP430 with the multiplier of 16 bits at 0x0130", false, multiplier(Kind::Mpy16, LOW)),
    core("msp430", "MSP430 without a multiplier", false, None),
    core("msp430-mpy32", "MSP430 with the multiplier of 32 bits at 0x0130, as in the MSP430F47x4", false, multiplier(Kind::Mpy32, LOW)),
    core("msp430x-mpy32", "MSP430X with the multiplier of 32 bits at 0x04c0", true, multiplier(Kind::Mpy32, HIGH)),
    core("msp430x-mpy16", "MSP430X with the multiplier of 16 bits at 0x0130, as in the MSP430F2618", true, multiplier(Kind::Mpy16, LOW)),
    core("msp430x", "MSP430X without a multiplier", true, None),
];

/// How an operand is reached, as the tables have it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Register,
    Indirect,
    Increment,
    Immediate,
    Indexed,
    Absolute,
}

fn reach(source: Source) -> Reach {
    match source {
        Source::Register(_) => Reach::Register,
        Source::Indirect(_) => Reach::Indirect,
        Source::Increment(_) => Reach::Increment,
        Source::Indexed(..) | Source::Symbolic(_) => Reach::Indexed,
        Source::Absolute(_) => Reach::Absolute,
        // What the constant generator makes is there as a register is.
        Source::Constant(_) if source.fields().0 != PC => Reach::Register,
        Source::Constant(_) => Reach::Immediate,
    }
}

impl Core {
    /// The core called `name`.
    pub fn named(name: &str) -> Option<&'static Core> {
        CORES.iter().find(|c| c.name == name)
    }

    /// The same with its multiplier where `part` has it.
    pub fn in_part(&self, part: Option<&'static Part>) -> Core {
        let multiplier = part.map_or(self.multiplier, |part| part.multiplier());
        Core {
            multiplier,
            ..*self
        }
    }

    /// Does all code for `other` run here? Its multiplier must be here, too.
    pub fn runs(&self, other: &Core) -> bool {
        let kinds = [self, other].map(|core| core.multiplier.map(|m| m.kind));
        let multiplies = match kinds {
            [_, None] | [Some(Kind::Mpy32), Some(_)] => true,
            [Some(Kind::Mpy16), Some(kind)] => kind == Kind::Mpy16,
            [None, Some(_)] => false,
        };
        multiplies && self.features.extended >= other.features.extended
    }

    /// The same with its multiplier where that of `other` is, and with its interrupts and calls.
    pub fn like(&self, other: &Core) -> Core {
        let base = other.multiplier.map(|m| m.base);
        let moved = |own: Multiplier| Multiplier {
            base: base.unwrap_or(own.base),
            ..own
        };
        Core {
            multiplier: self.multiplier.map(moved),
            irq: other.irq,
            abi: other.abi,
            ..*self
        }
    }

    /// What interrupt handlers may do with its multiplier: the state of an MPY16 cannot be read back (SLAU049, 7.2.5).
    pub fn policies(&self) -> Vec<(Irq, &'static str)> {
        let fits = |irq: &Irq| match self.multiplier.map(|m| m.kind) {
            None => false,
            Some(Kind::Mpy16) => *irq != Irq::SaveRestore,
            Some(Kind::Mpy32) => true,
        };
        Irq::EACH.into_iter().filter(|(irq, _)| fits(irq)).collect()
    }

    /// The same, called by `abi`.
    pub fn called(&self, abi: &'static Abi) -> Core {
        Core { abi, ..*self }
    }

    /// The same where interrupt handlers do this with the multiplier.
    pub fn with_irq(&self, irq: Irq) -> Core {
        Core { irq, ..*self }
    }

    /// Cycles of an instruction of two operands: tables 3-16 (CPU) and 6-10 (CPUX; SLAU445I, table 4-10, page 155).
    fn two(&self, ops: &Ops, once: bool) -> u16 {
        let extended = self.features.extended;
        let reach = reach(ops.source());
        match ops.dest() {
            Dest::Register(PC) if extended => match reach {
                Reach::Register | Reach::Immediate => 3,
                Reach::Indirect | Reach::Increment => 4,
                Reach::Indexed | Reach::Absolute => 5,
            },
            Dest::Register(PC) => match reach {
                Reach::Register | Reach::Indirect => 2,
                Reach::Increment | Reach::Immediate | Reach::Indexed | Reach::Absolute => 3,
            },
            Dest::Register(_) => match reach {
                Reach::Register => 1,
                Reach::Indirect | Reach::Increment | Reach::Immediate => 2,
                Reach::Indexed | Reach::Absolute => 3,
            },
            Dest::Indexed(..) | Dest::Absolute(_) | Dest::Symbolic(_) => {
                let cycles = match reach {
                    Reach::Register => 4,
                    Reach::Indirect | Reach::Increment | Reach::Immediate => 5,
                    Reach::Indexed | Reach::Absolute => 6,
                };
                // Footnote of table 6-10 (and of 4-10): MOV, BIT and CMP take one less.
                cycles - u16::from(extended && once)
            }
        }
    }

    /// Cycles of an instruction of one operand: tables 3-15 (CPU) and 6-9 (CPUX; SLAU445I, table 4-9, page 154).
    fn one(&self, timing: Timing, source: Source) -> u16 {
        let extended = self.features.extended;
        match (timing, reach(source)) {
            (Timing::Push, Reach::Register) => 3,
            (Timing::Push, Reach::Indirect) => 4 - u16::from(extended),
            (Timing::Push, Reach::Increment) => 5 - 2 * u16::from(extended),
            (Timing::Push, Reach::Immediate) => 4 - u16::from(extended),
            (Timing::Push, Reach::Indexed | Reach::Absolute) => 5 - u16::from(extended),
            (Timing::Call, Reach::Register | Reach::Indirect) => 4,
            (Timing::Call, Reach::Increment | Reach::Immediate) => 5 - u16::from(extended),
            (Timing::Call, Reach::Indexed) => 5,
            (Timing::Call, Reach::Absolute) => 5 + u16::from(extended),
            (_, Reach::Register) => 1,
            (_, Reach::Indirect | Reach::Increment | Reach::Immediate) => 3,
            (_, Reach::Indexed | Reach::Absolute) => 4,
        }
    }

    /// Cycles of `insn`.
    pub fn cycles(&self, insn: &Insn) -> u16 {
        let ops = &insn.ops;
        match insn.form().timing {
            Timing::Two => self.two(ops, false),
            Timing::Once => self.two(ops, true),
            timing @ (Timing::One | Timing::Push | Timing::Call) => self.one(timing, ops.source()),
            // Tables 3-14 and 6-8.
            Timing::Return => 5,
            // Sections 3.4.3 and 6.5.1.5: taken or not.
            Timing::Jump => 2,
            // Table 6-12 (SLAU445I, table 4-17): of words, and a cycle for each bit.
            Timing::Several => 2 + ops.k as u16,
            Timing::SeveralWhole => 2 + 2 * ops.k as u16,
            // SLAU445, tables 4-17 (#N) and 4-19 (MOVA @Rn+, PC).
            Timing::Far => 5,
            // Table 4-19, #N to PC: a row that was not seen again.
            Timing::FarJump => 3,
            Timing::Bits => ops.k as u16,
        }
    }
}

impl Timed<Ops> for Core {
    type Line = Memoryless;

    fn work(&self, insn: &Insn) -> Cycles {
        Cycles {
            cycles: self.cycles(insn),
            taken: 0,
        }
    }

    /// No operand decides.
    fn observing(&self, _: &Insn, work: &Cycles, _: Option<u64>) -> [Cycles; 2] {
        [*work; 2]
    }

    fn observes(&self, _: &Insn) -> Option<u8> {
        None
    }

    fn observed(&self, insn: &Insn, source: &Origin) -> String {
        format!("the time of {} depends on {source}", insn.form().name)
    }

    /// No instruction skips another.
    fn left_out(&self, _: usize) -> Cycles {
        Cycles::default()
    }

    fn class(&self, insn: &Insn) -> Class {
        match (self.multiplier, insn.ops.dest()) {
            (Some(multiplier), Dest::Absolute(at)) if multiplier.starts(at) => Class::Mul,
            _ => insn.class(),
        }
    }

    fn draw(&self, insn: &Insn) -> Draw {
        match self.class(insn) {
            Class::Mul => Draw::Mul,
            Class::Load => Draw::Load,
            Class::Store => Draw::Store,
            Class::Add | Class::Move => Draw::Alu,
            Class::Other | Class::Frame => Draw::Other,
        }
    }
}

/// What parts there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    pub name: &'static str,
    pub core: &'static str,
    /// Where its multiplier is, if it has one.
    pub base: u16,
    /// Bytes of program memory (of FRAM where there is no flash) and of RAM.
    pub flash: usize,
    pub ram: usize,
    /// How much of them lies below 64 KB, where the small memory model reaches.
    pub near: [usize; 2],
    /// Its data sheet.
    pub source: &'static str,
}

impl Part {
    /// The same where program memory begins at `first` and goes on above 64 KB, and so much RAM lies below.
    const fn from(self, first: usize, ram: usize) -> Part {
        let near = [64 * KB - first, ram];
        Part { near, ..self }
    }

    fn multiplier(&self) -> Option<Multiplier> {
        let core = Core::named(self.core)?;
        let base = self.base;
        core.multiplier.map(|own| Multiplier { base, ..own })
    }
}

const fn part(
    name: &'static str,
    core: &'static str,
    base: u16,
    flash: usize,
    ram: usize,
    source: &'static str,
) -> Part {
    Part {
        name,
        core,
        base,
        flash,
        ram,
        near: [flash, ram],
        source,
    }
}

const KB: usize = 1024;

/// Parts, family by family: main memory and RAM as the data sheet's first page has them, and of those with main memory above
/// 64 KB from its table of the memory organization, which says where it begins and ends: SLAS541M, table 9-8; SLAS655H, 9-2;
/// SLAS700, 9-4; SLAS704G, 6-6; SLASE54D, 9-41; of the FG4618, the F5529 and the FR6989 from TI's linker command files. First pages
/// round 256 bytes up, of the FR5969 and the FR6989 1 KB. An MSP430F5659 has 16 KB of its RAM below 64 KB.
#[rustfmt::skip]
pub static PARTS: [Part; 27] = [
    part("msp430f147",   "msp430-mpy16",  LOW,   32 * KB,  KB,      "SLAS272"),
    part("msp430f149",   "msp430-mpy16",  LOW,   60 * KB,  2 * KB,  "SLAS272"),
    part("msp430f169",   "msp430-mpy16",  LOW,   60 * KB,  2 * KB,  "SLAS368"),
    part("msp430f1611",  "msp430-mpy16",  LOW,   48 * KB,  10 * KB, "SLAS368"),
    part("msp430f1612",  "msp430-mpy16",  LOW,   55 * KB,  5 * KB,  "SLAS368"),
    part("msp430f247",   "msp430-mpy16",  LOW,   32 * KB,  4 * KB,  "SLAS547"),
    part("msp430f249",   "msp430-mpy16",  LOW,   60 * KB,  2 * KB,  "SLAS547"),
    part("msp430f2410",  "msp430-mpy16",  LOW,   56 * KB,  4 * KB,  "SLAS547"),
    part("msp430f449",   "msp430-mpy16",  LOW,   60 * KB,  2 * KB,  "SLAS344"),
    part("msp430f4794",  "msp430-mpy32",  LOW,   60 * KB,  2560,    "SLAS545"),
    part("msp430f2013",  "msp430",        0,     2 * KB,   128,     "SLAS491"),
    part("msp430f2274",  "msp430",        0,     32 * KB,  KB,      "SLAS504"),
    part("msp430g2231",  "msp430",        0,     2 * KB,   128,     "SLAS694"),
    part("msp430g2452",  "msp430",        0,     8 * KB,   256,     "SLAS722"),
    part("msp430g2553",  "msp430",        0,     16 * KB,  512,     "SLAS735"),
    part("msp430f2617",  "msp430x-mpy16", LOW,   92 * KB - 256, 8 * KB,  "SLAS541").from(0x3100, 8 * KB),
    part("msp430f2618",  "msp430x-mpy16", LOW,   116 * KB - 256, 8 * KB,  "SLAS541").from(0x3100, 8 * KB),
    part("msp430fg4618", "msp430x-mpy16", LOW,   116 * KB - 256, 8 * KB,  "SLAS508").from(0x3100, 8 * KB),
    part("msp430f5438a", "msp430x-mpy32", HIGH,  256 * KB, 16 * KB, "SLAS655").from(0x5c00, 16 * KB),
    part("msp430f5529",  "msp430x-mpy32", HIGH,  128 * KB, 8 * KB,  "SLAS590").from(0x4400, 8 * KB),
    part("msp430f5659",  "msp430x-mpy32", HIGH,  512 * KB, 64 * KB, "SLAS700").from(0x8000, 16 * KB),
    part("cc430f6137",   "msp430x-mpy32", HIGH,  32 * KB,  4 * KB,  "SLAS554"),
    part("msp430fr2433", "msp430x-mpy32", HIGH,  15 * KB + 512, 4 * KB, "SLASE59"),
    part("msp430fr5739", "msp430x-mpy32", HIGH,  16 * KB,  KB,      "SLAS639"),
    part("msp430fr5969", "msp430x-mpy32", HIGH,  63 * KB,  2 * KB,  "SLAS704").from(0x4400, 2 * KB),
    part("msp430fr5994", "msp430x-mpy32", HIGH,  256 * KB, 8 * KB,  "SLASE54").from(0x4000, 8 * KB),
    part("msp430fr6989", "msp430x-mpy32", HIGH,  127 * KB, 2 * KB,  "SLAS789").from(0x4400, 2 * KB),
];
