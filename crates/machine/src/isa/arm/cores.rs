//! What instructions cost: one function of the timing class per core, and whether a loaded word is late.

use crate::codec::Places;
use crate::fault::Source;
use crate::isa::arm::code::{Form, Insn, register};
use crate::isa::arm::instructions::{Ends, Op, Timing};
use crate::isa::arm::operands::Ops;
use crate::isa::clock::{Cycles, Delayed, Loading, Timed};
use crate::isa::cost::{Class, Span};
use crate::isa::energy::{Currents, Draw};

/// What an instruction did that its cost may depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// Registers of a block transfer.
    pub words: u32,
    /// Is the second operand shifted by a register?
    pub register_shift: bool,
    /// Did it write the program counter?
    pub jumped: bool,
    /// The number in Rs, if it is the same in every run.
    pub multiplier: Option<u32>,
}

/// Which instructions there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// ARMv4: no Thumb state, and no BX.
    V4,
    V4t,
}

impl Version {
    /// Has it this instruction?
    pub fn has(self, form: &Form) -> bool {
        match self {
            Self::V4 => form.op != Op::BX,
            Self::V4t => true,
        }
    }
}

/// A core: a name and its costs.
#[derive(Clone, Debug)]
pub struct Core {
    pub name: &'static str,
    pub summary: &'static str,
    /// The architecture that it has.
    pub version: Version,
    /// Fewest and most cycles of an executed instruction that waits for none.
    pub cycles: fn(Timing, &Effects) -> Span,
    /// Does the next instruction wait a cycle for what a load brings? Without wait states the ARM7TDMI has no history:
    /// each instruction's cycles are its own.
    pub waits: bool,
    /// Cycles of an instruction whose condition does not hold.
    pub skipped: u64,
    pub source: &'static str,
}

impl Core {
    /// Of an SA-1100; of its successor and the ARM7TDMI no table is known to us.
    pub fn currents(&self) -> Option<Currents> {
        (self.name == SA_1100.name).then(|| Currents {
            source: "groszschaedl-2005, table 1, after Sinha and Chandrakasan (JouleTrack)".into(),
            volts: 1.5,
            megahertz: 206.0,
            alu: 0.178,
            mul: 0.196,
            load: 0.196,
            store: 0.229,
            other: 0.170,
        })
    }
}

impl PartialEq for Core {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

fn fixed(cycles: u64) -> Span {
    Span {
        min: cycles,
        max: cycles,
    }
}

/// m, the cycles of the 8-bit multiplier array: the lowest bytes of Rs above which nothing is left.
///
/// Source: ARM DDI 0210, sections 6.6 (multiply) and 6.7 (multiply long).
fn array_cycles(multiplier: u32, ends: Ends) -> u64 {
    let ones = ends == Ends::Same;
    let rest = |shift: u32| {
        let upper = multiplier >> shift;
        upper == 0 || ones && upper == u32::MAX >> shift
    };
    match (rest(8), rest(16), rest(24)) {
        (true, _, _) => 1,
        (_, true, _) => 2,
        (_, _, true) => 3,
        _ => 4,
    }
}

/// All but multiplications, in cycles of memory without wait states (S = N = I = 1).
///
/// Source: ARM DDI 0210, chapter 6: data operations (6.5: 1S, +1I for a shift by a register,
/// +1N+1S when the program counter is written), loads (6.8: 1S+1N+1I, program counter +1S+1N),
/// stores (6.9: 2N), block loads (6.10: kS+1N+1I, program counter +1S+1N), block stores
/// (6.11: (k-1)S+2N), swap (6.12: 1S+2N+1I), branches (6.3, 6.4: 2S+1N).
fn without_wait_states(t: Timing, e: &Effects) -> u64 {
    let jump = if e.jumped { 2 } else { 0 };
    match t {
        Timing::Alu => 1 + u64::from(e.register_shift) + jump,
        Timing::Load => 3 + jump,
        Timing::Store => 2,
        Timing::LoadMultiple => u64::from(e.words) + 2 + jump,
        Timing::StoreMultiple => u64::from(e.words) + 1,
        Timing::Swap => 4,
        Timing::Branch => 3,
        Timing::Status => 1,
        Timing::Multiply(..) => 0,
    }
}

/// The core as its manual describes it.
pub static ARM7TDMI: Core = Core {
    name: "arm7tdmi",
    version: Version::V4t,
    waits: false,
    summary: "ARM7TDMI, 32-bit memory without wait states, early-terminating multiplier",
    cycles: |t, e| match (t, e.multiplier) {
        (Timing::Multiply(base, ends, _), Some(rs)) => {
            fixed(u64::from(base) + array_cycles(rs, ends))
        }
        (Timing::Multiply(base, ..), None) => Span {
            min: u64::from(base) + 1,
            max: u64::from(base) + 4,
        },
        _ => fixed(without_wait_states(t, e)),
    },
    skipped: 1,
    source: "ARM DDI 0210 (ARM7TDMI technical reference manual), chapter 6, tables of \
             instruction cycle timings; MUL 1S+mI, MLA 1S+(m+1)I, long 1S+(m+1)I, \
             long accumulate 1S+(m+2)I",
};

/// The core as hw2018 counts it.
pub static ARM7TDMI_HW2018: Core = Core {
    name: "arm7tdmi-hw2018",
    version: Version::V4t,
    waits: false,
    summary: "ARM7TDMI as Hutter and Wenger 2018 count it: a multiplier of fixed time, UMULL 4",
    cycles: |t, e| match t {
        // UMULL 4 is 2 + m with m = 2; the other multiplications keep their distance to it.
        Timing::Multiply(base, ..) => fixed(u64::from(base) + 2),
        _ => fixed(without_wait_states(t, e)),
    },
    skipped: 1,
    source: "the paper's own model (Hutter, Wenger 2018, section 4.2): UMULL 4, LDR 3, STR 2, \
             data processing 1; what it does not mention as in ARM DDI 0210, multiplications \
             with m = 2 so that UMULL is 4",
};

/// m, the cycles that a 32 x 12 multiplier takes: fewer where the upper bits of Rs are 0. Where they are 1 in a signed
/// product no source says which it is.
fn wallace_cycles(multiplier: u32, ends: Ends) -> Span {
    let rest = |shift: u32| multiplier >> shift == 0;
    let least = match (rest(11), rest(23)) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 3,
    };
    let ones = |shift: u32| ends == Ends::Same && multiplier >> shift == u32::MAX >> shift;
    match (ones(11), ones(23)) {
        (true, _) => Span { min: 1, max: 3 },
        (false, true) => Span { min: 2, max: 3 },
        (false, false) => fixed(least),
    }
}

/// All but multiplications, with both caches hit.
fn five_stages(t: Timing, e: &Effects) -> u64 {
    let jump = u64::from(e.jumped);
    match t {
        Timing::Alu => 1 + u64::from(e.register_shift) + jump,
        Timing::Load => 1 + jump,
        Timing::Store | Timing::Status => 1,
        Timing::LoadMultiple => u64::from(e.words).max(2) + jump,
        Timing::StoreMultiple => u64::from(e.words).max(2),
        Timing::Swap | Timing::Branch => 2,
        Timing::Multiply(..) => 0,
    }
}

/// A StrongARM.
const fn strongarm(name: &'static str, summary: &'static str) -> Core {
    Core {
        name,
        summary,
        version: Version::V4,
        waits: true,
        cycles: |t, e| match t {
            Timing::Multiply(_, ends, long) => {
                let m = e.multiplier.map(|rs| wallace_cycles(rs, ends));
                let Span { min, max } = m.unwrap_or(Span { min: 1, max: 3 });
                let more = u64::from(long);
                Span {
                    min: min + more,
                    max: max + more,
                }
            }
            _ => fixed(five_stages(t, e)),
        },
        skipped: 1,
        source: "groszschaedl-2005, section 2.1, after Intel's note 278194-001: ALU, LDR and STR 1, what is loaded one \
                 cycle later, products 1 to 3 cycles by bits 31..11 and 31..23 of Rs, long ones one more; LDM and \
                 STM max(2, words), a shift by a register 1 more; caches always hit. Not in that source: a branch \
                 that is taken 2 and a write of the program counter 1 more, as GMP's loops on a StrongARM have it; \
                 SWP 2, MRS and MSR 1 are assumed",
    }
}

/// All cores.
pub static CORES: [&Core; 4] = [&ARM7TDMI, &ARM7TDMI_HW2018, &SA_1100, &SA_1110];

pub static SA_1100: Core = strongarm(
    "sa-1100",
    "StrongARM SA-1100, five stages, 32x12 multiplier, early-terminating",
);

pub static SA_1110: Core = strongarm("sa-1110", "StrongARM SA-1110: the core of the SA-1100");

impl Core {
    fn span(&self, insn: &Insn, multiplier: Option<u64>) -> Span {
        let (timing, k) = (insn.form().timing, insn.ops.k as u32);
        let effects = Effects {
            words: (k & 0xffff).count_ones(),
            register_shift: timing == Timing::Alu && k & 0x1010 == 0x10,
            jumped: insn.writes_pc(),
            multiplier: multiplier.map(|value| value as u32),
        };
        (self.cycles)(timing, &effects)
    }

    /// What `insn` takes in so many cycles.
    fn loading(&self, insn: &Insn, cycles: u64) -> Loading {
        let cycles = Cycles {
            cycles: cycles as u16,
            taken: 0,
        };
        match self.waits {
            true => Loading {
                cycles,
                reads: insn.reads() & REGISTERS,
                late: late(insn),
            },
            false => Loading {
                cycles,
                ..Loading::default()
            },
        }
    }
}

/// All registers: flags are never late.
const REGISTERS: Places = 0xffff;

/// What of `insn` the next instruction waits for: a loaded word, the last one of several.
fn late(insn: &Insn) -> Places {
    match insn.form().timing {
        Timing::Load | Timing::Swap => 1 << insn.ops.d,
        Timing::LoadMultiple => match insn.ops.k as u16 {
            0 => 0,
            list => 1 << list.ilog2(),
        },
        Timing::Alu
        | Timing::Multiply(..)
        | Timing::Store
        | Timing::StoreMultiple
        | Timing::Branch
        | Timing::Status => 0,
    }
}

impl Timed<Ops> for Core {
    type Line = Delayed;

    fn work(&self, insn: &Insn) -> Loading {
        self.loading(insn, self.span(insn, None).min)
    }

    fn observing(&self, insn: &Insn, work: &Loading, value: Option<u64>) -> [Loading; 2] {
        let Span { min, max } = self.span(insn, value);
        [min, max].map(|cycles| Loading {
            cycles: Cycles {
                cycles: cycles as u16,
                ..work.cycles
            },
            ..*work
        })
    }

    /// A product that stops at zeros alone takes no less for a larger Rs, and Rs lies between `ones` and all ones.
    fn settled(&self, insn: &Insn, ones: u64) -> Option<u64> {
        let Timing::Multiply(_, Ends::Zeros, _) = insn.form().timing else {
            return None;
        };
        let [least, most] = [ones, u64::from(u32::MAX)].map(|rs| self.span(insn, Some(rs)));
        (least == most).then_some(ones)
    }

    /// Rs, of a multiplication.
    fn observes(&self, insn: &Insn) -> Option<u8> {
        let Span { min, max } = self.span(insn, None);
        (min != max).then_some(insn.ops.r)
    }

    fn observed(&self, insn: &Insn, source: &Source) -> String {
        let Span { min, max } = self.span(insn, None);
        let name = insn.form().name;
        let told = format!("{name} takes {min} to {max} cycles depending on {source}");
        let cure = "use a core whose multiplier has fixed time";
        match insn.form().timing {
            Timing::Multiply(_, Ends::Zeros, _) => {
                let rs = register(insn.ops.r);
                format!(
                    "{told}; {cure}, or set the top bit of {rs} (ORR) and take out what that adds"
                )
            }
            _ => format!("{told}; {cure}"),
        }
    }

    fn left_out(&self, _: usize) -> Loading {
        Loading {
            cycles: Cycles {
                cycles: self.skipped as u16,
                taken: 0,
            },
            ..Loading::default()
        }
    }

    fn class(&self, insn: &Insn) -> Class {
        insn.class()
    }

    fn draw(&self, insn: &Insn) -> Draw {
        match insn.form().timing {
            Timing::Alu => Draw::Alu,
            Timing::Multiply(..) => Draw::Mul,
            Timing::Load | Timing::LoadMultiple => Draw::Load,
            Timing::Store | Timing::StoreMultiple => Draw::Store,
            Timing::Swap | Timing::Branch | Timing::Status => Draw::Other,
        }
    }
}
