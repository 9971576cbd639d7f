//! Cutting words into pieces of bits and joining them, for variables and for secrets.

use crate::domain::abstract_memory::AbstractMemory;
use crate::domain::answers::Answers;
use crate::domain::cells::Pieces;
use crate::domain::public::Public;
use crate::domain::secret::{Secret, Taint};
use crate::domain::traced;
use crate::domain::variable::Value;

impl<A: Answers> Pieces for A {
    type Word = Value;

    fn memory(&mut self) -> &mut AbstractMemory<Value> {
        &mut self.run_mut().memory
    }

    fn cut(&mut self, word: Value, width: u32, from: u32, len: u32) -> Value {
        traced::piece(self, word, width, from, len)
    }

    fn join(&mut self, pieces: &[(Value, u32)]) -> Value {
        traced::whole(self, pieces)
    }
}

impl Pieces for Secret {
    type Word = Taint;

    fn memory(&mut self) -> &mut AbstractMemory<Taint> {
        &mut self.memory
    }

    fn cut(&mut self, word: Taint, _: u32, from: u32, len: u32) -> Taint {
        match word {
            Taint::Public(Public::Known(k)) => {
                Taint::Public(Public::Known(k >> from & ((1 << len) - 1)))
            }
            Taint::Public(_) | Taint::Secret { .. } => self.mix(&[word], &[]),
        }
    }

    fn join(&mut self, pieces: &[(Taint, u32)]) -> Taint {
        let (mut number, mut weight) = (0, 0);
        for (piece, width) in pieces {
            let Taint::Public(Public::Known(k)) = piece else {
                let words: Vec<_> = pieces.iter().map(|(word, _)| *word).collect();
                return self.mix(&words, &[]);
            };
            number |= k << weight;
            weight += width;
        }
        Taint::Public(Public::Known(number))
    }
}
