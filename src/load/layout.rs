//! Where sections lie: as a linked program says, or one after the other as a linker might put those of
//! an object; and the gaps between them, which a program may neither run nor read.

use std::collections::HashMap;
use std::rc::Rc;

use machine::function::{Marks, Segment};
use object::{
    Architecture, Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, SectionIndex,
    SectionKind, elf,
};

use crate::load::error::{LoadError, MAX_BYTES, size};
/// Where avr-gcc puts data memory in its one address space, and where that ends.
const AVR_DATA: std::ops::Range<u64> = 0x80_0000..0x81_0000;
/// Where data of an AVR object is put, clear of operands.
const AVR_OBJECT_DATA: u64 = 0x8000;
/// Where an object for a machine with one address space is put: not at 0, where nothing may lie; on MSP430 where flash
/// begins on most parts.
const OBJECT: u64 = 0x40_0000;
const MSP430_OBJECT: u64 = 0x4400;
/// Bytes between sections of an object, more than any instruction has.
const APART: u64 = 8;
/// The same between sections of data: who runs over the end of a table comes upon nothing.
const DATA_APART: u64 = 0x1000;

/// A section with the address it got.
pub(super) struct Placed {
    pub index: SectionIndex,
    pub address: u64,
    pub align: u64,
    pub bytes: Vec<u8>,
    pub writable: bool,
    /// Is it program memory?
    pub code: bool,
    pub marks: Marks,
}

impl Placed {
    /// One past its last byte.
    pub fn end(&self) -> u64 {
        self.address + self.bytes.len() as u64
    }

    /// The data that a program finds there.
    pub fn into_segment(self, base: machine::domain::Base) -> Segment {
        Segment {
            base,
            address: self.address,
            align: self.align,
            bytes: Rc::from(self.bytes),
            writable: self.writable,
            marks: Rc::new(self.marks),
        }
    }
}

/// The flags of a section.
pub(super) fn flags(section: &object::Section<'_, '_>) -> elf::SectionFlags {
    match section.flags() {
        SectionFlags::Elf { sh_flags, .. } => sh_flags,
        _ => elf::SectionFlags(0),
    }
}

/// Is it a section of instructions?
pub(super) fn is_code(section: &object::Section<'_, '_>) -> bool {
    flags(section).contains(elf::SHF_EXECINSTR)
}

/// Are the words of `section` addresses that a linker laid there, and nobody writes?
///
/// So is the table of a linked MIPS program that code reads by way of $gp (System V ABI, MIPS supplement,
/// chapter 5), and on other machines the section where a linker defines `_GLOBAL_OFFSET_TABLE_`. A section that
/// only has its name is a variable.
fn is_linkers_table(file: &object::File<'_>, section: &object::Section<'_, '_>) -> bool {
    if file.kind() == ObjectKind::Relocatable || section.name() != Ok(".got") {
        return false;
    }
    if file.architecture() == Architecture::Mips {
        let near_gp = flags(section).0 & elf::SHF_MIPS_GPREL.0 != 0;
        return is_position_independent(file) && near_gp;
    }
    let inside = section.address()..section.address() + section.size();
    let table = file.symbol_by_name("_GLOBAL_OFFSET_TABLE_");
    table.is_some_and(|s| s.is_definition() && inside.contains(&s.address()))
}

/// Notes which words of a table are addresses, and what is there beside these: words that do not point into
/// the program.
fn keep_addresses(file: &object::File<'_>, placed: &mut Placed, big_endian: bool) {
    let sections: Vec<_> = file
        .sections()
        .filter(|s| flags(s).contains(elf::SHF_ALLOC))
        .map(|s| s.address()..=s.address() + s.size())
        .collect();
    for (at, word) in (placed.address..).step_by(4).zip(placed.bytes.chunks(4)) {
        let value = machine::domain::concrete::number(word, big_endian);
        // MIPS: a page of 64 KB begins below what lies in it.
        let is_page =
            file.architecture() == Architecture::Mips && value & 0xffff == 0 && value != 0;
        let page = value..=value + 0xffff;
        let points = |s: &std::ops::RangeInclusive<u64>| {
            s.contains(&value) || is_page && page.contains(s.start())
        };
        if sections.iter().any(points) {
            placed.marks.add_address(at);
        } else {
            let text = "a word of .got that is no address in the program, and may be written";
            placed.marks.add_gap(at..at + word.len() as u64, text);
        }
    }
}

/// The sections that take memory, with their addresses; `first` comes first.
pub(super) fn sections(
    file: &object::File<'_>,
    first: Option<SectionIndex>,
    avr: bool,
    big_endian: bool,
) -> Result<Vec<Placed>, LoadError> {
    let relocatable = file.kind() == ObjectKind::Relocatable;
    let mut list = Vec::new();
    let mut total = 0u64;
    for section in file.sections() {
        let flags = flags(&section);
        if !flags.contains(elf::SHF_ALLOC) || section.size() == 0 {
            continue;
        }
        let mut address = section.address();
        let progmem = section.name().is_ok_and(|n| n.starts_with(".progmem"));
        let mut code = flags.contains(elf::SHF_EXECINSTR) || avr && progmem;
        if avr && !relocatable {
            code = address < AVR_DATA.start;
            if !code && !AVR_DATA.contains(&address) {
                // EEPROM, fuses, signature.
                continue;
            }
            address -= if code { 0 } else { AVR_DATA.start };
        }
        total = total.saturating_add(section.size());
        size(total)?;
        list.push(placed(file, &section, address, code, big_endian)?);
    }
    if relocatable {
        list.sort_by_key(|(s, _)| (!s.code, Some(s.index) != first));
        let start = match file.architecture() {
            Architecture::Avr => 0,
            Architecture::Msp430 => MSP430_OBJECT,
            _ => OBJECT,
        };
        lay_out(list.iter_mut().map(|(section, _)| section), start, avr)?;
    }
    for (section, held) in &mut list {
        if let Some(held) = held {
            let lost = section.address + *held..section.end();
            section
                .marks
                .add_gap(lost, "the file ends before its section does");
        }
    }
    Ok(near(list.into_iter().map(|(section, _)| section).collect()))
}

/// A section at an address; behind it how many of its bytes the file holds, unless zeros are meant.
fn placed(
    file: &object::File<'_>,
    section: &object::Section<'_, '_>,
    address: u64,
    code: bool,
    big_endian: bool,
) -> Result<(Placed, Option<u64>), LoadError> {
    let mut bytes = section.data().unwrap_or_default().to_vec();
    let held = bytes.len() as u64;
    bytes.resize(size(section.size())?, 0);
    let table = is_linkers_table(file, section);
    let mut placed = Placed {
        index: section.index(),
        address,
        align: section.align().max(1),
        bytes,
        writable: flags(section).contains(elf::SHF_WRITE) && !table,
        code,
        marks: Marks::default(),
    };
    if table {
        keep_addresses(file, &mut placed, big_endian);
    }
    let zeros = section.kind() == SectionKind::UninitializedData;
    Ok((placed, (!zeros).then_some(held)))
}

/// These sections without code far away from the rest: a boot loader, a vector table.
fn near(mut list: Vec<Placed>) -> Vec<Placed> {
    let code = list.iter().filter(|s| s.code);
    let lowest = code.map(|s| s.address).min().unwrap_or(0);
    list.retain(|s| !s.code || s.address - lowest < MAX_BYTES);
    list
}

/// Gives the sections of an object places from `start` on, one behind the other.
///
/// # Errors
/// When they take too much room.
fn lay_out<'a>(
    sections: impl Iterator<Item = &'a mut Placed>,
    start: u64,
    avr: bool,
) -> Result<(), LoadError> {
    let (mut next, mut next_data) = (0, AVR_OBJECT_DATA);
    for section in sections {
        let (next, start) = match avr && !section.code {
            true => (&mut next_data, 0),
            false => (&mut next, start),
        };
        if !avr && !section.code {
            *next += DATA_APART;
        }
        section.address = start + size(*next)?.next_multiple_of(size(section.align)?) as u64;
        *next = section.end() - start + APART;
    }
    Ok(())
}

/// The addresses of sections.
pub(super) fn addresses(sections: &[Placed]) -> HashMap<SectionIndex, u64> {
    sections.iter().map(|s| (s.index, s.address)).collect()
}

/// Program memory from `origin` on: the bytes of all sections of code, and what is not known of them and
/// between them.
pub(super) fn program(
    sections: &[Placed],
    origin: u64,
    relocatable: bool,
) -> Result<(Vec<u8>, Marks), LoadError> {
    let between = match relocatable {
        true => "it runs off the end of a section, and what follows is for the linker to say",
        false => "no section of the file lies there",
    };
    let mut code: Vec<&Placed> = sections.iter().filter(|s| s.code).collect();
    code.sort_by_key(|s| s.address);
    let end = code.iter().map(|s| s.end()).max().unwrap_or(origin);
    let mut bytes = vec![0; size(end.saturating_sub(origin))?];
    let (mut marks, mut known) = (Marks::default(), origin);
    for section in code {
        let from = (section.address - origin) as usize;
        bytes[from..from + section.bytes.len()].copy_from_slice(&section.bytes);
        marks.add_gap(known..section.address, between);
        let twice = section.address..known.min(section.end());
        marks.add_gap(twice, "two sections of the file lie there");
        marks.extend(section.marks.clone());
        known = known.max(section.end());
    }
    Ok((bytes, marks))
}

/// Is it code for MIPS whose callers put its address into $t9 (System V ABI, MIPS supplement, chapter 3)?
pub fn is_position_independent(file: &object::File<'_>) -> bool {
    match file.flags() {
        object::FileFlags::Elf { e_flags, .. } if file.architecture() == Architecture::Mips => {
            e_flags.contains(elf::EF_MIPS_PIC) || e_flags.contains(elf::EF_MIPS_CPIC)
        }
        _ => false,
    }
}
