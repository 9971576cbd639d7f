//! How the cycles of a run are counted: one in-order scoreboard, of which a sum of cycles is the simple case.
//!
//! A core says of each instruction how long it takes the pipeline, when what it writes can be used, and how long it
//! keeps the unit beside the pipeline ([`Work`]); on a core without such history only the first ([`Cycles`]). Where an
//! operand decides, two pipelines run, one for the shortest and one for the longest case. Times only ever add and take
//! maxima, so every run lies between them; when both end at the same cycle, time tells nothing.

use crate::codec::{Insn, Operands, Places};
use crate::fault::Source;
use crate::isa::cost::{Class, Span};
use crate::isa::energy::{DRAWS, Draw, Spent};

/// A pipeline: what earlier instructions left behind.
pub trait Line: Clone + Default {
    /// What an instruction takes of it.
    type Work: Copy + PartialEq + std::fmt::Debug;

    /// Cycles that an instruction would wait for earlier ones.
    fn wait(&self, work: &Self::Work) -> u64;
    /// Issues an instruction: the cycles spent.
    fn issue(&mut self, work: &Self::Work) -> u64;
    /// Cycles more after a jump that was taken.
    fn jumped(&mut self, work: &Self::Work) -> u64;
    /// When the next instruction issues, if it need not wait.
    fn now(&self) -> u64;
    /// When everything has ended.
    fn end(&self) -> u64;
    /// The shorter and the longer one.
    fn sorted(a: Self::Work, b: Self::Work) -> [Self::Work; 2];
}

/// A core without history: each instruction's cycles are its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memoryless(u64);

/// Cycles of an instruction, and those that it takes more if it jumps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cycles {
    pub cycles: u16,
    pub taken: u8,
}

impl Line for Memoryless {
    type Work = Cycles;

    fn wait(&self, _: &Cycles) -> u64 {
        0
    }

    #[inline(always)]
    fn issue(&mut self, work: &Cycles) -> u64 {
        self.0 += u64::from(work.cycles);
        work.cycles.into()
    }

    #[inline(always)]
    fn jumped(&mut self, work: &Cycles) -> u64 {
        self.0 += u64::from(work.taken);
        work.taken.into()
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.0
    }

    fn end(&self) -> u64 {
        self.0
    }

    fn sorted(a: Cycles, b: Cycles) -> [Cycles; 2] {
        match a.cycles <= b.cycles {
            true => [a, b],
            false => [b, a],
        }
    }
}

/// A core on which what a load brings is not there yet for the next instruction, which waits a cycle for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delayed {
    now: u64,
    /// What the last instruction loaded.
    late: Places,
}

/// What an instruction takes there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Loading {
    pub cycles: Cycles,
    pub reads: Places,
    /// What the next instruction waits for.
    pub late: Places,
}

impl Line for Delayed {
    type Work = Loading;

    #[inline(always)]
    fn wait(&self, work: &Loading) -> u64 {
        u64::from(self.late & work.reads != 0)
    }

    #[inline(always)]
    fn issue(&mut self, work: &Loading) -> u64 {
        let cycles = u64::from(work.cycles.cycles) + self.wait(work);
        self.now += cycles;
        self.late = work.late;
        cycles
    }

    #[inline(always)]
    fn jumped(&mut self, work: &Loading) -> u64 {
        self.now += u64::from(work.cycles.taken);
        work.cycles.taken.into()
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.now
    }

    fn end(&self) -> u64 {
        self.now
    }

    fn sorted(a: Loading, b: Loading) -> [Loading; 2] {
        match a.cycles.cycles <= b.cycles.cycles {
            true => [a, b],
            false => [b, a],
        }
    }
}

/// The factors of the product that a multiplier still has.
pub type Factors = (u8, u8);

/// What an instruction does with the product that the multiplier still has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Product {
    /// Nothing, but that it is lost with one of its factors.
    Stays,
    /// Replaces it by one that no later instruction finds.
    Lost,
    /// Makes that of these factors; where the multiplier has it, the instruction takes the pipeline and the unit a cycle.
    Of(Factors),
}

/// What an instruction takes of a pipeline with a unit beside it. Cycles count from its issue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// It waits for these.
    pub reads: Places,
    pub writes: Places,
    /// Of what it writes: what is there after one cycle, whatever `result` says.
    pub early: Places,
    /// When the next instruction may issue.
    pub issue: u32,
    /// When what it writes can be used.
    pub result: u32,
    /// When the unit takes the next operation, of an instruction that waits for the unit.
    pub unit: Option<u32>,
    /// Cycles more after a jump that was taken.
    pub taken: u32,
    pub product: Product,
}

impl Work {
    /// An instruction of one cycle.
    pub fn single(reads: Places, writes: Places) -> Self {
        Self {
            reads,
            writes,
            early: 0,
            issue: 1,
            result: 1,
            unit: None,
            taken: 0,
            product: Product::Stays,
        }
    }
}

/// A pipeline that issues in order, and a unit beside it (multiplier, divider): what is ready when.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    now: u64,
    /// When each place can be used.
    ready: [u64; 64],
    /// When the unit takes the next operation.
    unit_free: u64,
    product: Option<Factors>,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Self {
            now: 0,
            ready: [0; 64],
            unit_free: 0,
            product: None,
        }
    }
}

impl Scoreboard {
    /// When an instruction could issue.
    #[inline]
    pub fn earliest(&self, work: &Work) -> u64 {
        let (mut at, mut reads) = (self.now, work.reads);
        while reads != 0 {
            at = at.max(self.ready[reads.trailing_zeros() as usize]);
            reads &= reads - 1;
        }
        match work.unit {
            Some(_) => at.max(self.unit_free),
            None => at,
        }
    }

    fn write(&mut self, mut places: Places, ready: u64) {
        while places != 0 {
            self.ready[places.trailing_zeros() as usize] = ready;
            places &= places - 1;
        }
    }
}

impl Line for Scoreboard {
    type Work = Work;

    #[inline]
    fn wait(&self, work: &Work) -> u64 {
        self.earliest(work) - self.now
    }

    #[inline]
    fn issue(&mut self, work: &Work) -> u64 {
        let before = self.now;
        let at = self.earliest(work);
        let after = |cycles: u32| at + u64::from(cycles);
        let again = matches!(work.product, Product::Of(factors) if self.product == Some(factors));
        let (issue, result) = if again {
            (1, 1)
        } else {
            (work.issue, work.result)
        };
        self.now = after(issue);
        if let Some(busy) = work.unit {
            self.unit_free = after(if again { 1 } else { busy });
        }
        self.write(work.writes, after(result));
        self.write(work.early, after(1));
        match work.product {
            Product::Stays => {}
            Product::Lost => self.product = None,
            Product::Of(factors) => self.product = Some(factors),
        }
        if let Some((x, y)) = self.product
            && (work.writes >> x | work.writes >> y) & 1 == 1
        {
            self.product = None;
        }
        self.now - before
    }

    #[inline]
    fn jumped(&mut self, work: &Work) -> u64 {
        self.now += u64::from(work.taken);
        work.taken.into()
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn end(&self) -> u64 {
        let last = self.ready.iter().copied().max().unwrap_or(0);
        self.now.max(self.unit_free).max(last)
    }

    fn sorted(a: Work, b: Work) -> [Work; 2] {
        match a.issue <= b.issue {
            true => [a, b],
            false => [b, a],
        }
    }
}

/// A core: what its instructions cost.
pub trait Timed<O: Operands> {
    type Line: Line;

    /// What `insn` takes at least.
    fn work(&self, insn: &Insn<O>) -> WorkOf<Self, O>;
    /// What it takes at least and at most, of `work` at least, when the operand that it observes is `value`; none if that
    /// is not known.
    fn observing(
        &self,
        insn: &Insn<O>,
        work: &WorkOf<Self, O>,
        value: Option<u64>,
    ) -> [WorkOf<Self, O>; 2];
    /// A number whose time is that of every word in which the bits `ones` are 1, where these have one time; only the words
    /// of the register that `insn` observes are meant.
    fn settled(&self, _insn: &Insn<O>, _ones: u64) -> Option<u64> {
        None
    }
    /// The register whose word decides how long `insn` takes.
    fn observes(&self, insn: &Insn<O>) -> Option<u8>;
    /// That it does, of a word that comes from `source`.
    fn observed(&self, insn: &Insn<O>, source: &Source) -> String;
    /// What an instruction of `bytes` bytes takes that is skipped, or whose condition does not hold.
    fn left_out(&self, bytes: usize) -> WorkOf<Self, O>;
    /// What a count of instructions calls `insn`.
    fn class(&self, insn: &Insn<O>) -> Class;
    /// What it draws current for.
    fn draw(&self, insn: &Insn<O>) -> Draw;
}

/// What an instruction takes on the core `C`.
pub type WorkOf<C, O> = <<C as Timed<O>>::Line as Line>::Work;

/// What a count calls an instruction, and what it draws current for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    pub class: Class,
    pub draw: Draw,
}

/// Kinds of cycles: those of the body by what draws current, then those of the call alone.
const PLACES: usize = 2 * DRAWS;

impl Kind {
    #[inline(always)]
    fn place(self) -> usize {
        let frame = usize::from(self.class == Class::Frame);
        DRAWS * frame + self.draw as usize
    }
}

/// The two pipelines, for the shortest and for the longest time; one as long as they are the same. `S` says which
/// instruction's time is not known, and why.
pub struct Clock<L: Line, S> {
    fast: L,
    slow: Option<L>,
    /// Cycles at least by [`Kind::place`], and how many more they are at most, modulo `2^64`.
    least: [u64; PLACES],
    more: [u64; PLACES],
    /// The last instruction whose time is not known.
    observed: Option<S>,
    /// That instruction, when the pipelines first parted.
    parted: Option<S>,
}

impl<L: Line, S> Default for Clock<L, S> {
    fn default() -> Self {
        Self {
            fast: L::default(),
            slow: None,
            least: [0; PLACES],
            more: [0; PLACES],
            observed: None,
            parted: None,
        }
    }
}

impl<L: Line, S> Clock<L, S> {
    /// Issues an instruction of a known time.
    #[inline(always)]
    pub fn issue(&mut self, work: &L::Work, kind: Kind) {
        let least = self.fast.issue(work);
        let most = match &mut self.slow {
            Some(slow) => slow.issue(work),
            None => least,
        };
        self.spend(kind, least, most);
    }

    /// Issues one that takes at least and at most this; `slow` says why they differ.
    pub fn issue_either(
        &mut self,
        [least, most]: [L::Work; 2],
        kind: Kind,
        slow: impl FnOnce() -> S,
    ) {
        if least != most {
            // The first one that tells is what is reported.
            if self.parted.is_none() {
                self.observed = Some(slow());
            }
            self.slow.get_or_insert_with(|| self.fast.clone());
        }
        let longer = self.slow.as_mut().map(|slow| slow.issue(&most));
        let shorter = self.fast.issue(&least);
        self.spend(kind, shorter, longer.unwrap_or(shorter));
    }

    /// The instruction jumped.
    #[inline(always)]
    pub fn jumped(&mut self, work: &L::Work, kind: Kind) {
        let least = self.fast.jumped(work);
        let most = match &mut self.slow {
            Some(slow) => slow.jumped(work),
            None => least,
        };
        self.spend(kind, least, most);
    }

    #[inline(always)]
    fn spend(&mut self, kind: Kind, least: u64, most: u64) {
        let place = kind.place();
        self.least[place] += least;
        if least != most {
            // An instruction may wait less in the longest case, as an earlier one took so long.
            self.more[place] = self.more[place].wrapping_add(most.wrapping_sub(least));
        }
        if let Some(slow) = &self.slow
            && self.parted.is_none()
            && self.fast.now() != slow.now()
        {
            self.parted = self.observed.take();
        }
    }

    /// Fewest and most cycles so far.
    pub fn call(&self) -> Span {
        Span {
            min: self.fast.now(),
            max: self.slow.as_ref().unwrap_or(&self.fast).now(),
        }
    }

    /// Cycles of the body, and of the call alone.
    pub fn spent(&self) -> [Spent; 2] {
        let spent = |from: usize| {
            let cycles = (from..from + DRAWS)
                .map(|at| (self.least[at], self.least[at].wrapping_add(self.more[at])));
            Spent::of(cycles.map(|(min, max)| Span { min, max }))
        };
        [spent(0), spent(DRAWS)]
    }

    /// The instruction whose time tells an operand, if time does.
    pub fn slow(self) -> Option<S> {
        let tells = self.slow.is_some_and(|slow| slow.end() != self.fast.end());
        self.parted.or(self.observed).filter(|_| tells)
    }
}
