//! Instructions with registers from instructions on values: what is not in a register is loaded
//! before it is read, what must wait is stored when it is made.

use machine::isa::avr::code::Insn;
use machine::isa::avr::instructions::{Op, Ops};

use crate::allocate::OutOfRegisters;
use crate::target::avr::code::{Code, Value, VirtualInsn};
use crate::target::avr::colour;
use crate::target::avr::pointers::{Array, CARRY, Item};
use crate::target::avr::registers::{Registers, UPPER};
use crate::target::avr::residence::Residence;
use crate::target::avr::webs::Webs;

/// Code whose accesses still want pointers.
pub struct Assigned {
    pub items: Vec<Item>,
    pub notes: Vec<(usize, String)>,
    /// The item after which each value is in the given register.
    pub made: Vec<Option<(usize, u8)>>,
    /// Words of scratch memory.
    pub scratch: usize,
    /// The register at the end of what is returned.
    pub returned: Option<u8>,
    /// The steps for which a value came back into a register.
    pub back: Vec<usize>,
    /// Numbers that came through another register.
    moved: usize,
}

/// Registers for all values, as they come first: in pairs where that is for nothing.
///
/// # Errors
/// When there are fewer registers than `residence` was made for.
pub fn assign(
    code: &Code,
    residence: Residence,
    registers: Registers,
) -> Result<First<'_>, OutOfRegisters> {
    let webs = Webs::of(code, &residence, &registers);
    let order: Vec<u8> = registers.free.iter().map(|(r, _)| *r).collect();
    let colours = colour::first(&webs.list, &webs.pairs, &order).ok_or(OutOfRegisters)?;
    let pairs = webs.pairs.iter();
    let is_single = |[low, high]: &&[usize; 2]| !is_pair(colours[*low], colours[*high]);
    let single = pairs.filter(is_single).count();
    let all = Assignment::of(code, &residence, &registers, &webs, &colours).all()?;
    Ok(First {
        single,
        assigned: all,
        code,
        residence,
        registers,
        webs,
        order,
        colours,
    })
}

/// Does MOVW take both?
fn is_pair(low: u8, high: u8) -> bool {
    low.is_multiple_of(2) && high == low + 1
}

/// A first assignment. Another one differs from it by a MOVW for two instructions of a pair, and by a register that
/// LDI can load, so that a number needs no MOV.
pub struct First<'a> {
    pub assigned: Assigned,
    /// Pairs that are none.
    single: usize,
    code: &'a Code,
    residence: Residence,
    registers: Registers,
    webs: Webs,
    order: Vec<u8>,
    colours: Vec<u8>,
}

impl First<'_> {
    /// Cycles that another assignment saves at most: one for each pair that is none, and for each number that is moved.
    pub fn may_save(&self) -> u64 {
        (self.single + self.assigned.moved) as u64
    }

    /// With as many pairs as are found.
    ///
    /// # Errors
    /// When there are too few registers.
    pub fn paired(self) -> Result<Assigned, OutOfRegisters> {
        let Webs { list, pairs, .. } = &self.webs;
        let colours = colour::paired(list, pairs, &self.order, self.colours);
        let (residence, registers) = (&self.residence, &self.registers);
        Assignment::of(self.code, residence, registers, &self.webs, &colours).all()
    }
}

struct Assignment<'a> {
    code: &'a Code,
    residence: &'a Residence,
    registers: &'a Registers,
    webs: &'a Webs,
    colours: &'a [u8],
    /// The register of each value and the event it is at.
    place: Vec<Option<u8>>,
    event: Vec<usize>,
    now: usize,
    memory: Memory,
    out: Assigned,
}

impl<'a> Assignment<'a> {
    fn of(
        code: &'a Code,
        residence: &'a Residence,
        registers: &'a Registers,
        webs: &'a Webs,
        colours: &'a [u8],
    ) -> Self {
        Self {
            code,
            residence,
            registers,
            webs,
            colours,
            place: code.product.clone(),
            event: vec![0; code.operands.len()],
            now: 0,
            memory: Memory::of(code),
            out: Assigned {
                items: Vec::new(),
                notes: Vec::new(),
                made: vec![None; code.operands.len()],
                scratch: 0,
                returned: None,
                back: Vec::new(),
                moved: 0,
            },
        }
    }

    /// All instructions.
    fn all(mut self) -> Result<Assigned, OutOfRegisters> {
        if let Some(zero) = self.registers.zero {
            self.insn(Op::EOR, zero, zero);
            if self.registers.zeros {
                self.insn(Op::EOR, zero + 1, zero + 1);
            }
        }
        let mut notes = self.code.notes.iter().peekable();
        for (t, step) in self.code.steps.iter().enumerate() {
            while let Some((_, text)) = notes.next_if(|(at, _)| *at <= t) {
                self.out.notes.push((self.out.items.len(), text.clone()));
            }
            self.now = t;
            self.step(step)?;
        }
        self.out.scratch = self.memory.scratch.len();
        Ok(self.out)
    }

    fn insn(&mut self, op: Op, d: u8, r: u8) {
        self.out.items.push(Item::Insn(Insn::rr(op, d, r)));
    }

    /// An instruction with two operands, of which one gives its register to what is made.
    fn two(
        &mut self,
        op: Op,
        out: Value,
        x: Value,
        y: Option<Value>,
    ) -> Result<u8, OutOfRegisters> {
        let y = match y {
            Some(y) => self.at(y)?,
            None => self.registers.zero.ok_or(OutOfRegisters)?,
        };
        let mut operands = [self.at(x)?, y];
        let tie = self.webs.tie[self.now];
        let to = match (tie, self.code.product[out.0]) {
            (_, Some(r)) => r,
            (Some(value), None) => {
                let r = self.at(value)?;
                if value != x {
                    operands.swap(0, 1);
                }
                r
            }
            (None, None) => {
                let to = self.take(out)?;
                self.insn(Op::MOV, to, operands[0]);
                to
            }
        };
        match op {
            Op::LSR | Op::ROR => self.insn(op, to, 0),
            _ => self.insn(op, to, operands[1]),
        }
        Ok(to)
    }

    /// Stores word `k` of the result.
    fn result(&mut self, k: usize, x: Value) -> Result<(), OutOfRegisters> {
        let reg = self.at(x)?;
        self.memory.near = k;
        self.out.items.push(Item::Store {
            array: Array::R,
            offset: k,
            reg,
        });
        self.memory.home[x.0] = Some((Array::R, k));
        Ok(())
    }

    fn step(&mut self, step: &VirtualInsn) -> Result<(), OutOfRegisters> {
        let pinned: Vec<Value> = step.reads().collect();
        for value in &pinned {
            self.fetch(*value)?;
        }
        match step {
            VirtualInsn::Mul { x, y, low, high } => {
                let (x, y) = (self.at(*x)?, self.at(*y)?);
                self.insn(Op::MUL, x, y);
                self.read(&pinned);
                self.made(*low, 0);
                self.made(*high, 1);
            }
            VirtualInsn::Two { op, out, x, y } => {
                let to = self.two(*op, *out, *x, *y)?;
                self.read(&pinned);
                self.make(*out, to);
            }
            VirtualInsn::Clear { out } => {
                let to = self.take(*out)?;
                self.insn(Op::EOR, to, to);
                self.make(*out, to);
            }
            VirtualInsn::Clears { out } => self.pair(*out, None)?,
            VirtualInsn::Mask { out } => {
                let to = self.take(*out)?;
                self.insn(Op::SBC, to, to);
                self.make(*out, to);
            }
            VirtualInsn::Carry { x } => {
                let zero = self.registers.zero.ok_or(OutOfRegisters)?;
                let x = self.at(*x)?;
                // 0 - x borrows unless x is 0.
                self.insn(Op::CP, zero, x);
                self.read(&pinned);
            }
            VirtualInsn::Set => {
                let ops = Ops {
                    b: CARRY,
                    ..Ops::default()
                };
                self.out.items.push(Item::Insn(Insn { op: Op::BSET, ops }));
            }
            VirtualInsn::Pair { from, out } => {
                self.pair(*out, Some([self.at(from[0])?, self.at(from[1])?]))?;
            }
            VirtualInsn::Move { x, out } => {
                let from = self.at(*x)?;
                let to = self.take(*out)?;
                self.insn(Op::MOV, to, from);
                self.make(*out, to);
            }
            VirtualInsn::Return { x } => {
                self.out.returned = Some(self.at(*x)?);
                self.read(&pinned);
            }
            VirtualInsn::Result { k, x } => {
                self.result(*k, *x)?;
                self.read(&pinned);
            }
        }
        Ok(())
    }

    /// Two values, in a pair if they can be: copies of r1:r0, or of the zeros.
    fn pair(&mut self, out: [Value; 2], from: Option<[u8; 2]>) -> Result<(), OutOfRegisters> {
        let [low, high] = [self.take(out[0])?, self.take(out[1])?];
        let zero = self.registers.zero.filter(|_| self.registers.zeros);
        match (is_pair(low, high), from.map(|f| f[0]).or(zero)) {
            (true, Some(from)) => self.insn(Op::MOVW, low, from),
            _ => {
                for (i, to) in [low, high].into_iter().enumerate() {
                    match from {
                        Some(from) => self.insn(Op::MOV, to, from[i]),
                        None => self.insn(Op::EOR, to, to),
                    }
                }
            }
        }
        self.make(out[0], low);
        self.make(out[1], high);
        Ok(())
    }

    /// The register a value is in.
    fn at(&self, value: Value) -> Result<u8, OutOfRegisters> {
        self.place[value.0].ok_or(OutOfRegisters)
    }

    /// Loads a value that is not in a register.
    fn fetch(&mut self, value: Value) -> Result<(), OutOfRegisters> {
        if self.place[value.0].is_some() {
            return Ok(());
        }
        let reg = self.take(value)?;
        match self.code.numbers[value.0] {
            Some(number) => self.number(number, reg)?,
            None => {
                let (array, offset) = self.memory.home[value.0].ok_or(OutOfRegisters)?;
                if array == Array::R {
                    self.memory.near = offset;
                }
                self.out.items.push(Item::Load { array, offset, reg });
            }
        }
        self.place[value.0] = Some(reg);
        match self.out.made[value.0] {
            Some(_) => self.out.back.push(self.now),
            // An operand word is made by its first load.
            None => self.out.made[value.0] = Some((self.out.items.len() - 1, reg)),
        }
        Ok(())
    }

    /// A number into a register. Leaves the flags alone.
    fn number(&mut self, number: u8, reg: u8) -> Result<(), OutOfRegisters> {
        let via = match reg >= UPPER {
            true => reg,
            false => self.registers.loader.ok_or(OutOfRegisters)?,
        };
        let load = Insn::dk(Op::LDI, via, number.into());
        self.out.items.push(Item::Insn(load));
        if via != reg {
            self.out.moved += 1;
            self.insn(Op::MOV, reg, via);
        }
        Ok(())
    }

    /// These values were read: those that do not stay leave their registers.
    fn read(&mut self, values: &[Value]) {
        for value in values.iter().filter(|v| self.code.product[v.0].is_none()) {
            let event = self.event[value.0];
            self.event[value.0] += 1;
            if !self.residence.lives[value.0].stays(event) {
                self.place[value.0] = None;
            }
        }
    }

    fn made(&mut self, value: Value, r: u8) {
        self.out.made[value.0] = Some((self.out.items.len() - 1, r));
    }

    /// A value is made in a register taken for it.
    fn make(&mut self, value: Value, r: u8) {
        self.made(value, r);
        if self.code.product[value.0].is_some() {
            return;
        }
        let life = &self.residence.lives[value.0];
        self.place[value.0] = Some(r);
        if life.stored {
            let until = life.stays.iter().rposition(|s| !s);
            let until = until.map_or(self.now, |i| life.events[i + 1]);
            let (array, offset) = self.memory.slot(self.now, until);
            self.memory.home[value.0] = Some((array, offset));
            self.out.items.push(Item::Store {
                array,
                offset,
                reg: r,
            });
        }
        self.read(&[value]);
    }

    /// The register for a value that comes into one now.
    fn take(&self, value: Value) -> Result<u8, OutOfRegisters> {
        let web = self.webs.at[value.0].get(self.event[value.0]);
        web.map(|web| self.colours[*web]).ok_or(OutOfRegisters)
    }
}

/// Where values wait in memory: in a word of the result that is not written yet, or in scratch memory.
struct Memory {
    home: Vec<Option<(Array, usize)>>,
    /// The step that writes each word of the result that something may wait in before.
    written: Vec<usize>,
    /// The last step that needs what waits in each word of the result, and of scratch memory.
    result: Vec<usize>,
    scratch: Vec<usize>,
    /// Where the last access to the result was.
    near: usize,
}

impl Memory {
    fn of(code: &Code) -> Self {
        let array = |side| match side {
            0 => Array::A,
            1 => Array::B,
            _ => Array::M,
        };
        let home = code.operands.iter();
        let home = home.map(|o| o.map(|o| (array(o.side), o.index)));
        let mut written = Vec::new();
        // Where an operand may be nothing may wait.
        let steps = code.steps.iter().enumerate().filter(|_| !code.overlap);
        for (t, step) in steps {
            if let VirtualInsn::Result { k, .. } = step {
                written.resize(written.len().max(k + 1), 0);
                written[*k] = t;
            }
        }
        Self {
            home: home.collect(),
            result: vec![0; written.len()],
            written,
            scratch: Vec::new(),
            near: 0,
        }
    }

    /// A word that is free from step `now` to step `until`.
    fn slot(&mut self, now: usize, until: usize) -> (Array, usize) {
        let free = (0..self.written.len())
            .filter(|k| self.result[*k] <= now && self.written[*k] > until)
            .min_by_key(|k| k.abs_diff(self.near));
        if let Some(k) = free {
            self.result[k] = until;
            self.near = k;
            return (Array::R, k);
        }
        let i = match self.scratch.iter().position(|end| *end <= now) {
            Some(i) => i,
            None => {
                self.scratch.push(0);
                self.scratch.len() - 1
            }
        };
        self.scratch[i] = until;
        (Array::T, i)
    }
}
