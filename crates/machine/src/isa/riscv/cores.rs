//! What instructions cost: one at a time, in order, each for some cycles and with a result that may come later.
//!
//! The scoreboard is [`crate::isa::clock`]'s; a core says what each instruction takes of it. Branches that a core predicts
//! cost what they do where the prediction is wrong.

use crate::fault::Source;
use crate::isa::clock::{Scoreboard, Timed, Work};
use crate::isa::cost::Class;
use crate::isa::energy::Draw;
use crate::isa::riscv::code::Insn;
use crate::isa::riscv::instructions::Timing;
pub use crate::isa::riscv::operands::Features;
use crate::isa::riscv::operands::Ops;

/// Cycles of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Time {
    /// Until the next one issues.
    pub issue: u32,
    /// How much longer an instruction waits that reads the result.
    pub wait: u32,
    /// From one to the next in the multiplier.
    pub unit: u32,
}

/// When a multiplier is through sooner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Early {
    /// Never.
    Never,
    /// MUL takes a cycle for each bit of rs2 up to the highest one that is set, and one more; two at least.
    BitsOfSecond,
}

/// What each class of instructions costs; all others take a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    pub load: Time,
    pub load_narrow: Time,
    pub store: Time,
    pub multiply: Time,
    pub multiply_high: Time,
    pub early: Early,
    pub divide: u32,
    /// A branch that is not taken and one that is.
    pub branch: [u32; 2],
    pub jump: u32,
    pub jump_register: u32,
}

/// A core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Core {
    pub name: &'static str,
    pub summary: &'static str,
    /// Who says what it costs.
    pub source: &'static str,
    pub features: Features,
    pub costs: Costs,
}

const fn time(issue: u32, wait: u32) -> Time {
    Time {
        issue,
        wait,
        unit: issue,
    }
}

/// A cycle each.
const COUNT: Costs = Costs {
    load: time(1, 0),
    load_narrow: time(1, 0),
    store: time(1, 0),
    multiply: time(1, 0),
    multiply_high: time(1, 0),
    early: Early::Never,
    divide: 1,
    branch: [1, 1],
    jump: 1,
    jump_register: 1,
};

const fn features(multiply: bool, compressed: bool, reduced: bool) -> Features {
    Features {
        multiply,
        compressed,
        reduced,
    }
}

const IMC: Features = features(true, true, false);

const fn counted(name: &'static str, features: Features) -> Core {
    Core {
        name,
        summary: "any core that issues an instruction a cycle: cycles are instructions",
        source: "a count",
        features,
        costs: COUNT,
    }
}

/// Ibex with no branch target ALU and no writeback stage; its multipliers differ.
const IBEX: Costs = Costs {
    load: time(2, 0),
    load_narrow: time(2, 0),
    store: time(2, 0),
    divide: 37,
    branch: [1, 3],
    jump: 2,
    jump_register: 2,
    ..COUNT
};

const IBEX_MANUAL: &str =
    "Ibex Reference Guide, Pipeline Details (stall cycles and 1), memory that answers at once";

const fn ibex(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    costs: Costs,
) -> Core {
    Core {
        name,
        summary,
        source,
        features: IMC,
        costs,
    }
}

/// All cores.
pub static CORES: [Core; 12] = [
    counted("rv32im", features(true, false, false)),
    counted("rv32imc", IMC),
    counted("rv32i", features(false, false, false)),
    counted("rv32ec", features(false, true, true)),
    ibex(
        "ibex-single-cycle",
        "lowRISC Ibex, RV32MSingleCycle",
        IBEX_MANUAL,
        Costs {
            multiply_high: time(2, 0),
            ..IBEX
        },
    ),
    ibex(
        "ibex-fast",
        "lowRISC Ibex, RV32MFast",
        IBEX_MANUAL,
        Costs {
            multiply: time(3, 0),
            multiply_high: time(4, 0),
            ..IBEX
        },
    ),
    ibex(
        "ibex-slow",
        "lowRISC Ibex, RV32MSlow: MUL is through when no bit of rs2 is left",
        "Ibex Reference Guide, Pipeline Details; ibex_multdiv_slow.sv for the multiplier, without data-independent timing",
        Costs {
            multiply: time(33, 0),
            multiply_high: time(33, 0),
            early: Early::BitsOfSecond,
            ..IBEX
        },
    ),
    Core {
        name: "sifive-e31",
        summary: "SiFive E31, as in the FE310-G000",
        source: "FE310-G000 Manual, section 3.3: result latencies, one multiplication at a time; every branch predicted wrong",
        features: IMC,
        costs: Costs {
            load: time(1, 1),
            load_narrow: time(1, 2),
            multiply: Time {
                issue: 1,
                wait: 4,
                unit: 5,
            },
            multiply_high: Time {
                issue: 1,
                wait: 4,
                unit: 5,
            },
            divide: 33,
            branch: [4, 4],
            jump: 4,
            jump_register: 4,
            ..COUNT
        },
    },
    Core {
        name: "hazard3",
        summary: "Hazard3, as in the RP2350",
        source: "Hazard3 documentation, Instruction Cycle Counts; every branch predicted wrong",
        features: IMC,
        costs: Costs {
            load: time(1, 1),
            load_narrow: time(1, 1),
            divide: 19,
            branch: [2, 2],
            jump: 2,
            jump_register: 2,
            ..COUNT
        },
    },
    Core {
        name: "bumblebee",
        summary: "Nuclei Bumblebee, as in the GD32VF103",
        source: "no manual has cycles: loads and stores of two explain 46 to 48 of the 46 that Micro25519's product takes beyond its instructions",
        features: IMC,
        costs: Costs {
            load: time(2, 0),
            load_narrow: time(2, 0),
            store: time(2, 0),
            divide: 33,
            branch: [1, 2],
            jump: 2,
            jump_register: 2,
            ..COUNT
        },
    },
    Core {
        name: "esp32-c3",
        summary: "Espressif's core of four stages, as in the ESP32-C3 and C6",
        source: "no manual has cycles: a multiplication of one is measured (WLED issue 4206), a wait of one for a loaded word and two for a jump are assumed of four stages",
        features: IMC,
        costs: Costs {
            load: time(1, 1),
            load_narrow: time(1, 1),
            divide: 33,
            branch: [1, 3],
            jump: 3,
            jump_register: 3,
            ..COUNT
        },
    },
    Core {
        name: "qingke-v2a",
        summary: "WCH QingKe V2A, as in the CH32V003",
        source: "no manual has cycles: a refill of the two stages after a jump is assumed (QingKeV2 Microprocessor Manual, table 1-1)",
        features: features(false, true, true),
        costs: Costs {
            branch: [1, 2],
            jump: 2,
            jump_register: 2,
            ..COUNT
        },
    },
];

impl Core {
    /// The core called `name`.
    pub fn named(name: &str) -> Option<&'static Core> {
        CORES.iter().find(|c| c.name == name)
    }

    fn time(&self, timing: Timing) -> Time {
        let costs = &self.costs;
        match timing {
            Timing::Load => costs.load,
            Timing::LoadNarrow => costs.load_narrow,
            Timing::Store => costs.store,
            Timing::Multiply => costs.multiply,
            Timing::MultiplyHigh => costs.multiply_high,
            Timing::Divide => time(costs.divide, 0),
            Timing::Branch => time(costs.branch[0], 0),
            Timing::Jump => time(costs.jump, 0),
            Timing::JumpRegister => time(costs.jump_register, 0),
            Timing::Alu | Timing::Trap => time(1, 0),
        }
    }

    /// What `insn` takes that issues in `issue` cycles: what it reads and writes as in `work`.
    fn taking(&self, insn: &Insn, work: &Work, issue: u32) -> Work {
        let timing = insn.form().timing;
        let time = self.time(timing);
        let multiplies = matches!(timing, Timing::Multiply | Timing::MultiplyHigh);
        let [passed, taken] = self.costs.branch;
        // An early product frees the multiplier with the pipeline.
        let unit = if time.unit == time.issue {
            issue
        } else {
            time.unit
        };
        Work {
            issue,
            result: issue + time.wait,
            unit: multiplies.then_some(unit),
            taken: match timing {
                Timing::Branch => taken - passed,
                _ => 0,
            },
            ..*work
        }
    }
}

impl Timed<Ops> for Core {
    type Line = Scoreboard;

    fn work(&self, insn: &Insn) -> Work {
        let single = Work::single(insn.reads(), insn.writes());
        let [least, _] = self.observing(insn, &single, None);
        least
    }

    fn observing(&self, insn: &Insn, work: &Work, value: Option<u64>) -> [Work; 2] {
        let most = self.time(insn.form().timing).issue;
        let issues = match (self.observes(insn), value) {
            (None, _) => [most; 2],
            (Some(_), Some(number)) => [(65 - number.leading_zeros()).max(2); 2],
            (Some(_), None) => [2, most],
        };
        issues.map(|issue| self.taking(insn, work, issue))
    }

    fn observes(&self, insn: &Insn) -> Option<u8> {
        match (insn.form().timing, self.costs.early) {
            (Timing::Multiply, Early::BitsOfSecond) => Some(insn.ops.t),
            (_, Early::BitsOfSecond | Early::Never) => None,
        }
    }

    fn observed(&self, insn: &Insn, source: &Source) -> String {
        format!("the time of {} depends on {source}", insn.form().name)
    }

    /// No instruction skips another.
    fn left_out(&self, _: usize) -> Work {
        Work::single(0, 0)
    }

    fn class(&self, insn: &Insn) -> Class {
        insn.class()
    }

    fn draw(&self, insn: &Insn) -> Draw {
        match insn.form().timing {
            Timing::Alu => Draw::Alu,
            Timing::Multiply | Timing::MultiplyHigh => Draw::Mul,
            Timing::Load | Timing::LoadNarrow => Draw::Load,
            Timing::Store => Draw::Store,
            Timing::Branch
            | Timing::Jump
            | Timing::JumpRegister
            | Timing::Divide
            | Timing::Trap => Draw::Other,
        }
    }
}

/// What parts there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    pub name: &'static str,
    pub core: &'static str,
    /// Bytes of program memory (of RAM where programs run there) and of RAM.
    pub flash: usize,
    pub ram: usize,
    pub source: &'static str,
}

const fn part(
    name: &'static str,
    core: &'static str,
    flash: usize,
    ram: usize,
    source: &'static str,
) -> Part {
    Part {
        name,
        core,
        flash: 1024 * flash,
        ram: 1024 * ram,
        source,
    }
}

/// Parts, sizes in KB.
#[rustfmt::skip]
pub static PARTS: [Part; 6] = [
    part("esp32c3", "esp32-c3", 400, 400, "ESP32-C3 Series Datasheet, 3.1: 400 KB of SRAM"),
    part("esp32c6", "esp32-c3", 512, 512, "ESP32-C6 Series Datasheet, 3.1: 512 KB of HP SRAM"),
    part("gd32vf103", "bumblebee", 128, 32, "GD32VF103 Datasheet, table 2-1: the largest"),
    part("rp2350-riscv", "hazard3", 520, 520, "RP2350 Datasheet, 1.2: 520 KB of SRAM"),
    part("ch32v003", "qingke-v2a", 16, 2, "CH32V003 Datasheet, chapter 1"),
    part("fe310", "sifive-e31", 16, 16, "FE310-G000 Manual, chapter 4: instruction cache and DTIM"),
];
