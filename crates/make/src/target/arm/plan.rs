//! How each product reaches the accumulator: decided by bounds before any register is chosen.
//!
//! The accumulator `a0, a1, a2` of a column starts with what the column before left, a word
//! and a count of carries. A product that cannot make it reach `2^64` is added by UMLAL;
//! others take UMULL, ADDS, ADCS and, where the bound reaches `2^64`, a carry into `a2`.
//! That third word costs no clearing: `SBC a2, a2, a2` makes it `carry - 1`, and the next
//! carry is added by `ADC a2, a2, #1`.

use crate::schedule::ColumnBlock;

/// The largest product of two words.
const PRODUCT: u128 = 0xffff_ffff * 0xffff_ffff;
const WORD: u128 = 0xffff_ffff;

/// What happens to the carry out of an addition to `a0` (and `a1`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carry {
    /// There is none.
    None,
    /// It makes a new top word.
    New,
    /// It makes a new top word that is 1 too small.
    NewLessOne,
    /// It is added to the top word.
    Add,
    /// It is added to a top word that is 1 too small.
    AddPlusOne,
}

/// How a product is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// It is the accumulator.
    First,
    /// UMLAL into `a0` and a new, zero `a1`.
    Extend,
    /// UMLAL into `a0`, `a1`.
    Accumulate,
    /// UMULL and a chain of additions.
    Chain(Carry),
}

/// How an intermediate word is added at the bottom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reload {
    /// It is the accumulator.
    First,
    /// Added to `a0`; the carry.
    Chain(Carry),
}

/// One product, and the intermediate word added before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlannedProduct {
    pub reload: Option<Reload>,
    pub way: Way,
    /// Registers of the accumulator and of the product while it is added.
    pub registers: usize,
}

/// A column: its products, and how a reload comes after them, if it does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ColumnPlan {
    pub steps: Vec<PlannedProduct>,
    /// A reload that no product follows.
    pub late_reload: Option<Reload>,
}

fn words(bound: u128) -> usize {
    (128 - bound.leading_zeros() as usize).div_ceil(32)
}

/// The accumulator as far as bounds see it.
struct Accumulator {
    bound: u128,
    length: usize,
    less_one: bool,
}

impl Accumulator {
    /// Adds at most `by`; the carry that leaves the words `0 .. low`.
    fn raise(&mut self, by: u128, cap: u128, low: usize, carries_follow: bool) -> Carry {
        self.bound = (self.bound + by).min(cap);
        let carry = match (words(self.bound) > low, self.length > low) {
            (false, _) => Carry::None,
            (true, false) if carries_follow => Carry::NewLessOne,
            (true, false) => Carry::New,
            (true, true) if self.less_one => Carry::AddPlusOne,
            (true, true) => Carry::Add,
        };
        self.less_one = carry == Carry::NewLessOne;
        let top = usize::from(matches!(carry, Carry::New | Carry::NewLessOne));
        self.length = self.length.max(low) + top;
        carry
    }

    fn reload(&mut self, cap: u128) -> Reload {
        if self.length == 0 {
            (self.bound, self.length) = (WORD.min(cap), 1);
            return Reload::First;
        }
        Reload::Chain(self.raise(WORD, cap, 1, false))
    }

    fn product(&mut self, cap: u128, carries_follow: bool) -> (Way, usize) {
        let fits = (self.bound + PRODUCT).min(cap) >> 64 == 0;
        match self.length {
            0 => {
                (self.bound, self.length) = (PRODUCT.min(cap), 2);
                (Way::First, 2)
            }
            1 | 2 if fits => {
                let way = [Way::Extend, Way::Accumulate][self.length - 1];
                self.raise(PRODUCT, cap, 2, false);
                (way, 2)
            }
            _ => {
                let carry = self.raise(PRODUCT, cap, 2, carries_follow);
                (Way::Chain(carry), self.length + 2)
            }
        }
    }
}

/// The plan of every column of `block`.
pub fn block(block: &ColumnBlock) -> Vec<ColumnPlan> {
    let count = block.columns.len();
    let mut acc = Accumulator {
        bound: 0,
        length: 0,
        less_one: false,
    };
    let mut plans = Vec::with_capacity(count);
    for (i, column) in block.columns.iter().enumerate() {
        // What is left of the block fits the columns that are left.
        let left = count - i;
        let cap = if left < 4 {
            (1u128 << (32 * left)) - 1
        } else {
            u128::MAX >> 1
        };
        let mut plan = ColumnPlan::default();
        let mut pending = column.reload;
        let products = column.products.len();
        for j in 0..products {
            // With one word so far, a product first saves clearing a second word.
            let wait = j == 0 && acc.length == 1;
            let reload = (pending && !wait).then(|| acc.reload(cap));
            pending &= wait;
            let before = acc.length;
            let (way, registers) = acc.product(cap, j + 1 < products);
            plan.steps.push(PlannedProduct {
                reload,
                way,
                registers: registers.max(before),
            });
        }
        if pending {
            plan.late_reload = Some(acc.reload(cap));
        }
        acc.bound >>= 32;
        acc.length = acc.length.saturating_sub(1);
        plans.push(plan);
    }
    plans
}
