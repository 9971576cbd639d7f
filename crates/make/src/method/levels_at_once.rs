//! Several levels of Karatsuba's squaring at once: the squares at the bottom first, then one sum of all their words.
//!
//! With `w = 2^(W q)` and numbers `x = xl + w xh` of two halves of `q` words,
//!
//! `sum w^(2i) x[i]^2 = (1 + w) N - w D`,  `N = sum w^i z[i]^2` over the halves, `D = sum w^(2i) |xl[i] - xh[i]|^2`.
//!
//! `N` is such a sum of half the size, and so is each square in `D`, which do not overlap. At the bottom each
//! square takes what is above its words in the one before. The words of all levels are added a piece at a time, the
//! lowest first; where a sum ends, its carry is a small signed word of what is left.

use std::ops::Range;

use crate::method::middle_first::distance;
use crate::method::square_product_scanning::Sink;
use crate::method::streamed::{PIECE, Streamed};
use crate::schedule::{Claim, End, Sum, Term, Word, WordStep, Words};

/// Squares a number without levels and adds another.
pub(super) type Square<'a> = dyn Fn(&mut Words, &[Word], &[Word], &mut Sink<'_>) + 'a;

/// `x^2`, `levels` at once, whose halves are of one size, the squares below by `square`.
pub(super) fn at_once(
    f: &mut Words,
    x: &[Word],
    levels: usize,
    square: &Square<'_>,
    sink: &mut Sink<'_>,
) {
    let n = x.len();
    let mut whole = Stream::new(f, &[Number::of(x)], levels, square);
    f.push(WordStep::Part(format!(
        "{n} words: sums of {levels} levels"
    )));
    // Pieces that lie in one half of each level.
    let least = n >> levels;
    for first in (0..2 * n).step_by(least) {
        for from in (first..first + least).step_by(PIECE) {
            let words = whole.next(f, from..(from + PIECE).min(first + least));
            sink(f, &words);
        }
    }
    whole.claim(f);
}

/// A number that is squared, and its name: of `x` the halves are `xl` and `xh`, and `xd` is `|xl - xh|`.
struct Number<'a> {
    words: &'a [Word],
    name: String,
}

impl<'a> Number<'a> {
    fn of(words: &'a [Word]) -> Self {
        let name = "x".into();
        Self { words, name }
    }

    /// The low half, and the high one.
    fn halves(&self) -> [Self; 2] {
        let (low, high) = self.words.split_at(self.words.len() / 2);
        [(low, 'l'), (high, 'h')].map(|(words, end)| Self {
            words,
            name: format!("{}{end}", self.name),
        })
    }
}

/// `sum 2^(2 W i len) x[i]^2` of numbers of `len` words: its words, or how they are made.
enum Stream {
    Words(Vec<Word>),
    Level(Box<Level>),
}

/// `(1 + w) N - w D`.
struct Level {
    q: usize,
    /// Whose squares it is the sum of.
    numbers: Vec<Vec<Word>>,
    squares: Stream,
    middles: Vec<Stream>,
    /// The words of `N` and `D` so far.
    n: Vec<Word>,
    d: Vec<Word>,
    made: Vec<Word>,
    more: Streamed,
    less: Streamed,
    /// What goes beyond `N`: a small signed word, then its sign.
    beyond: Option<[Word; 2]>,
    top: Streamed,
}

impl Stream {
    fn new(f: &mut Words, numbers: &[Number<'_>], levels: usize, square: &Square<'_>) -> Self {
        if levels == 0 {
            return Self::Words(bottom(f, numbers, square));
        }
        let q = numbers.first().map_or(0, |x| x.words.len() / 2);
        let middles = numbers.iter().map(|x| {
            let ([low, high], name) = (x.halves(), format!("{}d", x.name));
            f.push(WordStep::Part(format!(
                "{q} words: {name} = |{} - {}|",
                low.name, high.name
            )));
            let words = &distance(f, low.words, high.words).words;
            Self::new(f, &[Number { words, name }], levels - 1, square)
        });
        let middles = middles.collect();
        let halves: Vec<_> = numbers.iter().flat_map(Number::halves).collect();
        Self::Level(Box::new(Level {
            q,
            numbers: numbers.iter().map(|x| x.words.to_vec()).collect(),
            squares: Self::new(f, &halves, levels - 1, square),
            middles,
            n: Vec::new(),
            d: Vec::new(),
            made: Vec::new(),
            more: Streamed::new(Sum::Add),
            less: Streamed::new(Sum::Sub),
            beyond: None,
            top: Streamed::new(Sum::Add),
        }))
    }

    /// The words of `range`, which come one after the other.
    fn next(&mut self, f: &mut Words, range: Range<usize>) -> Vec<Word> {
        match self {
            Self::Words(words) => words[range].to_vec(),
            Self::Level(level) => level.next(f, range),
        }
    }

    /// Claims what was made, here and below.
    fn claim(&self, f: &mut Words) {
        if let Self::Level(level) = self {
            level.claim(f);
        }
    }
}

/// The same without levels.
fn bottom(f: &mut Words, numbers: &[Number<'_>], square: &Square<'_>) -> Vec<Word> {
    let (mut all, mut above) = (Vec::new(), Vec::new());
    for Number { words: x, name } in numbers {
        f.push(WordStep::Part(format!(
            "{} words: square of {name}",
            x.len()
        )));
        let mut words = Vec::with_capacity(2 * x.len());
        square(f, x, &above, &mut |_, next| words.extend(next));
        f.claims.push(Claim::product(&words, x, x, &above));
        above = words.split_off(x.len());
        all.extend(words);
    }
    all.extend(above);
    all
}

impl Level {
    /// Words of `N`: one more half than its squares are numbers.
    fn squares(&self) -> usize {
        (2 * self.numbers.len() + 1) * self.q
    }

    fn next(&mut self, f: &mut Words, range: Range<usize>) -> Vec<Word> {
        let (q, squares) = (self.q, self.squares());
        if range.end <= squares {
            let words = self.squares.next(f, range.clone());
            self.n.extend(words);
        }
        if range.start >= q && range.end <= squares {
            let [from, to] = [range.start, range.end].map(|k| k - q);
            let (i, first) = (from / (2 * q), from / (2 * q) * 2 * q);
            let words = self.middles[i].next(f, from - first..to - first);
            self.d.extend(words);
        }
        let words = self.sum(f, range);
        self.made.extend(&words);
        words
    }

    fn sum(&mut self, f: &mut Words, range: Range<usize>) -> Vec<Word> {
        let (q, squares) = (self.q, self.squares());
        if range.end <= q {
            return self.n[range].to_vec();
        }
        let one = |words: &[Word]| words.iter().copied().map(Some).collect::<Vec<_>>();
        let below = range.start - q..range.end - q;
        let x = one(&self.n[below.clone()]);
        if range.end <= squares {
            let pairs = one(&self.n[range]).into_iter().zip(x);
            let words = self.more.next(f, pairs.collect());
            let pairs = one(&words).into_iter().zip(one(&self.d[below]));
            return self.less.next(f, pairs.collect());
        }
        let [word, sign] = match self.beyond {
            Some([_, sign]) => [sign; 2],
            None => self.signed(f),
        };
        let more = std::iter::once(word).chain(std::iter::repeat(sign));
        let pairs = x.into_iter().zip(more.map(Some)).collect();
        match range.end == squares + q {
            true => self.top.last(f, pairs, End::Drop),
            false => self.top.next(f, pairs),
        }
    }

    /// Carry less borrow, of which there are masks.
    fn signed(&mut self, f: &mut Words) -> [Word; 2] {
        let [carry, borrow] = [&self.more, &self.less].map(Streamed::carry);
        let word = f.links(Sum::Sub, vec![(borrow, carry)], End::Drop)[0];
        let sign = f.fresh();
        f.push(WordStep::Sign { x: word, out: sign });
        self.beyond = Some([word, sign]);
        [word, sign]
    }

    fn claim(&self, f: &mut Words) {
        self.squares.claim(f);
        self.middles.iter().for_each(|middle| middle.claim(f));
        let numbers = self.numbers.iter().enumerate();
        let terms = numbers.map(|(i, x)| Term {
            shift: 2 * self.q * i,
            y: x.clone(),
            ..Term::number(x)
        });
        f.claims.push(Claim {
            words: self.made.clone(),
            lead: 0,
            terms: terms.collect(),
            magnitude: None,
        });
    }
}
