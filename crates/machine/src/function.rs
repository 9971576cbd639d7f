//! A function as it lies in memory, and how it is called: what every run starts from.

use std::ops::Range;
use std::rc::Rc;

use num_bigint::BigUint;
use spec::{Alias, Spec};

use crate::domain::Abstract;
use crate::domain::concrete::Bits;
use crate::domain::place::{Address, Base};
use crate::program::Claim;
pub use crate::segment::{Addresses, Marks, Segment};

/// What an instruction of four bytes lies at a multiple of, where code is data.
const CODE_ALIGN: u64 = 4;

/// What an argument says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// A pointer to the result (0), a source (1, 2) or a scratch area (3 and on).
    Pointer(usize),
    /// A number, the same in every run: a length.
    Number(u64),
    /// The only word of a source (1, 2, 3) itself: no pointer to it.
    Word(usize),
    /// `m' = -m^-1 mod 2^w` itself, which then does not lie behind the modulus.
    Inverse,
    /// Anything.
    Unknown,
}

/// Where an argument is at entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentPlace {
    /// From this register on, least significant word first.
    Register(u8),
    /// So many bytes above the stack pointer.
    Stack(i64),
}

/// An argument; without a place, where the calling convention puts it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Argument {
    pub passed: Passed,
    pub bytes: usize,
    pub place: Option<ArgumentPlace>,
}

/// Memory that a caller hands over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Area {
    pub bytes: usize,
    /// It lies at a multiple of so many bytes; of those of a word of the operands if not given.
    pub align: Option<u64>,
}

/// Addresses of a part's memory that a run on numbers may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ram {
    /// Of the result, the operands and the areas.
    pub operands: Range<usize>,
    /// Of the stack, with what lies above its pointer at entry.
    pub stack: Range<usize>,
}

/// A function of a program.
#[derive(Clone, Debug)]
pub struct Function {
    /// Program memory: the function, what it calls, and what lies between.
    pub code: Rc<[u8]>,
    /// Address of the first byte of `code`; none if it works anywhere and is run at one place.
    pub origin: Option<u64>,
    /// Address of the function.
    pub entry: u64,
    /// Data memory.
    pub data: Vec<Segment>,
    /// What is to be known of program memory beside its bytes, by address.
    pub marks: Rc<Marks>,
    /// What addresses in reports count from.
    pub first: u64,
    /// Is it an object that no linker has placed? Then its addresses are made up, and no number is one.
    pub movable: bool,
    /// Do its callers put its address into the register that position-independent code is called by?
    pub called_by_address: bool,
    /// None: pointers to the result and the sources, of which there are three at most.
    pub arguments: Option<Vec<Argument>>,
    /// Operands that its callers pass as one pointer.
    pub together: Alias,
    /// The areas that the function may use as it likes.
    pub areas: Vec<Area>,
    /// Registers that this caller lets it destroy, whatever the calling convention says.
    pub scratch: Vec<u8>,
    /// Bits of the words that operands are arrays of; none for the machine's.
    pub limb_bits: Option<u32>,
    /// Bits of the word that it returns, if that is part of the result.
    pub returned_bits: Option<u32>,
    /// Operands lie at multiples of so many bytes.
    pub align: u64,
    /// In a run on numbers, is an access outside the operands, areas, constants and stacks a fault, as in a proof?
    pub fenced: bool,
    /// Where a run on numbers finds memory; none: all that addresses reach is there.
    pub ram: Option<Ram>,
    /// The most instructions that a run may take, if its domain does not set a lower limit.
    pub limit: u64,
    /// Stepping stones for the proof, about the instructions at these addresses.
    pub claims: Vec<Claim>,
}

impl Function {
    /// Straight code, called with pointers to the result and the sources.
    pub fn kernel(code: &[u8]) -> Self {
        Self {
            code: Rc::from(code),
            origin: None,
            entry: 0,
            data: Vec::new(),
            marks: Rc::default(),
            first: 0,
            movable: false,
            called_by_address: false,
            arguments: None,
            together: Alias::Distinct,
            areas: Vec::new(),
            scratch: Vec::new(),
            limb_bits: None,
            returned_bits: None,
            align: 1,
            fenced: false,
            ram: None,
            limit: u64::MAX,
            claims: Vec::new(),
        }
    }

    /// The same, which returns what the operation of `spec` returns: a word.
    pub fn returning(self, spec: &Spec) -> Self {
        Self {
            returned_bits: spec.op.returns().then_some(spec.word_bits),
            ..self
        }
    }

    /// Bits of the words that operands are arrays of, on a machine with registers of `register_bits`.
    pub fn word_bits(&self, register_bits: u32) -> u32 {
        self.limb_bits.unwrap_or(register_bits)
    }

    /// Is `m'` an argument, so that it does not lie behind the modulus?
    pub fn inverse_is_passed(&self) -> bool {
        let list = self.arguments.iter().flatten();
        list.into_iter().any(|a| a.passed == Passed::Inverse)
    }

    /// Bytes of memory that each source of `spec` takes.
    pub fn source_bytes(&self, spec: &Spec) -> Vec<usize> {
        let mut list = spec.source_bytes();
        if let (true, Some(modulus)) = (self.inverse_is_passed(), list.last_mut()) {
            *modulus = modulus.saturating_sub(spec.word_bits as usize / 8);
        }
        list
    }

    /// Address of the first byte of code.
    pub fn start(&self) -> u64 {
        self.origin.unwrap_or(0)
    }

    /// What addresses of the program count from where numbers are none: its own place.
    pub fn image(&self) -> Base {
        match self.movable {
            true => Base::IMAGE,
            false => Base::ABSOLUTE,
        }
    }

    /// `pc` as a disassembly of the file shows it.
    pub fn shown(&self, pc: usize) -> usize {
        pc.wrapping_sub(self.first as usize)
    }

    /// The bytes of program memory from `address` on, at most `len`.
    pub fn code_at(&self, address: u64, len: usize) -> &[u8] {
        let from = address.checked_sub(self.start()).unwrap_or(u64::MAX);
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let rest = self.code.get(from..).unwrap_or_default();
        &rest[..len.min(rest.len())]
    }

    /// The arguments; a pointer takes `pointer` bytes.
    pub fn arguments(&self, pointer: usize) -> Vec<Argument> {
        let usual = || {
            let pass = |i| Argument {
                passed: Passed::Pointer(i),
                bytes: pointer,
                place: None,
            };
            (0..4).map(pass).collect()
        };
        self.arguments.clone().unwrap_or_else(usual)
    }

    /// An address from which on a concrete run may put operands and stack: clear of the program.
    pub fn free_memory(&self) -> usize {
        /// More than any run needs.
        const ROOM: u64 = 0x10_0000;
        let taken = self.constants(true);
        let clear = |start: &u64| {
            let free = |s: &Segment| s.end() <= *start || start + ROOM <= s.address;
            taken.iter().all(free)
        };
        let places = (0..16u64).map(|i| i << 27);
        places.into_iter().find(clear).unwrap_or(0) as usize
    }

    /// Data memory that is the same in every run; code is data where it has an address of its own.
    pub fn constants(&self, code_is_data: bool) -> Vec<Segment> {
        let code = self.origin.filter(|_| code_is_data).map(|address| Segment {
            base: self.image(),
            address,
            // Instructions lie at multiples of their words.
            align: CODE_ALIGN,
            bytes: self.code.clone(),
            writable: false,
            marks: self.marks.clone(),
        });
        self.data.iter().cloned().chain(code).collect()
    }
}

/// Places of `arguments` that are handed over in registers of `word` bytes first (`registers`, in
/// order; an argument takes whole ones), then on the stack from `stack` bytes above its pointer.
pub fn in_words(
    arguments: &[Argument],
    registers: &[u8],
    stack: i64,
    word: usize,
) -> Vec<ArgumentPlace> {
    let (mut used, mut above) = (0, stack);
    let mut places = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let words = argument.bytes.div_ceil(word).max(1);
        let usual = match registers.get(used..used + words) {
            Some(list) => ArgumentPlace::Register(list[0]),
            None => ArgumentPlace::Stack(above),
        };
        if argument.place.is_none() {
            match usual {
                ArgumentPlace::Register(_) => used += words,
                ArgumentPlace::Stack(_) => {
                    (used, above) = (registers.len(), above + (word * words) as i64)
                }
            }
        }
        places.push(argument.place.unwrap_or(usual));
    }
    places
}

/// Puts the word that a function returned, in registers of `W` bits from the lowest on, where proofs
/// find it.
pub fn keep_returned<D: Abstract, const W: u32>(d: &mut D, registers: &[D::Word<W>]) {
    for (i, word) in registers.iter().enumerate() {
        let offset = i64::from(W / 8) * i as i64;
        let base = Base::RETURNED;
        d.init(Address { base, offset }, word);
    }
}

/// `result` with the number in such registers above its `bits` bits.
pub fn with_returned<const W: u32>(result: BigUint, bits: usize, registers: &[Bits<W>]) -> BigUint {
    let above = |(sum, weight): (BigUint, usize), word: &Bits<W>| {
        (sum + (BigUint::from(word.0) << weight), weight + W as usize)
    };
    registers.iter().fold((result, bits), above).0
}

/// The word `part` of an argument in an abstract run, its pointers to `bases`.
pub fn abstract_word<D: Abstract, const W: u32>(
    d: &mut D,
    argument: &Argument,
    bases: &[Base],
    part: u32,
) -> D::Word<W> {
    match argument.passed {
        Passed::Pointer(i) if i < bases.len() => d.pointer(bases[i], 0, part),
        Passed::Number(k) => d.known(k.checked_shr(W * part).unwrap_or(0)),
        Passed::Word(i) if i < bases.len() && part == 0 => word_at(d, bases[i]),
        Passed::Inverse if part == 0 => word_at(d, Base::INVERSE),
        Passed::Pointer(_) | Passed::Word(_) | Passed::Inverse | Passed::Unknown => {
            d.unknown("an argument that may be anything".into())
        }
    }
}

/// The word that an argument is, which lies where no pointer leads.
fn word_at<D: Abstract, const W: u32>(d: &mut D, base: Base) -> D::Word<W> {
    let word = d.load(Address { base, offset: 0 });
    word.unwrap_or_else(|_| d.unknown("a word of another width".into()))
}

/// The number in an argument of a concrete run, its pointers to `addresses`.
pub fn concrete_number(argument: &Argument, addresses: &[usize]) -> u64 {
    /// What is in an argument that may be anything.
    const ANYTHING: u64 = 0x5a5a_5a5a_5a5a_5a5a;
    match argument.passed {
        Passed::Pointer(i) => addresses.get(i).map_or(ANYTHING, |at| *at as u64),
        Passed::Number(k) => k,
        // `numbers::hand_over` puts it there.
        Passed::Word(_) | Passed::Inverse | Passed::Unknown => ANYTHING,
    }
}
