//! Where the arrays of two nested loops lie.

use std::collections::{BTreeMap, BTreeSet};

use crate::schedule::{Array, Scans, WordStep};

/// What an address is relative to: the register that a function is entered with.
pub type Base = u8;

/// Bytes of a word.
const WORD: i32 = 4;

/// Word `i` of an array lies `at + 4 i` bytes from the base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Home {
    pub base: Base,
    pub at: i32,
}

impl Home {
    /// The place that `base` points to.
    pub fn of(base: Base) -> Self {
        Self { base, at: 0 }
    }

    /// Where word `index` lies.
    pub fn place(self, index: usize) -> i32 {
        self.at + WORD * index as i32
    }
}

/// The arrays that loops read.
fn read(scans: &Scans) -> impl Iterator<Item = Array> {
    let arrays = scans.strands.iter().flat_map(|s| [s.x, s.y]);
    // The quotient word of a row stays in a register.
    let arrays = arrays.filter(|array| !(scans.rows && *array == Array::Quotients));
    // Chains alone go through all there are.
    let alone = match scans.strands.is_empty() {
        true => 0..scans.words.lengths.len(),
        false => 0..0,
    };
    arrays.chain(alone.map(Array::Operand))
}

/// The places of all arrays: operands are where they are, but for those in `copied`, which lie side by side with
/// what is computed from `frame` on. The words of the frame.
pub fn settle(
    scans: &Scans,
    copied: &BTreeSet<Array>,
    result: Home,
    frame: Home,
    operand: impl Fn(usize) -> Base,
) -> (BTreeMap<Array, Home>, usize) {
    let n = scans.n;
    let modulus = scans.modulus();
    let fixed = modulus == Some(Array::Numbers);
    let mut homes: BTreeMap<Array, Home> = BTreeMap::new();
    let mut words = 0;
    for array in read(scans)
        .chain(copied.iter().copied())
        .collect::<BTreeSet<_>>()
    {
        let home = match array {
            Array::Operand(side) if !copied.contains(&array) => Home::of(operand(side)),
            Array::Square if fixed || !copied.contains(&array) => {
                let modulus = modulus.and_then(|m| homes.get(&m)).copied();
                let modulus = modulus.unwrap_or(result);
                Home {
                    at: modulus.place(n + 1),
                    ..modulus
                }
            }
            _ => {
                let at = frame.place(words);
                words += match array {
                    Array::Numbers => scans.words.stored().count(),
                    _ => n,
                };
                Home { at, ..frame }
            }
        };
        homes.insert(array, home);
    }
    let mut columns = result;
    for (at, step) in scans.words.steps.iter().enumerate() {
        if let WordStep::Chain(_) = step {
            homes.insert(Array::Chain(at), result);
            // Where the quotient words were: those below the column are no longer needed.
            columns = homes.get(&Array::Quotients).copied().unwrap_or(result);
        }
    }
    if scans.quotient.is_some() {
        columns.at -= WORD * n as i32;
    }
    if !scans.rows || scans.quotient.is_none() {
        homes.insert(Array::Columns, columns);
    }
    (homes, words)
}
