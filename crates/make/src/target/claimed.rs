//! Claims of a product by halves: an equation for each product and each absolute value.
//!
//! The code is the same each time, so that a claim says at which visit of an instruction it holds.

use machine::program::{Area, Claim, Magnitude, Place, Term, Written};

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
    /// Bytes of a word.
    pub word: i64,
    /// Where the frame of each level has its middle product, from where the stack pointer is at entry; the lowest
    /// level first.
    pub middles: Vec<i64>,
}

/// The claims of a product of `base << levels` words.
pub fn of(said: Said) -> Vec<Claim> {
    let levels = said.middles.len();
    let operand = |i: usize| (Area::Operand(i), 0);
    let second = if said.square { 1 } else { 2 };
    let mut claims = Claims {
        said,
        differences: 0,
        exits: 0,
        list: Vec::new(),
    };
    claims.product(levels, operand(0), [operand(1), operand(second)]);
    // The last one is what is to be proved.
    claims.list.pop();
    claims.list
}

/// Where a number begins.
type Start = (Area, i64);

/// After an instruction was executed for the `visit`th time.
#[derive(Clone, Copy)]
struct Moment {
    insn: usize,
    visit: usize,
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
    fn beyond(&self, (area, offset): Start, words: usize) -> Start {
        (area, offset + self.said.word * words as i64)
    }

    /// `r = x y` of `base << levels` words.
    fn product(&mut self, levels: usize, r: Start, [x, y]: [Start; 2]) {
        let n = self.said.base << levels;
        if let Some(below) = levels.checked_sub(1) {
            let h = n / 2;
            let m = (Area::Stack, self.said.middles[below]);
            self.differences += 1;
            let second = if self.said.square {
                r
            } else {
                self.beyond(r, h)
            };
            if self.said.square {
                self.magnitude(r, x, h);
            }
            self.product(below, m, [r, second]);
            self.product(below, r, [x, y]);
            let high = [self.beyond(x, h), self.beyond(y, h)];
            self.product(below, self.beyond(r, n), high);
        }
        self.exits += 1;
        let exit = Moment {
            insn: self.said.exit,
            visit: self.exits,
        };
        let words = |start: Start, count: usize| self.words(exit, start, count);
        let product = Term::product(words(x, n), words(y, n));
        self.list
            .push(Claim::equation(words(r, 2 * n), vec![product]));
    }

    /// `r = |x_lo - x_hi|` of `h` words.
    fn magnitude(&mut self, r: Start, x: Start, h: usize) {
        let visit = self.differences;
        let (insn, register) = self.said.mask;
        let words = |start: Start| self.words(Moment { insn, visit }, start, h);
        let low = Term::number(words(x));
        let high = Term {
            sign: -1,
            ..Term::number(words(self.beyond(x, h)))
        };
        let absolute = Moment {
            insn: self.said.absolute,
            visit,
        };
        self.list.push(Claim {
            words: self.words(absolute, r, h),
            lead: 0,
            terms: vec![low, high],
            magnitude: Some(Magnitude {
                wrapped: words(r),
                mask: Written {
                    insn,
                    visit,
                    place: Place::Register(register),
                },
            }),
        });
    }

    /// The words from `start` on, at that moment.
    fn words(&self, after: Moment, start: Start, count: usize) -> Vec<Written> {
        let Moment { insn, visit } = after;
        let word = |i: usize| {
            let (area, offset) = self.beyond(start, i);
            Written {
                insn,
                visit,
                place: Place::Memory(area, offset),
            }
        };
        (0..count).map(word).collect()
    }
}
