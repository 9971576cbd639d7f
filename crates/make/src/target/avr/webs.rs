//! Webs: values that share one register without a gap, each overwriting the one before.

use crate::target::avr::code::{Code, Value, VirtualInsn};
use crate::target::avr::colour::Web;
use crate::target::avr::registers::Registers;
use crate::target::avr::residence::{Residence, tied};

/// The webs of a residence.
pub struct Webs {
    pub list: Vec<Web>,
    /// Webs that want to be a pair, the even register first.
    pub pairs: Vec<[usize; 2]>,
    /// The web each value is in from each of its events on; of one at which its register becomes
    /// free, the web it came in.
    pub at: Vec<Vec<usize>>,
    /// The value whose register the result of each step takes.
    pub tie: Vec<Option<Value>>,
}

impl Webs {
    /// All webs, and the registers that are not free yet.
    pub fn of(code: &Code, residence: &Residence, registers: &Registers) -> Self {
        let taken = registers.free.iter().filter(|(_, from)| *from > 0);
        let fixed = taken.map(|(r, from)| Web {
            from: 0,
            to: 2 * from,
            fixed: Some(*r),
        });
        let mut webs = Self {
            list: fixed.collect(),
            pairs: Vec::new(),
            at: vec![vec![]; code.operands.len()],
            tie: vec![None; code.steps.len()],
        };
        for (t, step) in code.steps.iter().enumerate() {
            webs.step(code, residence, t, step);
        }
        webs
    }

    fn step(&mut self, code: &Code, residence: &Residence, t: usize, step: &VirtualInsn) {
        let in_register = |v: &Value| code.product[v.0].is_none();
        for v in step.reads().filter(in_register) {
            let life = &residence.lives[v.0];
            let event = self.at[v.0].len();
            let came = event.checked_sub(1).filter(|e| life.stays(*e));
            let web = match came {
                Some(before) => self.at[v.0][before],
                None => self.open(2 * t),
            };
            self.at[v.0].push(web);
            self.list[web].to = 2 * t + 1 + usize::from(life.stays(event));
            if !life.stays(event) && self.tie[t].is_none() && tied(step).any(|tied| tied == v) {
                self.tie[t] = Some(v);
            }
        }
        let makes: Vec<Value> = step.makes().filter(in_register).collect();
        let mut made = Vec::new();
        for v in &makes {
            let tie = self.tie[t].and_then(|tie| self.at[tie.0].last().copied());
            let overwrites = matches!(step, VirtualInsn::Two { .. });
            let web = match tie {
                Some(web) => web,
                // A copy that is overwritten is made before the others leave.
                None => self.open(2 * t + usize::from(!overwrites)),
            };
            self.list[web].to = 2 * t + 2;
            self.at[v.0].push(web);
            made.push(web);
        }
        if let (VirtualInsn::Pair { .. } | VirtualInsn::Clears { .. }, [low, high]) =
            (step, &made[..])
        {
            self.pairs.push([*low, *high]);
        }
        if makes.is_empty() {
            self.tie[t] = None;
        }
    }

    fn open(&mut self, from: usize) -> usize {
        self.list.push(Web {
            from,
            to: from + 1,
            fixed: None,
        });
        self.list.len() - 1
    }
}
