//! Two nested loops on an AVR: their registers, their frame, and the function around them.

use machine::isa::avr::abi::STACK_LIMIT;
use machine::isa::avr::code::Insn;
use machine::isa::avr::cores::Core;
use machine::isa::avr::instructions::Op;
use machine::isa::avr::machine::Pointer;
use machine::program::Program;

use crate::refusal::LowerError;
use crate::schedule::Scans;
use crate::target::avr::draft::Draft;
use crate::target::avr::frame;
use crate::target::avr::setting::Setting;

pub(super) const X: u8 = Pointer::X.low();
pub(super) const Y: u8 = Pointer::Y.low();
pub(super) const Z: u8 = Pointer::Z.low();

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// Adds blocks.
    Strand,
    /// A word times `d` words, where there is no MUL.
    Row,
    /// The low word of a word times `m'`, where there is no MUL.
    Low,
}

/// Which register holds what.
pub(super) struct Layout {
    /// Blocks of the column; later passes of a loop.
    pub total: u8,
    /// Blocks that are still to be added.
    pub count: u8,
    pub zero: u8,
    /// A word of X, and those of Z.
    pub x: u8,
    pub y: Vec<u8>,
    /// Their product, but for its top word.
    pub row: Vec<u8>,
    pub sum: Vec<u8>,
    /// `m'`.
    pub inverse: u8,
}

/// Bytes of the frame, from where Y points.
pub(super) struct Frame {
    /// Where the words of each strand begin, X and Z.
    pub(super) strands: i32,
    /// Where the next words go.
    pub(super) out: i32,
    pub(super) result: i32,
    pub(super) modulus: i32,
    /// Where the next words of what is reduced are.
    pub(super) addend: i32,
    /// The sum of the columns before, of a square.
    pub(super) before: i32,
    pub(super) quotients: i32,
    /// The modulus, where it is not an operand.
    pub(super) numbers: i32,
    pub(super) bytes: i64,
}

/// Emits the loops.
pub(super) struct Nest<'a> {
    pub scans: &'a Scans,
    pub core: &'a Core,
    pub draft: Draft,
    pub calls: Vec<(usize, Label)>,
    pub labels: Vec<(Label, usize)>,
    pub on: Layout,
    /// Words of a block's side.
    pub d: usize,
    pub(super) frame: Frame,
}

/// Words of the largest sum: of a column's blocks, and what the columns before leave.
fn sum_words(scans: &Scans, d: usize) -> usize {
    let block = (1u128 << (8 * d)) - 1;
    let added = if scans.addend.is_some() { block } else { 0 };
    let column = (scans.strands.len() * (scans.n / d)) as u128 * block * block + added;
    let mut most = column;
    while most < column + (most >> (8 * d)) {
        most = column + (most >> (8 * d));
    }
    (128 - most.leading_zeros() as usize).div_ceil(8)
}

fn plan(core: &Core, scans: &Scans, most: usize, d: usize) -> Result<Layout, LowerError> {
    let setting = Setting {
        abi: core.abi,
        held: [false, false, scans.rows],
    };
    let mut registers = setting.registers();
    registers.truncate(most);
    let mut free = registers.into_iter();
    let mut take = |count: usize| -> Result<Vec<u8>, LowerError> {
        let list: Vec<u8> = free.by_ref().take(count).collect();
        let enough = list.len() == count;
        enough.then_some(list).ok_or(LowerError::Registers)
    };
    // Those that CPI reaches, then those that are moved in pairs.
    let control = take(2)?;
    let row = take(if d > 1 { d.next_multiple_of(2) } else { 0 })?;
    let sum = take(sum_words(scans, d))?;
    Ok(Layout {
        total: control[0],
        count: control[1],
        row,
        sum,
        zero: take(1)?[0],
        x: take(1)?[0],
        y: take(d)?,
        inverse: take(usize::from(scans.quotient.is_some()))?
            .first()
            .copied()
            .unwrap_or(control[1]),
    })
}

impl Frame {
    fn of(core: &Core, scans: &Scans, d: usize) -> Result<Self, LowerError> {
        // SP points below the last byte in use, Y as a stack pointer to it.
        let first = if core.abi.data_stack { 0 } else { 1 };
        let mut next = first;
        let mut room = |bytes: usize| {
            let at = next;
            next += bytes as i32;
            at
        };
        let square = scans.strands.iter().any(|s| s.pairs);
        let words = |wanted: bool, bytes: usize| if wanted { bytes } else { 0 };
        let quotients = scans.quotient.is_some();
        let frame = Self {
            strands: room(4 * scans.strands.len()),
            out: room(2),
            result: room(words(quotients, 2)),
            modulus: room(words(quotients, 2)),
            addend: room(words(scans.addend.is_some(), 2)),
            before: room(words(square, sum_words(scans, d) - d)),
            quotients: room(words(quotients, scans.n)),
            numbers: room(scans.words.stored().count()),
            bytes: 0,
        };
        let bytes = i64::from(next - first);
        match bytes > STACK_LIMIT {
            true => Err(LowerError::Stack {
                need: bytes as usize,
                limit: STACK_LIMIT as usize,
            }),
            false => Ok(Self { bytes, ..frame }),
        }
    }
}

impl<'a> Nest<'a> {
    /// Nothing yet, in blocks of `d` by `d` words.
    ///
    /// # Errors
    /// When registers or the stack run out.
    pub(super) fn new(
        core: &'a Core,
        scans: &'a Scans,
        most: usize,
        d: usize,
    ) -> Result<Self, LowerError> {
        Ok(Self {
            on: plan(core, scans, most, d)?,
            frame: Frame::of(core, scans, d)?,
            scans,
            core,
            draft: Draft::default(),
            calls: Vec::new(),
            labels: Vec::new(),
            d,
        })
    }

    pub(super) fn rr(&mut self, op: Op, d: u8, r: u8) {
        self.draft.rr(op, d, r);
    }

    pub(super) fn call(&mut self, label: Label) {
        self.calls.push((self.draft.insns.len(), label));
        self.draft.dk(Op::RCALL, 0, 0);
    }

    /// Loads a pointer from the frame.
    pub(super) fn get(&mut self, pointer: u8, at: i32) {
        self.draft.dk(Op::LDDY, pointer, at);
        self.draft.dk(Op::LDDY, pointer + 1, at + 1);
    }

    pub(super) fn put(&mut self, pointer: u8, at: i32) {
        self.draft.push(Insn::rk(Op::STDY, pointer, at));
        self.draft.push(Insn::rk(Op::STDY, pointer + 1, at + 1));
    }

    /// `pointer += by`, of X or Z.
    pub(super) fn move_by(&mut self, pointer: u8, by: i32) {
        match by {
            0 => {}
            1..64 => self.draft.dk(Op::ADIW, pointer, by),
            _ => {
                self.draft.dk(Op::SUBI, pointer, -by & 0xff);
                self.draft.dk(Op::SBCI, pointer + 1, -by >> 8 & 0xff);
            }
        }
    }

    /// The register that an operand's address comes in.
    pub(super) fn argument(&self, side: usize) -> Result<u8, LowerError> {
        let arguments = self.core.abi.arguments;
        arguments.get(1 + side).copied().ok_or(LowerError::Scans)
    }

    /// The address of the result, and of the modulus.
    pub(super) fn point_to_result(&mut self) {
        self.get(X, self.frame.result);
        self.get(Z, self.frame.modulus);
    }

    /// The function: what is there so far returns before what it calls.
    ///
    /// # Errors
    /// When something is too far away.
    pub(super) fn finish(mut self) -> Result<Program<Insn>, LowerError> {
        let main = self.draft.insns.len();
        self.subroutines()?;
        let (before, after) = frame::frame(self.core, &self.draft.insns);
        for (at, label) in &self.calls {
            let target = self.labels.iter().find(|(l, _)| l == label);
            let far = target.ok_or(LowerError::Reach)?.1 as i64 - *at as i64 - 1;
            let over = if *at < main { after.len() as i64 } else { 0 };
            self.draft.insns[*at].ops.k = (far + over) as i32;
        }
        let place = |at: usize| before.len() + at + if at < main { 0 } else { after.len() };
        let mut program = Program::new();
        let end = (before.len() + main, "restore registers".to_string());
        let notes = self.draft.notes.into_iter();
        let notes = notes.map(|(at, text)| (place(at), text));
        program.notes = [(0, "save registers".to_string()), end]
            .into_iter()
            .chain(notes)
            .collect();
        program.notes.sort_by_key(|(at, _)| *at);
        let (main, rest) = self.draft.insns.split_at(main);
        program.insns = [&before, main, &after, rest].concat();
        Ok(program)
    }
}
