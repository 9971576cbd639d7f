//! The narrow waist: a list of instructions of one instruction set, wherever it came from.

/// Instructions, remarks on them for the listing, and claims about them for the prover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program<I> {
    pub insns: Vec<I>,
    /// Remarks, each before the instruction of that index.
    pub notes: Vec<(usize, String)>,
    /// Stepping stones of the proof: shown before they are used, never trusted.
    pub claims: Vec<Claim>,
}

/// What a place holds after the instruction of index `insn` was executed for the `visit`th time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Written {
    pub insn: usize,
    /// From 1 on.
    pub visit: usize,
    pub place: Place,
}

/// Where a word is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    Register(u8),
    /// So many bytes behind the start of an area.
    Memory(Area, i64),
}

/// Memory that a kernel may speak of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Area {
    /// The result (0) or a source (1, 2), as the call passes them.
    Operand(usize),
    /// From where the stack pointer points at entry.
    Stack,
    /// The same of a stack of data.
    DataStack,
}

impl Written {
    /// What `register` holds after `insn`, which is executed once.
    pub fn once(insn: usize, register: u8) -> Self {
        Self {
            insn,
            visit: 1,
            place: Place::Register(register),
        }
    }
}

/// `2^(W lead) sum 2^(W i) words[i] = sum of terms`, or its absolute value, for words of `W` bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    pub words: Vec<Written>,
    /// Words of zeros below them.
    pub lead: usize,
    pub terms: Vec<Term>,
    /// Of a sum of numbers that may be negative: the words are its absolute value.
    pub magnitude: Option<Magnitude>,
}

/// What an absolute value was made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Magnitude {
    /// The sum modulo `2^(W len)`.
    pub wrapped: Vec<Written>,
    /// All ones if the sum is negative, else 0.
    pub mask: Written,
}

/// `sign * 2^(W shift) * (sum 2^(W i) x[i]) * (sum 2^(W j) y[j])`; an empty `y` is the number 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term {
    pub sign: i8,
    /// In words.
    pub shift: usize,
    pub x: Vec<Written>,
    pub y: Vec<Written>,
}

impl Term {
    /// The product `x * y`.
    pub fn product(x: Vec<Written>, y: Vec<Written>) -> Self {
        Self {
            sign: 1,
            shift: 0,
            x,
            y,
        }
    }

    /// The number `x`.
    pub fn number(x: Vec<Written>) -> Self {
        Self::product(x, Vec::new())
    }
}

impl Claim {
    /// `words = sum of terms`.
    pub fn equation(words: Vec<Written>, terms: Vec<Term>) -> Self {
        Self {
            words,
            lead: 0,
            terms,
            magnitude: None,
        }
    }

    /// Products of two words in its terms.
    pub fn products(&self) -> u64 {
        let terms = self.terms.iter();
        terms
            .map(|t| t.x.len() as u64 * t.y.len().max(1) as u64)
            .sum()
    }

    /// Every place the claim speaks of.
    pub fn places(&self) -> impl Iterator<Item = &Written> {
        let terms = self.terms.iter().flat_map(|t| t.x.iter().chain(&t.y));
        let made = self.magnitude.iter();
        let made = made.flat_map(|m| m.wrapped.iter().chain([&m.mask]));
        self.words.iter().chain(terms).chain(made)
    }

    /// The claim with `place(index)` for every index; `None` if there is none for one of them.
    pub fn at(&self, place: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        let mut claim = self.clone();
        for written in claim.places_mut() {
            written.insn = place(written.insn)?;
        }
        Some(claim)
    }

    /// The claim of a function that is called: `place` is what its caller says for each of its places.
    pub fn seen(mut self, place: impl Fn(Place) -> Place) -> Self {
        for written in self.places_mut() {
            written.place = place(written.place);
        }
        self
    }

    fn places_mut(&mut self) -> impl Iterator<Item = &mut Written> {
        let terms = self.terms.iter_mut();
        let terms = terms.flat_map(|t| t.x.iter_mut().chain(&mut t.y));
        let made = self.magnitude.iter_mut();
        let made = made.flat_map(|m| m.wrapped.iter_mut().chain([&mut m.mask]));
        self.words.iter_mut().chain(terms).chain(made)
    }
}

impl<I> Program<I> {
    /// An empty program.
    pub fn new() -> Self {
        Self {
            insns: Vec::new(),
            notes: Vec::new(),
            claims: Vec::new(),
        }
    }

    /// The same of other instructions: each is what `f` makes of it.
    pub fn map<J>(self, f: impl FnMut(I) -> J) -> Program<J> {
        Program {
            insns: self.insns.into_iter().map(f).collect(),
            notes: self.notes,
            claims: self.claims,
        }
    }

    /// Puts `insns` before the instruction of index `at`; remarks and claims follow.
    pub fn insert(&mut self, at: usize, insns: impl IntoIterator<Item = I>) {
        let old = self.insns.len();
        self.insns.splice(at..at, insns);
        let by = self.insns.len() - old;
        let notes = self.notes.iter_mut().map(|(index, _)| index);
        let places = self.claims.iter_mut().flat_map(Claim::places_mut);
        for index in notes.chain(places.map(|p| &mut p.insn)) {
            if *index >= at {
                *index += by;
            }
        }
    }

    /// Puts `other` behind it.
    pub fn append(&mut self, mut other: Self) {
        let offset = self.insns.len();
        let notes = other.notes.iter_mut().map(|(index, _)| index);
        let places = other.claims.iter_mut().flat_map(Claim::places_mut);
        for index in notes.chain(places.map(|p| &mut p.insn)) {
            *index += offset;
        }
        self.insns.extend(other.insns);
        self.notes.extend(other.notes);
        self.claims.extend(other.claims);
    }

    /// Removes the instruction of index `at`, and the claims about what it wrote.
    pub fn remove(&mut self, at: usize) -> I {
        self.claims
            .retain(|claim| claim.places().all(|p| p.insn != at));
        let notes = self.notes.iter_mut().map(|(index, _)| index);
        let places = self.claims.iter_mut().flat_map(Claim::places_mut);
        for index in notes.chain(places.map(|p| &mut p.insn)) {
            *index -= usize::from(*index > at);
        }
        self.insns.remove(at)
    }
}

impl<I> Default for Program<I> {
    fn default() -> Self {
        Self::new()
    }
}
