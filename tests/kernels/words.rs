//! Schedules in words on every machine: each computes what it should, and so does what it is
//! lowered to.

use lozenge::call::Operands;
use lozenge::function::Function;
use lozenge::isa::arm::ArmIsa;
use lozenge::isa::arm::cores::ARM7TDMI_HW2018;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::isa::mips::instructions::Feature;
use lozenge::lower::{Lower, LowerError};
use lozenge::make::engine::frames::frame;
use lozenge::method::{self, Params};
use lozenge::plans::tree::{Differences, Node, Tree};
use lozenge::prove;
use lozenge::schedule::{Chain, End, Link, Pile, Schedule, Sum, Sweep, Word, WordStep, Words};
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors::{self, Random};
use num_bigint::BigUint;

use crate::kit::{any, ask, tier};

/// The schedule of a method for `n` words; `None` if the parameters do not suit the machine.
fn schedule<I: Lower>(name: &str, params: &Params, n: usize, core: &I::Core) -> Option<Schedule> {
    let spec = spec::<I>(n);
    let method = method::find(name).unwrap();
    (method.schedule)(&spec, &I::facts(core), params).ok()
}

fn spec<I: Lower>(n: usize) -> Spec {
    Spec::new(Op::Mul, I::WORD_BITS * n as u32, I::WORD_BITS).unwrap()
}

/// What a schedule is lowered to: the cycles of the cheapest function, and is it proved?
fn lowered<I: Lower>(what: &str, n: usize, core: &I::Core, schedule: &Schedule) -> (u64, bool) {
    schedule.check().unwrap_or_else(|e| panic!("{what}: {e}"));
    let spec = spec::<I>(n);
    let programs = I::lower(schedule, core).unwrap_or_else(|e| panic!("{what}: {e}"));
    let made = programs.iter().map(|program| {
        let code = I::encode(core, &program.insns).unwrap();
        let decoded = I::decode(core, &code).unwrap();
        assert!(decoded.iter().map(|(_, i)| i).eq(&program.insns), "{what}");
        let trials = if n > 40 { 8 } else { 40 };
        let pairs = vectors::pairs(spec.source_bytes()[0], trials, n as u64);
        let call = I::calls(core, Function::kernel(&code));
        let costs = pairs.iter().map(|pair| {
            let operands = Operands::of(&spec, pair, Alias::Distinct);
            let ran = call(&operands, 1 << 26);
            let (got, cost) = ran.unwrap_or_else(|(at, fault)| panic!("{what}: {at:#x}: {fault}"));
            assert_eq!(got, spec.value(pair), "{what}: {pair:x?}");
            cost.body.max
        });
        (costs.max().unwrap(), code, program.claims.clone())
    });
    let (cycles, code, claims) = made.min_by_key(|(cycles, ..)| *cycles).unwrap();
    let aliases = [Alias::Distinct, Alias::AIsB];
    let proved = aliases[..if n > 40 { 1 } else { 2 }].iter().map(|alias| {
        let proof = prove::prove_with(&spec, &any(core), &code, &claims, *alias);
        let kept = proof.memory.is_proved() && proof.abi.is_proved();
        assert!(kept, "{what}: {proof:?}");
        proof.correct.is_proved()
    });
    (cycles, proved.fold(true, |all, one| all & one))
}

/// Karatsuba of `n` words, every number of levels to `most`, the middle product last and first.
fn karatsuba<I: Lower>(sizes: impl Iterator<Item = usize>, most: usize, core: &I::Core) {
    for n in tier::some(sizes, 8) {
        for levels in 1..=(n.ilog2() as usize).min(most) {
            for (differences, first) in [
                (Differences::BeforeHigh, 0),
                (Differences::AfterHigh, levels.div_ceil(2)),
            ] {
                let node = Node {
                    differences,
                    ..Node::default()
                };
                let tree = Tree {
                    last: levels - first,
                    nodes: [node; 4],
                    ..Tree::default()
                };
                let params = ask::planned(Params::from([("levels", levels)]), tree);
                let what = format!("{}: {n} words, {params:?}", I::core_name(core));
                let schedule = schedule::<I>("karatsuba", &params, n, core).unwrap();
                let (cycles, proved) = lowered::<I>(&what, n, core, &schedule);
                println!("{what}: {cycles}, proved: {proved}");
            }
        }
    }
}

/// Blocks, in words and as they are: the words must be proved, and not much dearer.
fn blocks<I: Lower>(sizes: impl Iterator<Item = usize>, core: &I::Core) {
    for n in tier::some(sizes, 9) {
        for (name, params) in [
            ("product-scanning", Params::new()),
            ("operand-caching", Params::from([("e", 3)])),
            ("operand-scanning", Params::from([("k", 1)])),
        ] {
            let Some(schedule) = schedule::<I>(name, &params, n, core) else {
                continue;
            };
            let Schedule::Blocks(blocks) = &schedule else {
                panic!("{name}: no blocks");
            };
            let words = Schedule::Words(Words::of(Op::Mul, I::WORD_BITS, blocks));
            let what = format!("{}: {n} words, {name}", I::core_name(core));
            let (in_words, proved) = lowered::<I>(&what, n, core, &words);
            let (in_blocks, as_blocks) = lowered::<I>(&what, n, core, &schedule);
            assert!(as_blocks, "{what}: not proved");
            println!("{what}: {in_words} in words, {in_blocks} in blocks, proved: {proved}");
        }
    }
}

fn mips(features: &[Feature]) -> MipsCore {
    let core = MipsCore::named("mips-4km-32x16").unwrap();
    features.iter().fold(core, |core, f| core.with(*f))
}

#[test]
fn karatsuba_is_right_on_avr() {
    karatsuba::<AvrIsa>((2..=13).chain([16, 20, 24, 31, 32]), 3, &ATMEGA128);
}

/// Words of large products: the largest at night.
fn large() -> impl Iterator<Item = usize> {
    tier::of([&[64][..], &[64], &[64, 128]]).iter().copied()
}

#[test]
fn karatsuba_is_right_on_arm() {
    karatsuba::<ArmIsa>((2..=13).chain([16, 21, 32]), 4, &ARM7TDMI_HW2018);
    karatsuba::<ArmIsa>(large(), 3, &ARM7TDMI_HW2018);
}

#[test]
fn karatsuba_is_right_on_mips() {
    for features in [&[][..], &[Feature::WideAcc]] {
        karatsuba::<MipsIsa>((2..=9).chain([11, 16, 21, 32]), 4, &mips(features));
    }
    karatsuba::<MipsIsa>(large(), 3, &mips(&[]).big_endian());
}

#[test]
fn blocks_in_words_are_right_on_arm() {
    blocks::<ArmIsa>((1..=9).chain([12, 16, 32]), &ARM7TDMI_HW2018);
}

#[test]
fn blocks_in_words_are_right_on_mips() {
    for features in [&[][..], &[Feature::WideAcc], &[Feature::MaddHl]] {
        blocks::<MipsIsa>((1..=9).chain([12, 16, 32]), &mips(features));
    }
}

/// Steps of every kind on whatever values there are, computing nothing in particular.
struct Muddle {
    random: Random,
    words: Words,
    /// Values made so far, and those that are zeros or ones.
    made: Vec<Word>,
    masks: Vec<Word>,
}

impl Muddle {
    fn new(seed: u64, word_bits: u32, n: usize, steps: usize) -> Self {
        let words = Words::new(Op::Mul, word_bits, &[n, n]);
        let made = [words.operand(0), words.operand(1)].concat();
        let random = Random::new(seed);
        let masks = Vec::new();
        let mut muddle = Self {
            random,
            words,
            made,
            masks,
        };
        for _ in 0..steps {
            let step = muddle.step();
            muddle.words.push(step);
        }
        // Mostly the last values, sometimes any: an operand, the same one twice.
        let recent = muddle.made.iter().rev().take(2 * n).copied().collect();
        muddle.words.result = recent;
        for k in 0..2 * n {
            if muddle.random.below(8) == 0 {
                muddle.words.result[k] = muddle.any();
            }
        }
        muddle
    }

    fn any(&mut self) -> Word {
        self.made[self.random.below(self.made.len())]
    }

    fn mask(&mut self) -> Option<Word> {
        match self.masks[..] {
            [] => None,
            _ if self.random.below(3) > 0 => None,
            _ => Some(self.masks[self.random.below(self.masks.len())]),
        }
    }

    fn some(&mut self) -> Option<Word> {
        (self.random.below(6) > 0).then(|| self.any())
    }

    fn out(&mut self) -> Word {
        let word = self.words.fresh();
        self.made.push(word);
        word
    }

    fn pairs(&mut self, below: usize) -> Vec<(Word, Word)> {
        (0..self.random.below(below))
            .map(|_| (self.any(), self.any()))
            .collect()
    }

    fn step(&mut self) -> WordStep {
        match self.random.below(8) {
            0..=2 => {
                let piles = (0..1 + self.random.below(6)).map(|_| {
                    let doubled = match self.random.below(3) {
                        0 => self.pairs(8),
                        _ => vec![],
                    };
                    let addends = (0..self.random.below(3)).map(|_| self.any()).collect();
                    let products = self.pairs(5);
                    // Later piles may use what earlier ones made.
                    let out = (self.random.below(8) > 0).then(|| self.out());
                    Pile {
                        quotient: None,
                        products,
                        doubled,
                        addends,
                        out,
                    }
                });
                WordStep::Sweep(Sweep {
                    piles: piles.collect(),
                })
            }
            3..=5 => self.chain(),
            6 => {
                let (x, y) = (self.any(), self.any());
                match self.random.below(3) {
                    0 => WordStep::Wide {
                        x,
                        y,
                        low: self.out(),
                        high: self.out(),
                    },
                    1 => WordStep::And {
                        x,
                        y,
                        out: self.out(),
                    },
                    _ => WordStep::Xor {
                        x,
                        y,
                        out: self.out(),
                    },
                }
            }
            7 => {
                let x = self.any();
                let above = [None, Some(self.any())][self.random.below(2)];
                let out = self.out();
                WordStep::Right { x, above, out }
            }
            _ => {
                let (x, out) = (self.any(), self.out());
                self.masks.push(out);
                match self.random.below(2) {
                    0 => WordStep::Sign { x, out },
                    _ => WordStep::Odd { x, out },
                }
            }
        }
    }

    fn chain(&mut self) -> WordStep {
        let sum = [Sum::Add, Sum::Sub][self.random.below(2)];
        let carry = self.mask();
        let links = (0..1 + self.random.below(5)).map(|_| Link {
            x: self.some(),
            flip: self.mask(),
            y: self.some(),
            mask: self.mask(),
            out: self.out(),
        });
        let links = links.collect();
        let end = match self.random.below(4) {
            0 => End::Drop,
            1 => End::Carry { out: self.out() },
            2 => End::Mask { out: self.out() },
            _ => End::Into {
                x: self.any(),
                out: self.out(),
            },
        };
        if let End::Mask { out } = end {
            self.masks.push(out);
        }
        WordStep::Chain(Chain {
            sum,
            carry,
            links,
            end,
        })
    }
}

/// Little-endian words as a number.
fn number(words: impl Iterator<Item = u64>, bits: u32) -> BigUint {
    let words: Vec<u64> = words.collect();
    words
        .iter()
        .rev()
        .fold(BigUint::from(0u8), |x, w| (x << bits) + w)
}

/// Muddles of many lengths give on the machine what they are evaluated to.
///
/// Returns how many were refused, as no pointer could move while a carry was on its way, or for want of registers.
fn muddles<I: Lower>(count: usize, core: &I::Core) -> usize {
    let w = I::WORD_BITS;
    let mut refused = 0;
    let first = tier::seed() << 32;
    for seed in first..first + tier::times(count) as u64 {
        let mut random = Random::new(!seed);
        let (n, steps) = (1 + random.below(9), 1 + random.below(30));
        let words = Muddle::new(seed, w, n, steps).words;
        let what = format!("{}: seed {seed}", I::core_name(core));
        let spec = spec::<I>(n);
        let schedule = Schedule::Words(words.clone());
        let programs = match I::lower(&schedule, core) {
            Ok(programs) => programs,
            Err(LowerError::Addressing | LowerError::Registers) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{what}: {error}"),
        };
        for program in programs {
            let code = I::encode(core, &program.insns).unwrap();
            let call = I::calls(core, Function::kernel(&code));
            for pair in vectors::pairs(spec.source_bytes()[0], 12, seed) {
                let operands = Operands::of(&spec, &pair, Alias::Distinct);
                let cut = |x: &BigUint| -> Vec<u64> {
                    let word = |i: usize| (x >> (i * w as usize)) % (1u64 << w);
                    (0..n)
                        .map(|i| word(i).iter_u64_digits().next().unwrap_or(0))
                        .collect()
                };
                let values = words.evaluate(&[cut(&pair[0]), cut(&pair[1])]);
                let want = number(words.result.iter().map(|word| values[word.0]), w);
                let ran = call(&operands, 1 << 20);
                let (got, _) = ran.unwrap_or_else(|(at, fault)| panic!("{what}: {at:#x}: {fault}"));
                assert_eq!(got, want, "{what}: {pair:x?}");
            }
        }
    }
    refused
}

#[test]
fn steps_of_every_kind_are_right_on_avr() {
    let refused = muddles::<AvrIsa>(500, &ATMEGA128);
    let most = tier::times(10);
    assert!(refused <= most, "{refused} are refused");
}

#[test]
fn steps_of_every_kind_are_right_on_arm() {
    assert_eq!(muddles::<ArmIsa>(800, &ARM7TDMI_HW2018), 0);
}

#[test]
fn steps_of_every_kind_are_right_on_mips() {
    assert_eq!(muddles::<MipsIsa>(500, &mips(&[])), 0);
    assert_eq!(
        muddles::<MipsIsa>(500, &mips(&[Feature::WideAcc]).big_endian()),
        0
    );
}

#[test]
fn a_stack_too_deep_is_refused() {
    let arm = lozenge::make::target::arm::frame::frame(&[], 1025).map(|_| ());
    let core = mips(&[]);
    let mips = frame::<MipsIsa>(&core, &[], 1025).map(|_| ());
    for refused in [arm, mips] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("bytes of stack"), "{text}");
    }
}
