//! Programs that call kernels: exponentiations, RSA, inverses and X25519, in steps that every machine can lower.
//!
//! ```text
//! Plan --exponentiation, rsa, inversion, x25519--> Driver --Isa::drive--> Assembled --image::link--> code that runs
//! ```
//!
//! All numbers lie in one area of memory, at places known when the driver is made; the function takes
//! a pointer to it. Machine words that count and select lie at its start: the [`Cell`]s.

pub mod chain;
pub mod exponentiation;
mod field;
pub mod image;
pub mod inversion;
pub mod modulo;
pub mod numbers;
pub mod rsa;
pub mod x25519;

use machine::program::Program;
use num_bigint::BigUint;
use spec::modulus::Modulus;

use crate::request::Request;

/// A word of the driver's own, at the start of the area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// Bits of the exponent that were taken and not used yet.
    Digit,
    /// Where the word of the exponent ends that comes next: bytes from the start of the area.
    Next,
    /// Bits that are left in [`Cell::Word`].
    Left,
    /// The word of the exponent that bits are taken from, from the top.
    Word,
    /// Where the next entry of a table goes: bytes from the start of the area.
    Entry,
    /// What a sum carries, or a difference borrows.
    Carry,
    /// The same, of another.
    Borrow,
    /// What the halves of a modulus carry when they are added.
    Halves,
    /// Counters of loops: the outer one, and one within it.
    Outer,
    Inner,
}

impl Cell {
    /// How many there is room for.
    pub const COUNT: usize = 10;
    /// The widest step from the area's start to a cell must be a displacement: 63 bytes on the
    /// machine with the shortest.
    const MOST_BYTES: usize = 4;

    /// Bytes of a cell where words have `word` bytes: 16 bits at least.
    pub fn bytes(word: usize) -> usize {
        word.clamp(2, Self::MOST_BYTES)
    }

    /// Bytes from the start of the area.
    pub fn at(self, word: usize) -> usize {
        self as usize * Self::bytes(word)
    }
}

/// A number in the area: words, the least significant first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Bytes from the start of the area.
    pub at: usize,
    pub bytes: usize,
}

impl Stored {
    /// The `bytes` bytes from byte `from` on.
    pub fn part(self, from: usize, bytes: usize) -> Self {
        let at = self.at + from;
        Self { at, bytes }
    }
}

/// Where a copy goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum To {
    Place(usize),
    /// To the place that [`Cell::Entry`] says, which then moves on behind it.
    Entry,
}

/// `to = to + from * s + carry`, or the difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MultiplyAdd {
    pub to: Stored,
    /// None: only the carry is added.
    pub from: Option<usize>,
    pub subtract: bool,
    /// The cell with `s`, 0 or 1; none for 1.
    pub times: Option<Cell>,
    /// The cell with the carry that comes in; none for 0.
    pub carry: Option<Cell>,
    /// The cell that takes the carry that goes out.
    pub out: Option<Cell>,
}

impl MultiplyAdd {
    /// `to = to + from`.
    pub fn add(to: Stored, from: usize) -> Self {
        Self {
            to,
            from: Some(from),
            subtract: false,
            times: None,
            carry: None,
            out: None,
        }
    }

    /// `to = to - from`.
    pub fn subtract(to: Stored, from: usize) -> Self {
        Self {
            subtract: true,
            ..Self::add(to, from)
        }
    }

    /// Only if the cell holds 1, and in the same time if not.
    pub fn times(self, cell: Cell) -> Self {
        Self {
            times: Some(cell),
            ..self
        }
    }

    /// With what this cell carries.
    pub fn with(self, cell: Cell) -> Self {
        Self {
            carry: Some(cell),
            ..self
        }
    }

    /// What it carries goes into this cell.
    pub fn out(self, cell: Cell) -> Self {
        Self {
            out: Some(cell),
            ..self
        }
    }
}

/// What a driver does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Calls a kernel with pointers to these places.
    Call {
        kernel: usize,
        pointers: Vec<usize>,
    },
    /// Calls a routine of the driver.
    Do(usize),
    /// The body so many times, counted in the cell.
    Repeat {
        times: usize,
        counter: Cell,
        body: Vec<Action>,
    },
    /// The next bit to take is the highest of this exponent.
    Rewind(Stored),
    /// `digit = 2 digit + bit`.
    Bit,
    /// `digit = 0`.
    NoDigit,
    /// A branch on the exponent.
    IfDigit {
        /// From which digit on the body is done, 1 or more.
        least: u8,
        body: Vec<Action>,
        otherwise: Vec<Action>,
    },
    Copy {
        to: To,
        from: Stored,
    },
    /// The next entry of a table is the one here.
    Table(usize),
    /// `to` becomes the number where [`Cell::Next`] says, which then moves on behind it.
    Take(Stored),
    Number {
        to: Stored,
        value: u8,
    },
    /// `to` becomes this number, whose words are in the code.
    Constant {
        to: Stored,
        value: BigUint,
    },
    /// `to = table[digit]`, every entry read, in the same time for all digits.
    Lookup {
        to: Stored,
        table: usize,
        entries: usize,
    },
    /// `to = table[digit - less]` for a digit that is more, which time and addresses tell.
    Pick {
        to: Stored,
        table: usize,
        less: u8,
    },
    /// Exchanges two numbers if the digit is 1, in the same time if it is 0.
    Swap {
        a: Stored,
        b: usize,
    },
    MultiplyAdd(MultiplyAdd),
    /// `to = to + word`, the word at a place, which may be negative. The cell takes what `to` would need above it,
    /// negated: 1 if the sum is negative, 0, or -1 if it is too long.
    AddWord {
        to: Stored,
        word: usize,
        lacks: Cell,
    },
    /// `to = 1` if the number is not 0, else 0.
    NotZero {
        to: Cell,
        of: Stored,
    },
    /// The first cell less the second.
    Fewer(Cell, Cell),
    /// The first cell becomes 1 if one of two bits is 1 and the other is not, else 0.
    Differ(Cell, Cell),
}

/// The field that a driver exponentiates by.
pub const EXPONENT: &str = "exponent";

/// What a number in the area is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The caller puts it there, and it is still there at return.
    Input,
    /// The driver leaves it there.
    Output,
    /// The driver works in it.
    Work,
}

/// A number in the area, for the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    pub name: &'static str,
    pub place: Stored,
    pub role: Role,
    /// How it is computed, for the header.
    pub meaning: &'static str,
}

/// A function that calls kernels.
#[derive(Clone, Debug)]
pub struct Driver {
    /// Bytes of a machine word.
    pub word: usize,
    /// The first is the function; the others it calls, without arguments.
    pub routines: Vec<Vec<Action>>,
    pub fields: Vec<Field>,
    /// Bytes of the area.
    pub bytes: usize,
    pub kernels: Vec<Request>,
    /// What products are modulo: an operand, or a number that is in the kernels.
    pub modulus: Modulus,
    /// Does it clear all of its area but inputs and outputs at the end?
    pub wipes: bool,
}

impl Driver {
    /// One that does nothing yet.
    pub fn new(word: usize) -> Self {
        Self {
            word,
            routines: vec![Vec::new()],
            fields: Vec::new(),
            bytes: (Cell::COUNT * Cell::bytes(word)).next_multiple_of(word),
            kernels: Vec::new(),
            modulus: Modulus::Runtime,
            wipes: false,
        }
    }

    /// The same, for products modulo `modulus`.
    pub fn modulo(word: usize, modulus: Modulus) -> Self {
        Self {
            modulus,
            ..Self::new(word)
        }
    }

    /// Room for a number of `bits` bits.
    pub fn field(
        &mut self,
        name: &'static str,
        bits: u32,
        role: Role,
        meaning: &'static str,
    ) -> Stored {
        let bytes = (bits as usize).div_ceil(8).next_multiple_of(self.word);
        let place = Stored {
            at: self.bytes,
            bytes,
        };
        self.bytes += bytes;
        self.fields.push(Field {
            name,
            place,
            role,
            meaning,
        });
        place
    }

    /// The same, which clears what it worked in at the end: its cells, and every field that is neither input nor output.
    pub fn wiped(mut self) -> Self {
        let numbers = self.wiped_places().into_iter();
        let clears = numbers.map(|to| Action::Number { to, value: 0 });
        self.routines[0].extend(clears);
        self.wipes = true;
        self
    }

    /// Where what [`Driver::wiped`] clears lies.
    pub fn wiped_places(&self) -> Vec<Stored> {
        let fields = self.fields.iter();
        let work = fields.filter(|f| f.role == Role::Work).map(|f| f.place);
        let first = self.fields.iter().map(|f| f.place.at).min();
        let cells = Stored {
            at: 0,
            bytes: first.unwrap_or(self.bytes),
        };
        work.chain([cells]).collect()
    }

    /// The field of this name.
    pub fn named(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// How often each kernel is called, on average over exponents without pattern.
    pub fn calls(&self) -> Vec<f64> {
        let mut calls = vec![0.0; self.kernels.len()];
        self.count(&self.routines[0], 1.0, &mut calls);
        calls
    }

    fn count(&self, steps: &[Action], times: f64, calls: &mut [f64]) {
        for step in steps {
            match step {
                Action::Call { kernel, .. } => calls[*kernel] += times,
                Action::Do(routine) => self.count(&self.routines[*routine], times, calls),
                Action::Repeat { times: n, body, .. } => self.count(body, times * *n as f64, calls),
                Action::IfDigit {
                    least,
                    body,
                    otherwise,
                } => {
                    // A digit of k bits that begins with a 1 takes k + 1 bits: before each is a zero on average.
                    let share = times / f64::from(u8::BITS - least.leading_zeros() + 1);
                    self.count(body, share, calls);
                    self.count(otherwise, times - share, calls);
                }
                _ => {}
            }
        }
    }

    /// Every step, those within others, too.
    pub fn steps(&self) -> Vec<&Action> {
        let mut open: Vec<&Action> = self.routines.iter().flatten().collect();
        let mut all = Vec::new();
        while let Some(step) = open.pop() {
            all.push(step);
            match step {
                Action::Repeat { body, .. } => open.extend(body),
                Action::IfDigit {
                    body, otherwise, ..
                } => open.extend(body.iter().chain(otherwise)),
                _ => {}
            }
        }
        all
    }
}

/// A driver as instructions of a machine, its calls of kernels still open.
#[derive(Clone, Debug)]
pub struct Assembled<I> {
    pub program: Program<I>,
    /// Index of each instruction that calls a kernel, and of the kernel.
    pub calls: Vec<(usize, usize)>,
}
