//! Words are public, or learnt from a secret: what may an observer of time and addresses learn?
//!
//! Every operand word and everything computed from one is secret; so is what a
//! register held at entry. Public values are folded, so loop counters and
//! pointers stay numbers; a secret that reaches a branch, an address or an
//! operand-dependent latency is the leak.

use crate::domain::abstract_memory::AbstractMemory;
use crate::domain::concrete::{Bits, Concrete};
use crate::domain::ids::{Map, Set};
use crate::domain::place::Address;
use crate::domain::placed::{LowBits, Placed};
use crate::domain::public::{Public, PublicBit};
use crate::domain::word::{Domain, Logic, Shift, Signs, Sum};
use crate::domain::{cells, public};
use crate::fault::{Fault, Source};

/// How a secret came to be: a step, which leads to the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin(u32);

impl Origin {
    /// Where the caller placed the operands: no secret, but not the same in every run.
    const PLACE: Origin = Origin(0);
}

/// A step: a secret enters the run, or one is computed from another.
#[derive(Clone, Debug)]
enum Trail {
    Enters(String),
    /// By the instruction at `pc`, from `from`.
    Computed {
        from: Origin,
        pc: u32,
    },
}

/// A public value, or a secret: which one (copies keep the number), and where it came from.
#[derive(Clone, Copy, Debug)]
pub enum Taint {
    Public(Public),
    Secret { value: u32, origin: Origin },
}

impl PartialEq for Taint {
    /// The same value, however it came here.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Taint::Public(x), Taint::Public(y)) => x == y,
            (Taint::Secret { value: x, .. }, Taint::Secret { value: y, .. }) => x == y,
            _ => false,
        }
    }
}

impl Eq for Taint {}

/// A public bit, or a secret one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaintBit {
    Public(PublicBit),
    Secret(Origin),
}

/// Branches on secrets: what the next ones do, and what the last ones did.
struct Fork {
    script: Vec<bool>,
    taken: Vec<(usize, bool)>,
}

/// The secret domain.
pub struct Secret {
    pub memory: AbstractMemory<Taint>,
    steps: Vec<Trail>,
    pc: u32,
    values: u32,
    visited: Set<usize>,
    placed: Placed,
    /// Bits that are 1 whatever the secrets are, by the number of a secret.
    ones: Map<u32, u64>,
    /// None: a branch on a secret is a fault.
    fork: Option<Fork>,
    /// Numbers in the order in which the run comes upon them, if anybody wants to know.
    numbers: Option<Vec<u64>>,
}

/// The most numbers that are kept of a run.
const MOST_NUMBERS: usize = 1 << 12;

impl Default for Secret {
    fn default() -> Self {
        Self {
            memory: AbstractMemory::default(),
            steps: vec![Trail::Enters("where the caller placed the operands".into())],
            pc: 0,
            values: 0,
            visited: Set::default(),
            placed: Placed::default(),
            ones: Map::default(),
            fork: None,
            numbers: None,
        }
    }
}

impl Secret {
    /// A domain that goes on at branches on secrets: the first ones do what `script` says, those
    /// after them do not branch.
    pub fn forking(script: Vec<bool>) -> Self {
        Self {
            fork: Some(Fork {
                script,
                taken: Vec::new(),
            }),
            ..Self::default()
        }
    }

    /// The same domain; it keeps the numbers that it comes upon.
    pub fn listening(script: Vec<bool>) -> Self {
        Self {
            numbers: Some(Vec::new()),
            ..Self::forking(script)
        }
    }

    /// The numbers that the run came upon: in the code, in constants, and what it made of them.
    pub fn numbers(&self) -> &[u64] {
        self.numbers.as_deref().unwrap_or_default()
    }

    fn listen(&mut self, public: Public) {
        if let (Some(list), Public::Known(k)) = (&mut self.numbers, public)
            && list.len() < MOST_NUMBERS
        {
            list.push(k);
        }
    }

    /// Address and outcome of each branch on a secret so far.
    pub fn taken(&self) -> &[(usize, bool)] {
        self.fork.as_ref().map_or(&[], |fork| &fork.taken)
    }

    /// A fresh secret called `name`.
    pub fn secret(&mut self, name: impl Into<String>) -> Taint {
        let name = format!("the secret {}", name.into());
        let origin = self.step(Trail::Enters(name));
        self.values += 1;
        Taint::Secret {
            value: self.values,
            origin,
        }
    }

    fn step(&mut self, step: Trail) -> Origin {
        self.steps.push(step);
        Origin(self.steps.len() as u32 - 1)
    }

    /// The step by which the running instruction passes a secret on.
    fn passed_on(&mut self, from: Origin) -> Origin {
        let pc = self.pc;
        match self.steps.get(from.0 as usize) {
            Some(Trail::Computed { pc: last, .. }) if *last == pc => from,
            _ if from == Origin::PLACE => from,
            _ => self.step(Trail::Computed { from, pc }),
        }
    }

    fn fresh(&mut self, origin: Origin) -> Taint {
        self.values += 1;
        let origin = self.passed_on(origin);
        Taint::Secret {
            value: self.values,
            origin,
        }
    }

    /// Addresses of the instructions executed so far, ascending.
    pub fn visited(&self) -> Vec<usize> {
        let mut list: Vec<_> = self.visited.iter().copied().collect();
        list.sort_unstable();
        list
    }

    /// Where a secret entered the run, and the instructions it passed.
    fn source(&self, origin: Origin) -> Source {
        let mut path = Vec::new();
        let mut at = origin;
        let name = loop {
            match self.steps.get(at.0 as usize) {
                Some(Trail::Computed { from, pc }) => {
                    path.push(*pc as usize);
                    at = *from;
                }
                Some(Trail::Enters(name)) => break name.clone(),
                None => break String::new(),
            }
        };
        path.reverse();
        Source {
            name,
            path,
            is_place: at == Origin::PLACE,
        }
    }

    /// The low bits of a word that depends on where the operands lie.
    fn low_bits(&self, word: Taint) -> Option<LowBits> {
        match word {
            Taint::Public(public) => LowBits::of(public, &self.memory),
            Taint::Secret { value, .. } => self.placed.get(&value).copied(),
        }
    }

    fn placed_word(&mut self, low: LowBits) -> Taint {
        let word = self.fresh(Origin::PLACE);
        if let Taint::Secret { value, .. } = word {
            self.placed.insert(value, low);
        }
        word
    }

    /// The first secret among the operands.
    pub fn first_origin(words: &[Taint], bits: &[TaintBit]) -> Origin {
        let from_words = words.iter().find_map(|w| match w {
            Taint::Secret { origin, .. } => Some(*origin),
            Taint::Public(_) => None,
        });
        let from_bits = bits.iter().find_map(|b| match b {
            TaintBit::Secret(origin) => Some(*origin),
            TaintBit::Public(_) => None,
        });
        from_words.or(from_bits).unwrap_or(Origin::PLACE)
    }

    /// A fresh secret computed from `words` and `bits`.
    pub fn mix(&mut self, words: &[Taint], bits: &[TaintBit]) -> Taint {
        self.fresh(Self::first_origin(words, bits))
    }

    fn add_sub<const W: u32>(
        &mut self,
        up: bool,
        a: &Taint,
        b: &Taint,
        c: &TaintBit,
    ) -> Sum<Self, W> {
        if let (Taint::Public(a), Taint::Public(b), TaintBit::Public(c)) = (a, b, c)
            && let Some(s) = public::add_sub::<W>(up, *a, *b, *c)
        {
            self.listen(s.word);
            let carry = self.memory.ordered::<W>(s.carry);
            let bit = |known: Option<bool>| match known {
                Some(k) => TaintBit::Public(PublicBit::Known(k)),
                None => TaintBit::Secret(Origin::PLACE),
            };
            return Sum {
                word: Taint::Public(s.word),
                carry: TaintBit::Public(carry),
                half: bit(s.half),
                overflow: bit(s.overflow),
            };
        }
        if let (true, false, TaintBit::Public(PublicBit::Known(c))) = (a == b, up, c) {
            // x - x - c = -c whatever x is.
            return Sum {
                word: self.known::<W>(0u64.wrapping_sub(u64::from(*c))),
                carry: self.flag(*c),
                half: self.flag(*c),
                overflow: self.flag(false),
            };
        }
        let origin = Self::first_origin(&[*a, *b], &[*c]);
        let secret = TaintBit::Secret(origin);
        if let (Some(x), Some(y), TaintBit::Public(PublicBit::Known(c))) =
            (self.low_bits(*a), self.low_bits(*b), c)
            && let Some(low) = LowBits::sum(up, x, y, *c)
        {
            return Sum {
                word: self.placed_word(low),
                carry: secret,
                half: secret,
                overflow: secret,
            };
        }
        Sum {
            word: self.fresh(origin),
            carry: secret,
            half: secret,
            overflow: secret,
        }
    }
}

impl Domain for Secret {
    type Word<const W: u32> = Taint;
    type Bit = TaintBit;

    fn known<const W: u32>(&mut self, value: u64) -> Taint {
        let number = Public::Known(value & ((1 << W) - 1));
        self.listen(number);
        Taint::Public(number)
    }

    fn flag(&mut self, value: bool) -> TaintBit {
        TaintBit::Public(PublicBit::Known(value))
    }

    fn add<const W: u32>(&mut self, a: &Taint, b: &Taint, c: &TaintBit) -> Sum<Self, W> {
        self.add_sub(true, a, b, c)
    }

    fn sub<const W: u32>(&mut self, a: &Taint, b: &Taint, c: &TaintBit) -> Sum<Self, W> {
        self.add_sub(false, a, b, c)
    }

    fn mul<const W: u32>(&mut self, a: &Taint, b: &Taint, signs: Signs) -> (Taint, Taint) {
        if let (Taint::Public(a), Taint::Public(b)) = (a, b)
            && let Some((lo, hi)) = public::mul::<W>(*a, *b, signs)
        {
            return (Taint::Public(lo), Taint::Public(hi));
        }
        (self.mix(&[*a, *b], &[]), self.mix(&[*a, *b], &[]))
    }

    fn logic<const W: u32>(&mut self, op: Logic, a: &Taint, b: &Taint) -> Taint {
        let zero = Taint::Public(Public::Known(0));
        if a == b {
            // x ^ x = 0, x & x = x | x = x.
            return if op == Logic::Xor { zero } else { *a };
        }
        if op == Logic::And && (*a == zero || *b == zero) {
            return zero;
        }
        let neutral = if op == Logic::And { (1 << W) - 1 } else { 0 };
        let neutral = Taint::Public(Public::Known(neutral));
        if *a == neutral || *b == neutral {
            return if *a == neutral { *b } else { *a };
        }
        if let (Taint::Public(a), Taint::Public(b)) = (a, b)
            && let Some(word) = public::logic(op, *a, *b)
        {
            self.listen(word);
            return Taint::Public(word);
        }
        if let (Some(x), Some(y)) = (self.low_bits(*a), self.low_bits(*b))
            && let Some(bits) = LowBits::masked(op, x, y)
        {
            return Taint::Public(Public::Known(bits));
        }
        let word = self.mix(&[*a, *b], &[]);
        let [x, y] = [a, b].map(|word| self.ones::<W>(word));
        let ones = match op {
            Logic::Or => x | y,
            Logic::And => x & y,
            Logic::Xor => 0,
        };
        if let (Taint::Secret { value, .. }, 1..) = (word, ones) {
            self.ones.insert(value, ones);
        }
        word
    }

    fn shift_right<const W: u32>(&mut self, a: &Taint, top: &TaintBit) -> (Taint, TaintBit) {
        if let (Taint::Public(Public::Known(a)), TaintBit::Public(PublicBit::Known(top))) = (a, top)
        {
            let word = a >> 1 | u64::from(*top) << (W - 1);
            return (self.known::<W>(word), self.flag(a & 1 == 1));
        }
        let origin = Self::first_origin(&[*a], &[*top]);
        (self.fresh(origin), TaintBit::Secret(origin))
    }

    fn shift<const W: u32>(&mut self, kind: Shift, a: &Taint, count: u32) -> (Taint, TaintBit) {
        if let Taint::Public(Public::Known(k)) = a {
            let (word, out) = kind.apply(*k, count, W);
            return (self.known::<W>(word), self.flag(out));
        }
        let origin = Self::first_origin(&[*a], &[]);
        let word = match self.low_bits(*a).and_then(|low| low.shifted(kind, count)) {
            Some(low) => self.placed_word(low),
            None => self.fresh(origin),
        };
        (word, TaintBit::Secret(origin))
    }

    fn select<const W: u32>(&mut self, bit: &TaintBit, x: &Taint, y: &Taint) -> Taint {
        match bit {
            TaintBit::Public(PublicBit::Known(true)) => *x,
            TaintBit::Public(PublicBit::Known(false)) => *y,
            _ if x == y => *x,
            TaintBit::Public(_) | TaintBit::Secret(_) => {
                self.fresh(Self::first_origin(&[], &[*bit]))
            }
        }
    }

    fn slice<const W: u32, const V: u32>(&mut self, a: &Taint, from: u32) -> Taint {
        match a {
            whole if V == W => *whole,
            Taint::Public(Public::Known(k)) => self.known::<V>(k >> from),
            Taint::Public(_) | Taint::Secret { .. } => self.mix(&[*a], &[]),
        }
    }

    fn extend<const V: u32, const W: u32>(&mut self, a: &Taint, signed: bool) -> Taint {
        match a {
            whole if V == W => *whole,
            Taint::Public(Public::Known(k)) => {
                let word = Concrete::new(0).extend::<V, W>(&Bits(*k), signed);
                self.known::<W>(word.0)
            }
            Taint::Public(_) | Taint::Secret { .. } => self.mix(&[*a], &[]),
        }
    }

    fn value<const W: u32>(&self, word: &Taint) -> Option<u64> {
        match word {
            Taint::Public(Public::Known(k)) => Some(*k),
            Taint::Public(_) | Taint::Secret { .. } => None,
        }
    }

    fn ones<const W: u32>(&self, word: &Taint) -> u64 {
        match word {
            Taint::Public(Public::Known(k)) => *k,
            Taint::Public(_) => 0,
            Taint::Secret { value, .. } => self.ones.get(value).copied().unwrap_or(0),
        }
    }

    fn origin<const W: u32>(&self, word: &Taint) -> Source {
        self.source(Self::first_origin(&[*word], &[]))
    }

    fn is_zero<const W: u32>(&mut self, a: &Taint) -> TaintBit {
        match a {
            Taint::Public(Public::Known(k)) => self.flag(*k == 0),
            Taint::Public(_) | Taint::Secret { .. } => {
                TaintBit::Secret(Self::first_origin(&[*a], &[]))
            }
        }
    }

    fn bit<const W: u32>(&mut self, a: &Taint, index: u32) -> TaintBit {
        match a {
            Taint::Public(Public::Known(k)) => self.flag(k >> index & 1 == 1),
            Taint::Public(_) | Taint::Secret { .. } => {
                TaintBit::Secret(Self::first_origin(&[*a], &[]))
            }
        }
    }

    fn with_bit<const W: u32>(&mut self, a: &Taint, index: u32, bit: &TaintBit) -> Taint {
        match (a, bit) {
            (Taint::Public(Public::Known(k)), TaintBit::Public(PublicBit::Known(b))) => {
                self.known::<W>(k & !(1 << index) | u64::from(*b) << index)
            }
            _ => self.mix(&[*a], &[*bit]),
        }
    }

    fn gate(&mut self, op: Logic, x: &TaintBit, y: &TaintBit) -> TaintBit {
        use PublicBit::Known;
        match (x, y) {
            (TaintBit::Public(Known(x)), TaintBit::Public(Known(y))) => {
                let value = op.apply(u64::from(*x), u64::from(*y)) == 1;
                self.flag(value)
            }
            (TaintBit::Public(Known(false)), other) | (other, TaintBit::Public(Known(false))) => {
                match op {
                    Logic::And => self.flag(false),
                    Logic::Or | Logic::Xor => *other,
                }
            }
            (TaintBit::Public(Known(true)), other) | (other, TaintBit::Public(Known(true)))
                if op != Logic::Xor =>
            {
                match op {
                    Logic::Or => self.flag(true),
                    Logic::And | Logic::Xor => *other,
                }
            }
            _ => TaintBit::Secret(Self::first_origin(&[], &[*x, *y])),
        }
    }

    fn decide(&mut self, bit: &TaintBit) -> Result<bool, Fault> {
        match bit {
            TaintBit::Public(PublicBit::Known(b)) => Ok(*b),
            TaintBit::Public(_) => Err(Fault::SecretBranch(self.source(Origin::PLACE))),
            TaintBit::Secret(o) => Err(Fault::SecretBranch(self.source(*o))),
        }
    }

    fn branch(&mut self, bit: &TaintBit) -> Result<bool, Fault> {
        match (bit, &mut self.fork) {
            (TaintBit::Secret(origin), Some(fork)) if *origin != Origin::PLACE => {
                let outcome = fork.script.get(fork.taken.len()).copied().unwrap_or(false);
                fork.taken.push((self.pc as usize, outcome));
                Ok(outcome)
            }
            _ => self.decide(bit),
        }
    }

    fn number<const W: u32>(&mut self, word: &Taint) -> Result<u64, Fault> {
        match word {
            Taint::Public(Public::Known(k)) => Ok(*k),
            Taint::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
                Err(Fault::SecretAddress(self.source(Origin::PLACE)))
            }
            Taint::Secret { origin: o, .. } => Err(Fault::SecretAddress(self.source(*o))),
        }
    }

    fn address<const W: u32>(&mut self, parts: &[&Taint], offset: i64) -> Result<Address, Fault> {
        let mut known = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Taint::Public(p) => known.push(*p),
                Taint::Secret { origin: o, .. } => {
                    return Err(Fault::SecretAddress(self.source(*o)));
                }
            }
        }
        public::address::<W>(&known, offset)
    }

    fn above_multiple(&self, at: Address, bytes: i64) -> Result<i64, Fault> {
        self.memory.above_multiple(at, bytes)
    }

    fn load<const W: u32>(&mut self, at: Address) -> Result<Taint, Fault> {
        if let Some(public) = self.memory.constant(at, W)? {
            self.listen(public);
            return Ok(Taint::Public(public));
        }
        match cells::load(self, at, W)? {
            Some(Taint::Secret { value, origin }) => {
                let origin = self.passed_on(origin);
                Ok(Taint::Secret { value, origin })
            }
            Some(public) => Ok(public),
            None => {
                let name = format!("{} (not initialised)", self.memory.place(at));
                let value = self.secret(name);
                self.memory.set(at, W, value);
                Ok(value)
            }
        }
    }

    fn store<const W: u32>(&mut self, at: Address, word: &Taint) -> Result<(), Fault> {
        cells::store(self, at, W, *word)
    }

    fn at(&mut self, pc: usize) {
        self.visited.insert(pc);
        self.pc = pc as u32;
    }
}
