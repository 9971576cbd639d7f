//! Carry catchers (Scott, Szczechowiak 2007): products are added to two words, and the carry is
//! counted in a word of its own, the catcher, instead of running on.

use crate::schedule::{Chain, End, Link, Sum, Word, WordStep, Words};

/// The words of the result so far, and what was caught for each.
pub struct Catching {
    words: Words,
    sum: Vec<Option<Word>>,
    caught: Vec<Option<Word>>,
    /// How much each catcher may hold at most, and what a word can hold.
    count: Vec<u64>,
    most: u64,
}

impl Catching {
    /// Nothing yet of a result of `length` words.
    pub fn new(words: Words, length: usize) -> Self {
        let most = (1 << words.word_bits) - 1;
        Self {
            words,
            sum: vec![None; length],
            caught: vec![None; length],
            count: vec![0; length],
            most,
        }
    }

    /// The steps, with the sum for their result.
    pub fn finish(self) -> Words {
        let mut words = self.words;
        words.result = self.sum.into_iter().flatten().collect();
        words
    }

    /// Adds `x y W^k`, or twice that. Words from `end` on are not in use.
    pub fn add(&mut self, k: usize, [x, y]: [Word; 2], end: usize, twice: bool) {
        let times = if twice { 2 } else { 1 };
        if self.count.get(k + 2).is_some_and(|c| c + times > self.most) {
            self.settle(k, end);
        }
        let [low, high] = self.words.product(x, y);
        let (mut low, mut high) = (low, high);
        if twice {
            [low, high] = self.chain(k, [(Some(low), Some(low)), (Some(high), Some(high))]);
        }
        let [low, high] = match (self.sum[k], self.sum[k + 1]) {
            (None, None) => [low, high],
            sums => self.chain(k, [(sums.0, Some(low)), (sums.1, Some(high))]),
        };
        (self.sum[k], self.sum[k + 1]) = (Some(low), Some(high));
    }

    /// Two words at `k`, whose carry is caught for word `k + 2`.
    fn chain(&mut self, k: usize, links: [(Option<Word>, Option<Word>); 2]) -> [Word; 2] {
        let [low, high] = [self.words.fresh(), self.words.fresh()];
        let end = match self.caught.get(k + 2) {
            None => End::Drop,
            Some(before) => {
                let out = self.words.fresh();
                let end = match *before {
                    Some(x) => End::Into { x, out },
                    None => End::Carry { out },
                };
                self.caught[k + 2] = Some(out);
                self.count[k + 2] += 1;
                end
            }
        };
        let [(x0, y0), (x1, y1)] = links;
        self.words.push(WordStep::Chain(Chain {
            sum: Sum::Add,
            carry: None,
            links: vec![Link::new(x0, y0, low), Link::new(x1, y1, high)],
            end,
        }));
        [low, high]
    }

    /// Adds what was caught to the words from `first` to `end`.
    pub fn settle(&mut self, first: usize, end: usize) {
        let Some(from) = (first..end).find(|k| self.caught[*k].is_some()) else {
            return;
        };
        let links = (from..end).map(|k| {
            let out = self.words.fresh();
            let link = Link::new(self.sum[k], self.caught[k].take(), out);
            (self.sum[k], self.count[k]) = (Some(out), 0);
            link
        });
        let links = links.collect();
        self.words.push(WordStep::Chain(Chain {
            sum: Sum::Add,
            carry: None,
            links,
            end: End::Drop,
        }));
    }
}
