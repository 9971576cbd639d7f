//! Random programs over words and bits, without a machine: whatever a domain can be asked, in words of 8 and of
//! 32 bits.

use lozenge::domain::algebra::{Algebra, BitValue, Value};
use lozenge::domain::concrete::{Bits, Concrete};
use lozenge::domain::{Abstract, Domain, Logic, Shift, Signs};
use lozenge::isa::Stopped;
use lozenge::vectors::Random;

use crate::algebra_truth::machines::{Model, REGISTERS, State};
use crate::algebra_truth::programs::run;

/// Bits that programs keep.
const FLAGS: usize = 3;
/// Steps of a block.
const STEPS: usize = 3;

/// What is done, with which words, with which bits, and a number.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    op: u8,
    words: [u8; 3],
    bits: [u8; 2],
    k: u8,
}

/// How many different things steps do.
const OPS: usize = 32;

fn block(random: &mut Random) -> Vec<Step> {
    let step = |random: &mut Random| Step {
        op: random.below(OPS) as u8,
        words: [0; 3].map(|_| random.below(REGISTERS) as u8),
        bits: [0; 2].map(|_| random.below(FLAGS) as u8),
        k: random.below(256) as u8,
    };
    (0..STEPS).map(|_| step(random)).collect()
}

fn plain<D: Domain, const W: u32>(
    d: &mut D,
    up: bool,
    a: &D::Word<W>,
    b: &D::Word<W>,
) -> D::Word<W> {
    let off = d.flag(false);
    match up {
        true => d.add::<W>(a, b, &off).word,
        false => d.sub::<W>(a, b, &off).word,
    }
}

/// `a < b` as a word.
fn less<D: Domain, const W: u32>(d: &mut D, a: &D::Word<W>, b: &D::Word<W>) -> D::Word<W> {
    let (zero, off) = (d.known::<W>(0), d.flag(false));
    let bit = d.sub::<W>(a, b, &off).carry;
    d.with_bit::<W>(&zero, 0, &bit)
}

/// Words and bits over a domain.
pub struct Bare<D: Domain, const W: u32> {
    d: D,
    words: Vec<D::Word<W>>,
    bits: Vec<D::Bit>,
}

impl<D: Domain, const W: u32> Bare<D, W> {
    fn take(&mut self, step: Step) {
        let d = &mut self.d;
        let [i, j, k] = step.words.map(usize::from);
        let [p, q] = step.bits.map(usize::from);
        let [a, b, c] = [i, j, k].map(|i| self.words[i].clone());
        let [x, y] = [p, q].map(|i| self.bits[i].clone());
        let zero = d.known::<W>(0);
        let logic = [Logic::And, Logic::Or, Logic::Xor][usize::from(step.k) % 3];
        let near = [1, W - 1, W / 2, 1 + u32::from(step.k) % (W - 1)][usize::from(step.k) % 4];
        self.words[k] = match step.op {
            0 => plain(d, true, &a, &b),
            1 => plain(d, false, &a, &b),
            2 | 3 => less(d, &a, &b),
            4 | 5 => d.logic::<W>(logic, &a, &b),
            6 => d.shift::<W>(Shift::Left, &a, near).0,
            7 => d.shift::<W>(Shift::Right, &a, near).0,
            8 => d.shift::<W>(Shift::ArithmeticRight, &a, near).0,
            9 => d.shift::<W>(Shift::RotateRight, &a, near).0,
            10 | 11 => plain(d, false, &zero, &a),
            12 => {
                let signs = [Signs::Unsigned, Signs::Unsigned, Signs::Signed];
                let (lo, hi) = d.mul::<W>(&a, &b, signs[usize::from(step.k) % 3]);
                self.words[i] = lo;
                hi
            }
            // The carry of a + b + c, the borrow of a - b - c in two ways.
            13..16 => {
                let s = plain(d, step.op == 13, &a, &b);
                let t = plain(d, step.op == 13, &s, &c);
                let (first, second) = match step.op {
                    13 => (less(d, &s, &b), less(d, &t, &c)),
                    _ => (less(d, &a, &b), less(d, &s, &c)),
                };
                self.words[j] = t;
                match step.op {
                    15 => d.logic::<W>(Logic::Or, &first, &second),
                    _ => plain(d, true, &first, &second),
                }
            }
            16 => {
                let t = plain(d, true, &b, &c);
                let first = less(d, &t, &c);
                let second = less(d, &a, &t);
                self.words[j] = plain(d, false, &a, &t);
                plain(d, true, &first, &second)
            }
            // With a carry that comes in and one that goes out.
            17..21 => {
                let sum = match step.op % 2 {
                    0 => d.add::<W>(&a, &b, &x),
                    _ => d.sub::<W>(&a, &b, &x),
                };
                self.bits[q] = sum.carry;
                sum.word
            }
            21 => {
                let (word, out) = d.shift_right::<W>(&a, &x);
                self.bits[q] = out;
                word
            }
            22 | 23 => d.select::<W>(&x, &a, &b),
            // A sum where a bit is set.
            24 => {
                let sum = d.add::<W>(&a, &b, &y);
                self.bits[q] = d.select_bit(&x, &sum.carry, &y);
                d.select::<W>(&x, &sum.word, &a)
            }
            25 => {
                self.bits[q] = d.is_zero::<W>(&a);
                c
            }
            26 => {
                self.bits[q] = d.bit::<W>(&a, W - near);
                c
            }
            27 => d.with_bit::<W>(&a, near - 1, &x),
            28 => {
                self.bits[q] = match step.k % 4 {
                    0 => d.not(&x),
                    _ => d.gate(logic, &x, &y),
                };
                c
            }
            29 => {
                self.bits[q] = d.flag(step.k % 2 == 1);
                c
            }
            30 => d.known::<W>(
                [0, 1, 2, u64::MAX, u64::MAX - 1, 1 << (W - 1)][usize::from(step.k) % 6],
            ),
            // A bit as a word, as a mask, as its complement.
            _ => {
                let bit = d.with_bit::<W>(&zero, 0, &x);
                match step.k % 3 {
                    0 => bit,
                    1 => plain(d, false, &zero, &bit),
                    _ => {
                        let one = d.known::<W>(1);
                        plain(d, false, &bit, &one)
                    }
                }
            }
        };
    }

    fn run(&mut self, code: &[u8]) {
        for bytes in code.chunks_exact(7) {
            self.take(Step {
                op: bytes[0],
                words: [bytes[1], bytes[2], bytes[3]],
                bits: [bytes[4], bytes[5]],
                k: bytes[6],
            });
        }
    }
}

pub struct OnWords<const W: u32>;

impl<const W: u32> Model for OnWords<W> {
    const NAME: &'static str = "words";
    const W: u32 = W;
    const FLAGS: usize = FLAGS;
    const MEMORY: usize = 0;
    type Insn = Step;
    type Symbolic = Bare<Algebra, W>;
    type Numeric = Bare<Concrete, W>;

    fn symbolic() -> Self::Symbolic {
        let mut d = Algebra::default();
        let words = (0..REGISTERS)
            .map(|i| d.unknown::<W>(format!("x{i}")))
            .collect();
        let bits = (0..FLAGS).map(|i| d.unknown_bit(format!("b{i}"))).collect();
        Bare { d, words, bits }
    }

    fn numeric(inputs: &[u64]) -> Self::Numeric {
        let (words, bits) = inputs.split_at(REGISTERS);
        Bare {
            d: Concrete::new(0),
            words: words.iter().map(|w| Bits(*w)).collect(),
            bits: bits.iter().map(|b| *b == 1).collect(),
        }
    }

    fn domain(m: &mut Self::Symbolic) -> &mut Algebra {
        &mut m.d
    }

    fn encode(block: &[Step]) -> Vec<u8> {
        let bytes = block.iter().flat_map(|s| {
            let [i, j, k] = s.words;
            let [p, q] = s.bits;
            [s.op, i, j, k, p, q, s.k]
        });
        bytes.collect()
    }

    fn text(step: &Step) -> String {
        format!("{step:?}")
    }

    fn step(m: &mut Self::Symbolic, code: &[u8]) -> Result<(), Stopped> {
        m.run(code);
        Ok(())
    }

    fn step_on_numbers(m: &mut Self::Numeric, code: &[u8]) -> Result<(), Stopped> {
        m.run(code);
        Ok(())
    }

    fn said(m: &Self::Symbolic) -> State<Value, BitValue> {
        State {
            words: m.words.clone(),
            bits: m.bits.clone(),
        }
    }

    fn is(m: &Self::Numeric) -> State<u64, bool> {
        State {
            words: m.words.iter().map(|w| w.0).collect(),
            bits: m.bits.clone(),
        }
    }
}

#[test]
fn words_of_8_bits_are_what_they_are_said_to_be() {
    run::<OnWords<8>>(block, Vec::new());
}

#[test]
fn words_of_32_bits_are_what_they_are_said_to_be() {
    run::<OnWords<32>>(block, Vec::new());
}
