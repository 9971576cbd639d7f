//! Words are bit-vector terms of SMT-LIB 2: one run writes down what code computes, for a solver
//! that shares nothing with the algebra.
//!
//! Public values are folded as in the other abstract domains, so that loops end and addresses
//! are known. What cannot be said becomes a constant without definition: any word.

use std::collections::HashMap;

use machine::domain::abstract_memory::{AbstractMemory, Region};
use machine::domain::cells::Pieces;
use machine::domain::concrete::{Bits, Concrete};
use machine::domain::public::{Public, PublicBit};
use machine::domain::{Abstract, Address, Base, Domain, Logic, Shift, Signs, Sum, cells, public};
use machine::fault::{Fault, Source};
use machine::function::Segment;

/// A word: a public value, or the term of this number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    /// A number, or an address.
    Public(Public),
    /// The word that the script defines under this number.
    Defined(u32),
}

/// A bit: public, or a vector of one bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TermBit {
    /// A bit that is the same in every run.
    Public(PublicBit),
    /// The bit that the script defines under this number.
    Defined(u32),
}

/// The formula domain.
#[derive(Default)]
pub struct Formula {
    /// Memory, in such words.
    pub memory: AbstractMemory<Term>,
    /// Declarations and definitions so far.
    script: String,
    terms: u32,
    /// Products of unsigned words: one term for each.
    products: HashMap<(String, String, u32), u32>,
    /// Are products the products themselves? Where residues count, no other number will do.
    exact: bool,
}

impl Formula {
    /// A domain whose products are products.
    pub fn exact() -> Self {
        Self {
            exact: true,
            ..Self::default()
        }
    }

    /// The script so far.
    pub fn script(&self) -> &str {
        &self.script
    }

    fn define(&mut self, width: u32, value: &str) -> u32 {
        self.terms += 1;
        let line = format!(
            "(define-fun t{} () (_ BitVec {width}) {value})\n",
            self.terms
        );
        self.script.push_str(&line);
        self.terms
    }

    fn any(&mut self, width: u32) -> u32 {
        self.terms += 1;
        let line = format!("(declare-const t{} (_ BitVec {width}))\n", self.terms);
        self.script.push_str(&line);
        self.terms
    }

    fn word(&mut self, width: u32, value: &str) -> Term {
        Term::Defined(self.define(width, value))
    }

    fn one_bit(&mut self, value: &str) -> TermBit {
        TermBit::Defined(self.define(1, value))
    }

    /// A word of `width` bits as text.
    pub fn text(&mut self, word: &Term, width: u32) -> String {
        match word {
            Term::Public(Public::Known(k)) => format!("(_ bv{k} {width})"),
            Term::Public(Public::Pointer { .. } | Public::Negated { .. }) => {
                format!("t{}", self.any(width))
            }
            Term::Defined(t) => format!("t{t}"),
        }
    }

    fn bit_text(&mut self, bit: &TermBit) -> String {
        match bit {
            TermBit::Public(PublicBit::Known(b)) => format!("#b{}", u8::from(*b)),
            TermBit::Public(_) => format!("t{}", self.any(1)),
            TermBit::Defined(t) => format!("t{t}"),
        }
    }

    /// The product of two unsigned words of `w` bits, in `2 w` bits: any number that is at most
    /// `(2^w - 1)^2`, and the same one for the same words. Multipliers are hard for solvers; what
    /// holds for all such numbers holds for the product. If [`Self::exact`], the product itself.
    pub fn product(&mut self, a: &Term, b: &Term, w: u32) -> u32 {
        let (x, y) = (self.text(a, w), self.text(b, w));
        let (x, y) = if x <= y { (x, y) } else { (y, x) };
        if let Some(known) = self.products.get(&(x.clone(), y.clone(), w)) {
            return *known;
        }
        if self.exact {
            let value = format!("(bvmul ((_ zero_extend {w}) {x}) ((_ zero_extend {w}) {y}))");
            let p = self.define(2 * w, &value);
            self.products.insert((x, y, w), p);
            return p;
        }
        self.script.push_str(&format!("; {x} * {y}\n"));
        let p = self.any(2 * w);
        let most = ((1u128 << w) - 1) * ((1u128 << w) - 1);
        let lemma = format!("(assert (bvule t{p} (_ bv{most} {})))\n", 2 * w);
        self.script.push_str(&lemma);
        self.products.insert((x, y, w), p);
        p
    }

    fn add_sub<const W: u32>(&mut self, up: bool, a: &Term, b: &Term, c: &TermBit) -> Sum<Self, W> {
        if let (Term::Public(a), Term::Public(b), TermBit::Public(c)) = (a, b, c)
            && let Some(s) = public::add_sub::<W>(up, *a, *b, *c)
        {
            let carry = self.memory.ordered::<W>(s.carry);
            let mut bit = |known: Option<bool>| match known {
                Some(k) => TermBit::Public(PublicBit::Known(k)),
                None => TermBit::Defined(self.any(1)),
            };
            return Sum {
                word: Term::Public(s.word),
                carry: TermBit::Public(carry),
                half: bit(s.half),
                overflow: bit(s.overflow),
            };
        }
        if let (true, false, TermBit::Public(PublicBit::Known(c))) = (a == b, up, c) {
            // x - x - c = -c whatever x is.
            let word = self.known::<W>(0u64.wrapping_sub(u64::from(*c)));
            let [carry, overflow] = [*c, false].map(|b| self.flag(b));
            return Sum {
                word,
                carry,
                half: carry,
                overflow,
            };
        }
        let (op, x, y, c) = (
            if up { "bvadd" } else { "bvsub" },
            self.text(a, W),
            self.text(b, W),
            self.bit_text(c),
        );
        let wide = format!(
            "({op} ({op} ((_ zero_extend 1) {x}) ((_ zero_extend 1) {y})) ((_ zero_extend {W}) {c}))"
        );
        let wide = self.define(W + 1, &wide);
        let s = self.define(W, &format!("((_ extract {} 0) t{wide})", W - 1));
        let carry = self.one_bit(&format!("((_ extract {W} {W}) t{wide})"));
        // A carry into bit 4 is where the sum bit is not that of the operands.
        let half = self.one_bit(&format!("((_ extract 4 4) (bvxor {x} (bvxor {y} t{s})))"));
        let signs = match up {
            true => format!("(bvand (bvxor {x} t{s}) (bvxor {y} t{s}))"),
            false => format!("(bvand (bvxor {x} {y}) (bvxor {x} t{s}))"),
        };
        let overflow = self.one_bit(&format!("((_ extract {0} {0}) {signs})", W - 1));
        Sum {
            word: Term::Defined(s),
            carry,
            half,
            overflow,
        }
    }
}

fn logic_name(op: Logic) -> &'static str {
    match op {
        Logic::And => "bvand",
        Logic::Or => "bvor",
        Logic::Xor => "bvxor",
    }
}

impl Domain for Formula {
    type Word<const W: u32> = Term;
    type Bit = TermBit;

    fn known<const W: u32>(&mut self, value: u64) -> Term {
        Term::Public(Public::Known(value & ((1 << W) - 1)))
    }

    fn flag(&mut self, value: bool) -> TermBit {
        TermBit::Public(PublicBit::Known(value))
    }

    fn add<const W: u32>(&mut self, a: &Term, b: &Term, c: &TermBit) -> Sum<Self, W> {
        self.add_sub(true, a, b, c)
    }

    fn sub<const W: u32>(&mut self, a: &Term, b: &Term, c: &TermBit) -> Sum<Self, W> {
        self.add_sub(false, a, b, c)
    }

    fn mul<const W: u32>(&mut self, a: &Term, b: &Term, signs: Signs) -> (Term, Term) {
        if let (Term::Public(a), Term::Public(b)) = (a, b)
            && let Some((lo, hi)) = public::mul::<W>(*a, *b, signs)
        {
            return (Term::Public(lo), Term::Public(hi));
        }
        let how = match signs {
            Signs::Unsigned => None,
            Signs::Signed => Some("sign_extend"),
            Signs::SignedUnsigned => Some("zero_extend"),
        };
        let p = match how {
            None => self.product(a, b, W),
            Some(how) => {
                let (x, y) = (self.text(a, W), self.text(b, W));
                let product = format!("(bvmul ((_ sign_extend {W}) {x}) ((_ {how} {W}) {y}))");
                self.define(2 * W, &product)
            }
        };
        let lo = self.word(W, &format!("((_ extract {} 0) t{p})", W - 1));
        let hi = self.word(W, &format!("((_ extract {} {W}) t{p})", 2 * W - 1));
        (lo, hi)
    }

    fn logic<const W: u32>(&mut self, op: Logic, a: &Term, b: &Term) -> Term {
        let zero = Term::Public(Public::Known(0));
        if a == b {
            return if op == Logic::Xor { zero } else { *a };
        }
        if *a == zero || *b == zero {
            return match op {
                Logic::And => zero,
                _ if *a == zero => *b,
                _ => *a,
            };
        }
        if let (Term::Public(a), Term::Public(b)) = (a, b)
            && let Some(word) = public::logic(op, *a, *b)
        {
            return Term::Public(word);
        }
        let (x, y) = (self.text(a, W), self.text(b, W));
        self.word(W, &format!("({} {x} {y})", logic_name(op)))
    }

    fn shift_right<const W: u32>(&mut self, a: &Term, top: &TermBit) -> (Term, TermBit) {
        if let (Term::Public(Public::Known(a)), TermBit::Public(PublicBit::Known(top))) = (a, top) {
            let word = a >> 1 | u64::from(*top) << (W - 1);
            return (self.known::<W>(word), self.flag(a & 1 == 1));
        }
        let (x, top) = (self.text(a, W), self.bit_text(top));
        let word = self.word(W, &format!("(concat {top} ((_ extract {} 1) {x}))", W - 1));
        (word, self.one_bit(&format!("((_ extract 0 0) {x})")))
    }

    fn shift<const W: u32>(&mut self, kind: Shift, a: &Term, count: u32) -> (Term, TermBit) {
        if let Term::Public(Public::Known(k)) = a {
            let (word, out) = kind.apply(*k, count, W);
            return (self.known::<W>(word), self.flag(out));
        }
        let x = self.text(a, W);
        let (value, out) = match kind {
            Shift::Left => (format!("(bvshl {x} (_ bv{count} {W}))"), W - count),
            Shift::Right => (format!("(bvlshr {x} (_ bv{count} {W}))"), count - 1),
            Shift::ArithmeticRight => (format!("(bvashr {x} (_ bv{count} {W}))"), count - 1),
            Shift::RotateRight => (format!("((_ rotate_right {count}) {x})"), count - 1),
        };
        let out = self.one_bit(&format!("((_ extract {out} {out}) {x})"));
        (self.word(W, &value), out)
    }

    fn select<const W: u32>(&mut self, bit: &TermBit, x: &Term, y: &Term) -> Term {
        match bit {
            TermBit::Public(PublicBit::Known(true)) => *x,
            TermBit::Public(PublicBit::Known(false)) => *y,
            _ if x == y => *x,
            _ => {
                let (bit, x, y) = (self.bit_text(bit), self.text(x, W), self.text(y, W));
                self.word(W, &format!("(ite (= {bit} #b1) {x} {y})"))
            }
        }
    }

    fn slice<const W: u32, const V: u32>(&mut self, a: &Term, from: u32) -> Term {
        match V == W {
            true => *a,
            false => self.cut(*a, W, from, V),
        }
    }

    fn extend<const V: u32, const W: u32>(&mut self, a: &Term, signed: bool) -> Term {
        if V == W {
            return *a;
        }
        if let Term::Public(Public::Known(k)) = a {
            let word = Concrete::new(0).extend::<V, W>(&Bits(*k), signed);
            return self.known::<W>(word.0);
        }
        let (x, how) = (
            self.text(a, V),
            if signed { "sign_extend" } else { "zero_extend" },
        );
        self.word(W, &format!("((_ {how} {}) {x})", W - V))
    }

    fn is_zero<const W: u32>(&mut self, a: &Term) -> TermBit {
        if let Term::Public(Public::Known(k)) = a {
            return self.flag(*k == 0);
        }
        let x = self.text(a, W);
        self.one_bit(&format!("(ite (= {x} (_ bv0 {W})) #b1 #b0)"))
    }

    fn bit<const W: u32>(&mut self, a: &Term, index: u32) -> TermBit {
        if let Term::Public(Public::Known(k)) = a {
            return self.flag(k >> index & 1 == 1);
        }
        let x = self.text(a, W);
        self.one_bit(&format!("((_ extract {index} {index}) {x})"))
    }

    fn with_bit<const W: u32>(&mut self, a: &Term, index: u32, bit: &TermBit) -> Term {
        if let (Term::Public(Public::Known(k)), TermBit::Public(PublicBit::Known(b))) = (a, bit) {
            return self.known::<W>(k & !(1 << index) | u64::from(*b) << index);
        }
        let (x, bit) = (self.text(a, W), self.bit_text(bit));
        let others = format!("(bvand {x} (bvnot (_ bv{} {W})))", 1u64 << index);
        let moved = format!(
            "(bvshl ((_ zero_extend {}) {bit}) (_ bv{index} {W}))",
            W - 1
        );
        self.word(W, &format!("(bvor {others} {moved})"))
    }

    fn gate(&mut self, op: Logic, x: &TermBit, y: &TermBit) -> TermBit {
        if let (TermBit::Public(PublicBit::Known(x)), TermBit::Public(PublicBit::Known(y))) = (x, y)
        {
            let value = op.apply(u64::from(*x), u64::from(*y)) == 1;
            return self.flag(value);
        }
        for (known, other) in [(x, y), (y, x)] {
            let TermBit::Public(PublicBit::Known(known)) = known else {
                continue;
            };
            match (op, known) {
                (Logic::And, false) | (Logic::Or, true) => return self.flag(*known),
                (Logic::And, true) | (Logic::Or | Logic::Xor, false) => return *other,
                (Logic::Xor, true) => {}
            }
        }
        let (x, y) = (self.bit_text(x), self.bit_text(y));
        self.one_bit(&format!("({} {x} {y})", logic_name(op)))
    }

    fn decide(&mut self, bit: &TermBit) -> Result<bool, Fault> {
        match bit {
            TermBit::Public(PublicBit::Known(b)) => Ok(*b),
            _ => Err(Fault::SecretBranch("the operands or their places".into())),
        }
    }

    fn number<const W: u32>(&mut self, word: &Term) -> Result<u64, Fault> {
        self.value::<W>(word)
            .ok_or_else(|| Fault::SecretAddress("the operands or their places".into()))
    }

    fn value<const W: u32>(&self, word: &Term) -> Option<u64> {
        match word {
            Term::Public(Public::Known(k)) => Some(*k),
            _ => None,
        }
    }

    fn origin<const W: u32>(&self, _: &Term) -> Source {
        "the operands or their places".into()
    }

    fn address<const W: u32>(&mut self, parts: &[&Term], offset: i64) -> Result<Address, Fault> {
        let mut known = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Term::Public(p) => known.push(*p),
                Term::Defined(_) => return Err(Fault::SecretAddress("the operands".into())),
            }
        }
        public::address::<W>(&known, offset)
    }

    fn above_multiple(&self, at: Address, bytes: i64) -> Result<i64, Fault> {
        self.memory.above_multiple(at, bytes)
    }

    fn load<const W: u32>(&mut self, at: Address) -> Result<Term, Fault> {
        if let Some(public) = self.memory.constant(at, W)? {
            return Ok(Term::Public(public));
        }
        match cells::load(self, at, W)? {
            Some(word) => Ok(word),
            None => {
                let word = Term::Defined(self.any(W));
                self.memory.set(at, W, word);
                Ok(word)
            }
        }
    }

    fn store<const W: u32>(&mut self, at: Address, word: &Term) -> Result<(), Fault> {
        cells::store(self, at, W, *word)
    }
}

impl Pieces for Formula {
    type Word = Term;

    fn memory(&mut self) -> &mut AbstractMemory<Term> {
        &mut self.memory
    }

    fn cut(&mut self, word: Term, width: u32, from: u32, len: u32) -> Term {
        if let Term::Public(Public::Known(k)) = word {
            return Term::Public(Public::Known(k >> from & ((1 << len) - 1)));
        }
        let x = self.text(&word, width);
        self.word(len, &format!("((_ extract {} {from}) {x})", from + len - 1))
    }

    fn join(&mut self, pieces: &[(Term, u32)]) -> Term {
        let mut text = String::from("(concat");
        for (piece, width) in pieces.iter().rev() {
            text += &format!(" {}", self.text(piece, *width));
        }
        let width = pieces.iter().map(|(_, width)| width).sum();
        self.word(width, &(text + ")"))
    }
}

impl Abstract for Formula {
    fn unknown<const W: u32>(&mut self, name: String) -> Term {
        self.script.push_str(&format!("; {name}\n"));
        Term::Defined(self.any(W))
    }

    fn pointer<const W: u32>(&mut self, base: Base, offset: i64, part: u32) -> Term {
        Term::Public(Public::Pointer { base, offset, part })
    }

    fn declare(&mut self, base: Base, region: Region) {
        self.memory.declare(base, region);
    }

    fn environment(&mut self, constants: Vec<Segment>, big_endian: bool) {
        self.memory.constants = constants;
        self.memory.big_endian = big_endian;
    }

    fn init<const W: u32>(&mut self, at: Address, word: &Term) {
        self.memory.set(at, W, *word);
    }

    fn same<const W: u32>(&self, a: &Term, b: &Term) -> bool {
        a == b
    }

    fn unknown_bit(&mut self, _: String) -> TermBit {
        TermBit::Defined(self.any(1))
    }

    fn same_bit(&self, a: &TermBit, b: &TermBit) -> bool {
        a == b
    }

    // A flag that was stored and loaded is another term.
    const TELLS_BITS_APART: bool = false;

    fn points<const W: u32>(&self, word: &Term) -> Option<(Address, u32)> {
        match word {
            Term::Public(word) => machine::domain::entry::pointed(*word),
            Term::Defined(_) => None,
        }
    }

    fn forget_bytes(&mut self, base: Base, from: i64, to: i64) {
        self.memory.forget_bytes(base, from, to);
    }
}
