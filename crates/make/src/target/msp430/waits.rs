//! Waits for the multiplier: a load that comes later anyway where there is a register for it, else NOPs.

use machine::isa::msp430::code::{Dest, Insn, Source};
use machine::isa::msp430::cores::Core;
use machine::isa::msp430::instructions::Op;

/// In which cycle an instruction reads what lies at an address.
const READS: u8 = 3;

struct Waits<'c> {
    core: &'c Core,
    /// Cycles until RES0 to RES3 and SUMEXT are there.
    late: [u8; 5],
    /// Has the first operand 32 bits?
    wide: bool,
    out: Vec<Insn>,
}

impl Waits<'_> {
    fn written(&self, insn: &Insn) -> Option<u16> {
        match insn.ops.dest() {
            Dest::Absolute(at) => Some(at),
            Dest::Register(_) | Dest::Indexed(..) | Dest::Symbolic(_) => None,
        }
    }

    /// Cycles that the multiplier needs before this instruction.
    fn need(&self, insn: &Insn) -> u8 {
        let Some(multiplier) = self.core.multiplier else {
            return 0;
        };
        let read = match insn.ops.source() {
            Source::Absolute(at) => multiplier.result(at),
            _ => None,
        };
        let read = read.map_or(0, |i| self.late[i].saturating_sub(READS));
        let written = self.written(insn);
        let writes = written.is_some_and(|at| multiplier.register(at.into()).is_some());
        let late = self.late.into_iter().max().unwrap_or(0);
        // It writes in the last of its own cycles.
        let busy = late.saturating_sub(self.core.cycles(insn) as u8);
        read.max(if writes { busy } else { 0 })
    }

    fn push(&mut self, insn: Insn) {
        let cycles = self.core.cycles(&insn) as u8;
        let to = self.core.multiplier.zip(self.written(&insn));
        if let Some(wide) = to.and_then(|(multiplier, at)| multiplier.chooses(at)) {
            self.wide = wide;
        }
        let begins = to.and_then(|(multiplier, at)| multiplier.begins(at, self.wide));
        self.late = begins.unwrap_or(self.late.map(|late| late.saturating_sub(cycles)));
        self.out.push(insn);
    }

    /// Which of the instructions behind the first, which waits, gains most if its operand is loaded now.
    fn early(&self, insns: &[Insn]) -> Option<usize> {
        let need = u16::from(self.need(insns.first()?));
        let mut best = None;
        let mut moved = 0;
        for (i, insn) in insns.iter().enumerate() {
            let ends = |at: u16| self.core.multiplier.is_some_and(|m| m.starts(at));
            let base = match insn.ops.source() {
                Source::Indexed(r, _) | Source::Indirect(r) | Source::Increment(r) => Some(r),
                _ => None,
            };
            if let (Some(base), Some(_)) = (base, self.written(insn))
                && insn.op == Op::MOV
                && i > 0
                && moved >> base & 1 == 0
            {
                let load = self.core.cycles(&loaded(insn, 0));
                let store = self.core.cycles(&from(insn, 0));
                let gain = (need + self.core.cycles(insn)).checked_sub(need.max(load) + store);
                if gain > best.map_or(Some(0), |(gain, _)| gain) {
                    best = Some((gain, i));
                }
            }
            let stores = matches!(insn.ops.dest(), Dest::Indexed(..));
            if stores || self.written(insn).is_some_and(ends) {
                break;
            }
            moved |= insn.writes();
        }
        best.map(|(_, i)| i)
    }
}

/// Its source in register `r`.
fn loaded(insn: &Insn, r: u8) -> Insn {
    Insn::two(Op::MOV, insn.ops.source(), Dest::Register(r))
}

/// The same from register `r`.
fn from(insn: &Insn, r: u8) -> Insn {
    Insn::two(Op::MOV, Source::Register(r), insn.ops.dest())
}

/// The instructions with waits where the multiplier would be written, or its result read, too early; and where each of them
/// is then. Nothing else uses register `spare`.
pub fn settled(core: &Core, insns: &[Insn], spare: Option<u8>) -> (Vec<Insn>, Vec<usize>) {
    let mut waits = Waits {
        core,
        late: [0; 5],
        wide: false,
        out: Vec::with_capacity(insns.len()),
    };
    let mut insns = insns.to_vec();
    let mut places = Vec::with_capacity(insns.len());
    for at in 0..insns.len() {
        if let (Some(r), 1..) = (spare, waits.need(&insns[at]))
            && let Some(i) = waits.early(&insns[at..])
        {
            let insn = insns[at + i];
            waits.push(loaded(&insn, r));
            insns[at + i] = from(&insn, r);
        }
        while waits.need(&insns[at]) > 0 {
            waits.push(Insn::nop());
        }
        places.push(waits.out.len());
        waits.push(insns[at]);
    }
    (waits.out, places)
}
