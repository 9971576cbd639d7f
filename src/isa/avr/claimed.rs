//! What a product by halves says to the prover: of every product and absolute value what it is.
//!
//! The code is the same each time, so that a claim says at which visit of an instruction it holds.

use crate::program::{Area, Claim, Magnitude, Place, Term, Written};

/// What claims need to know of the code, by instructions.
pub struct Said {
    pub square: bool,
    /// Words of the product at the bottom.
    pub base: usize,
    /// The instruction that makes the mask of a difference, and its register; those after which the
    /// absolute value and a product are there.
    pub mask: (usize, u8),
    pub absolute: usize,
    pub exit: usize,
    /// Bytes of the record behind the words of a frame.
    pub record: i64,
}

/// The claims of a product of `base << levels` words, its first frame behind a record at `frame`.
pub fn of(said: Said, levels: usize, frame: i64) -> Vec<Claim> {
    let operand = |i: usize| (Area::Operand(i), 0);
    let second = if said.square { 1 } else { 2 };
    let mut claims = Claims {
        said,
        differences: 0,
        exits: 0,
        list: Vec::new(),
    };
    claims.product(levels, operand(0), [operand(1), operand(second)], frame);
    // The last one is what is to be proved.
    claims.list.pop();
    claims.list
}

/// Where a number begins.
type Start = (Area, i64);

fn beyond((area, offset): Start, words: usize) -> Start {
    (area, offset + words as i64)
}

/// Claims in the order in which the run makes them true.
struct Claims {
    said: Said,
    /// Differences and products so far.
    differences: usize,
    exits: usize,
    list: Vec<Claim>,
}

impl Claims {
    /// `r = x y` of `base << levels` words, made in a frame behind the record at `frame`.
    fn product(&mut self, levels: usize, r: Start, [x, y]: [Start; 2], frame: i64) {
        let n = self.said.base << levels;
        if levels > 0 {
            let h = n / 2;
            let m = frame + self.said.record;
            let below = m + 2 * h as i64;
            self.differences += 1;
            let second = if self.said.square { r } else { beyond(r, h) };
            if self.said.square {
                self.magnitude(r, x, h);
            }
            self.product(levels - 1, (Area::Stack, m), [r, second], below);
            self.product(levels - 1, r, [x, y], below);
            let high = [beyond(x, h), beyond(y, h)];
            self.product(levels - 1, beyond(r, n), high, below);
        }
        self.exits += 1;
        let words = |start: Start, count: usize| words(self.said.exit, self.exits, start, count);
        let product = Term::product(words(x, n), words(y, n));
        self.list
            .push(Claim::equation(words(r, 2 * n), vec![product]));
    }

    /// `r = |x_lo - x_hi|` of `h` words.
    fn magnitude(&mut self, r: Start, x: Start, h: usize) {
        let visit = self.differences;
        let (insn, register) = self.said.mask;
        let low = Term::number(words(insn, visit, x, h));
        let high = Term {
            sign: -1,
            ..Term::number(words(insn, visit, beyond(x, h), h))
        };
        self.list.push(Claim {
            words: words(self.said.absolute, visit, r, h),
            terms: vec![low, high],
            magnitude: Some(Magnitude {
                wrapped: words(insn, visit, r, h),
                mask: Written {
                    insn,
                    visit,
                    place: Place::Register(register),
                },
            }),
        });
    }
}

/// The words from `start` on, after `insn` was executed for the `visit`th time.
fn words(insn: usize, visit: usize, (area, offset): Start, count: usize) -> Vec<Written> {
    let word = |i: usize| Written {
        insn,
        visit,
        place: Place::Memory(area, offset + i as i64),
    };
    (0..count).map(word).collect()
}
