//! When the bytes of a product leave r1:r0: just before the next MUL, if they are used after it.
//!
//! Both go in one MOVW where the registers are a pair. Until then instructions read them where
//! they are, and what overwrites one of its values overwrites the other one, if it can choose.

use crate::target::avr::code::{Code, Value, VirtualInsn};

/// Puts the copies into `code`, and names them in what reads them.
pub(super) fn leave(code: &mut Code) {
    let steps = std::mem::take(&mut code.steps);
    let notes = std::mem::take(&mut code.notes);
    let mut last = vec![0; code.operands.len()];
    for (i, step) in steps.iter().enumerate() {
        step.reads().for_each(|value| last[value.0] = i);
    }
    let mut next_mul = vec![usize::MAX; steps.len() + 1];
    for (i, step) in steps.iter().enumerate().rev() {
        let is_mul = matches!(step, VirtualInsn::Mul { .. });
        next_mul[i] = if is_mul { i } else { next_mul[i + 1] };
    }
    let mut leaving = Leaving {
        names: (0..last.len()).map(Value).collect(),
        last,
        held: [None; 2],
        code,
    };
    let mut notes = notes.into_iter().peekable();
    for (i, step) in steps.into_iter().enumerate() {
        while let Some((_, text)) = notes.next_if(|(at, _)| *at <= i) {
            leaving.code.notes.push((leaving.code.steps.len(), text));
        }
        leaving.step(i, step, next_mul[i]);
    }
}

struct Leaving<'a> {
    code: &'a mut Code,
    /// Where each value is found now: itself, or its copy.
    names: Vec<Value>,
    /// The last step that reads each value.
    last: Vec<usize>,
    /// The values in r0 and r1.
    held: [Option<Value>; 2],
}

impl Leaving<'_> {
    fn step(&mut self, i: usize, mut step: VirtualInsn, next_mul: usize) {
        let commutes = step.commutes();
        match &mut step {
            VirtualInsn::Mul { low, high, .. } => {
                self.vacate(i);
                self.held = [Some(*low), Some(*high)];
                self.code.product[low.0] = Some(0);
                self.code.product[high.0] = Some(1);
            }
            VirtualInsn::Two { out, x, y, .. } => {
                if let (Some(second), Some(_), true) = (*y, self.at(*x), commutes)
                    && self.at(second).is_none()
                {
                    (*x, *y) = (second, Some(*x));
                }
                if let Some(r) = self.at(*x) {
                    if self.last[x.0] > i || self.last[out.0] > next_mul {
                        self.copy(*x);
                    } else {
                        self.held[r] = Some(*out);
                        self.code.product[out.0] = Some(r as u8);
                    }
                }
            }
            _ => {}
        }
        let named = step.map_reads(|value| self.names[value.0]);
        self.code.steps.push(named);
    }

    /// Is the value in r0 or r1?
    fn at(&self, value: Value) -> Option<usize> {
        self.held.iter().position(|held| *held == Some(value))
    }

    fn copy(&mut self, value: Value) {
        let out = self.renamed(value);
        self.code.steps.push(VirtualInsn::Move { x: value, out });
    }

    fn renamed(&mut self, value: Value) -> Value {
        let out = self.code.fresh();
        self.names[value.0] = out;
        self.held
            .iter_mut()
            .filter(|h| **h == Some(value))
            .for_each(|h| *h = None);
        out
    }

    /// Copies what is read after the MUL of step `i`.
    fn vacate(&mut self, i: usize) {
        let live = |v: &Value| self.last[v.0] > i;
        let [low, high] = self.held.map(|v| v.filter(live));
        if let (Some(low), Some(high)) = (low, high) {
            let out = [low, high].map(|v| self.renamed(v));
            self.code.steps.push(VirtualInsn::Pair {
                from: [low, high],
                out,
            });
        } else {
            for value in [low, high].into_iter().flatten() {
                self.copy(value);
            }
        }
    }
}
