//! Claims as bytes: a section beside the code in an object, with which `check` finds the proof that `gen` found.
//!
//! They lie in a section that takes no memory, [`SECTION`], as one record for each function, and are hints:
//! the prover shows each before it uses it. All numbers are unsigned LEB128, signed ones zigzag, so that
//! records are alike on machines of either byte order:
//!
//! ```text
//! record     VERSION, bytes of the rest, bytes of the name, name, claims
//! claim      list of words, kind, terms: count, then (sign + 1, shift, list x, list y) each
//! kind       0: an equation; 1: an absolute value, then (list wrapped, list of the mask);
//!            2: an equation whose words have zeros below them, then how many
//! list       count of runs, then runs
//! run        2 (words - 1) + (visit > 1), address behind that of the run before (signed), visit if > 1, place
//! place      2 r: register r; 1, offset (signed), step: on the stack; 3, offset, step: on the stack of data;
//!            2 i + 5, offset, step: in operand i
//! ```
//!
//! Words of a run lie in memory `step` bytes apart; words in registers are runs of their own.

use machine::program::{Area, Claim, Magnitude, Place, Term, Written};

/// The name of the section.
pub const SECTION: &str = ".lozenge.claims";
const VERSION: u64 = 2;

/// The claims about the function `name`, their instructions given by bytes from its start.
pub fn encode(name: &str, claims: &[Claim]) -> Vec<u8> {
    let mut body = Writer::default();
    body.number(name.len() as u64);
    body.bytes.extend(name.bytes());
    for claim in claims {
        body.claim(claim);
    }
    let mut record = Writer::default();
    record.number(VERSION);
    record.number(body.bytes.len() as u64);
    record.bytes.extend(body.bytes);
    record.bytes
}

/// The functions with claims in `bytes`; of what is broken, too long or of another version, nothing.
pub fn decode(bytes: &[u8]) -> Vec<(String, Vec<Claim>)> {
    let mut list = Vec::new();
    let mut room = MOST;
    let mut reader = Reader::of(bytes, &mut room);
    while let Some(version) = reader.number() {
        let Some(rest) = reader.count().and_then(|len| reader.take(len)) else {
            break;
        };
        if version == VERSION {
            list.extend(record(Reader::of(rest, reader.room)));
        }
    }
    list
}

fn record(mut reader: Reader<'_>) -> Option<(String, Vec<Claim>)> {
    let len = reader.count()?;
    let name = String::from_utf8(reader.take(len)?.to_vec()).ok()?;
    let mut claims = Vec::new();
    while !reader.bytes.is_empty() {
        claims.push(reader.claim()?);
    }
    Some((name, claims))
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    /// The instruction that was named last.
    at: usize,
}

impl Writer {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn signed(&mut self, value: i64) {
        self.number((value << 1 ^ value >> 63) as u64);
    }

    fn claim(&mut self, claim: &Claim) {
        self.list(&claim.words);
        match &claim.magnitude {
            Some(made) => {
                self.number(1);
                self.list(&made.wrapped);
                self.list(&[made.mask]);
            }
            None if claim.lead > 0 => {
                self.number(2);
                self.number(claim.lead as u64);
            }
            None => self.number(0),
        }
        self.number(claim.terms.len() as u64);
        for term in &claim.terms {
            self.number((i64::from(term.sign) + 1) as u64);
            self.number(term.shift as u64);
            self.list(&term.x);
            self.list(&term.y);
        }
    }

    fn list(&mut self, words: &[Written]) {
        let mut runs: Vec<(Written, i64, i64)> = Vec::new();
        for word in words {
            let last = runs.last_mut();
            let goes_on = last.and_then(|run| Some((step(run, word)?, run)));
            match goes_on {
                Some((step, run)) => *run = (run.0, run.1 + 1, step),
                None => runs.push((*word, 1, 0)),
            }
        }
        self.number(runs.len() as u64);
        for (first, count, step) in runs {
            let again = first.visit > 1;
            self.number(2 * (count as u64 - 1) + u64::from(again));
            self.signed(first.insn as i64 - self.at as i64);
            self.at = first.insn;
            if again {
                self.number(first.visit as u64);
            }
            match first.place {
                Place::Register(r) => self.number(2 * u64::from(r)),
                Place::Memory(area, offset) => {
                    self.number(match area {
                        Area::Stack => 1,
                        Area::DataStack => 3,
                        Area::Operand(i) => 2 * i as u64 + 5,
                    });
                    self.signed(offset);
                    self.number(step as u64);
                }
            }
        }
    }
}

/// The step of a run (its first word, how many, their step), if `word` goes on with it; the second word
/// sets it.
fn step((first, count, step): &(Written, i64, i64), word: &Written) -> Option<i64> {
    let (Place::Memory(area, from), Place::Memory(other, to)) = (first.place, word.place) else {
        return None;
    };
    let alike = area == other && (first.insn, first.visit) == (word.insn, word.visit);
    let step = if *count == 1 { to - from } else { *step };
    (alike && step > 0 && to == from + step * count).then_some(step)
}

/// Words, terms and claims that a file may hold, so that a few bytes that say "many" take no memory: a
/// product of 2048 bits in five levels holds a thirtieth.
const MOST: u64 = 1 << 20;

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Words and terms that may still come.
    room: &'a mut u64,
}

impl<'a> Reader<'a> {
    fn of<'b>(bytes: &'b [u8], room: &'b mut u64) -> Reader<'b> {
        Reader { bytes, at: 0, room }
    }

    /// Makes room for so many words or terms.
    fn spend(&mut self, count: u64) -> Option<()> {
        *self.room = self.room.checked_sub(count)?;
        Some(())
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..63).step_by(7) {
            let byte = *self.take(1)?.first()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A number of bytes, runs or words, of which no file has more.
    fn count(&mut self) -> Option<usize> {
        let value = self.number()?;
        (value <= self.bytes.len() as u64 || value <= MOST).then_some(value as usize)
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn claim(&mut self) -> Option<Claim> {
        self.spend(1)?;
        let words = self.list()?;
        let (mut magnitude, mut lead) = (None, 0);
        match self.number()? {
            0 => {}
            1 => {
                magnitude = Some(Magnitude {
                    wrapped: self.list()?,
                    mask: *self.list()?.first()?,
                });
            }
            2 => lead = self.count()?,
            _ => return None,
        }
        let count = self.count()?;
        let mut terms = Vec::new();
        for _ in 0..count {
            self.spend(1)?;
            terms.push(Term {
                sign: i8::try_from(self.number()?).ok()?.checked_sub(1)?,
                shift: self.count()?,
                x: self.list()?,
                y: self.list()?,
            });
        }
        Some(Claim {
            words,
            lead,
            terms,
            magnitude,
        })
    }

    fn list(&mut self) -> Option<Vec<Written>> {
        let runs = self.count()?;
        let mut words = Vec::new();
        for _ in 0..runs {
            let head = self.number()?;
            self.at = self.at.checked_add_signed(self.signed()? as isize)?;
            let visit = if head & 1 == 1 { self.number()? } else { 1 };
            let place = self.number()?;
            let (offset, step) = match place & 1 {
                0 => (0, 0),
                _ => (self.signed()?, self.number()? as i64),
            };
            self.spend(head / 2 + 1)?;
            for i in 0..=(head / 2) as i64 {
                let area = match place {
                    1 => Area::Stack,
                    3 => Area::DataStack,
                    _ => Area::Operand((place >> 1).saturating_sub(2) as usize),
                };
                let offset = offset.checked_add(step.checked_mul(i)?)?;
                words.push(Written {
                    insn: self.at,
                    visit: visit as usize,
                    place: match place & 1 {
                        0 => Place::Register(u8::try_from(place >> 1).ok()?),
                        _ => Place::Memory(area, offset),
                    },
                });
            }
        }
        Some(words)
    }
}
