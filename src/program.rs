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

/// What a register holds after the instruction of index `insn`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Written {
    pub insn: usize,
    pub register: u8,
}

/// `sum 2^(W i) words[i] = sum of terms`, for words of `W` bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    pub words: Vec<Written>,
    pub terms: Vec<Term>,
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
    /// Every place the claim speaks of.
    pub fn places(&self) -> impl Iterator<Item = &Written> {
        let terms = self.terms.iter().flat_map(|t| t.x.iter().chain(&t.y));
        self.words.iter().chain(terms)
    }

    /// The claim with `place(index)` for every index; `None` if there is none for one of them.
    pub fn at(&self, place: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        let mut claim = self.clone();
        for written in claim.places_mut() {
            written.insn = place(written.insn)?;
        }
        Some(claim)
    }

    fn places_mut(&mut self) -> impl Iterator<Item = &mut Written> {
        let terms = self.terms.iter_mut();
        self.words
            .iter_mut()
            .chain(terms.flat_map(|t| t.x.iter_mut().chain(&mut t.y)))
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
