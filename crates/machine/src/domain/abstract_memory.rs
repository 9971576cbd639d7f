//! Memory of the abstract domains: regions at arbitrary, disjoint places, and what is in them.
//!
//! A region is an operand, the stack or the caller's return address. An access
//! outside every region, or against a region's rights, is a fault: the memory
//! obligation of a proof.

use crate::domain::concrete::number;
use crate::domain::ids::Map;
use crate::domain::place::{Address, Base};
use crate::domain::public::{Public, PublicBit};
use crate::fault::Fault;
use crate::segment::{Addresses, Segment};

/// A piece of memory the contract names.
#[derive(Clone, Debug)]
pub struct Region {
    pub name: String,
    /// First byte, relative to the region's base (negative on a stack growing down).
    pub start: i64,
    /// One past the last byte.
    pub end: i64,
    /// One past the last byte that may be written; `start` where none may.
    pub writable_end: i64,
    /// Its base is a multiple of so many bytes, a power of two: somebody promised it.
    pub align: u64,
}

impl Region {
    /// An operand of `len` bytes at a multiple of `align`.
    pub fn operand(name: &str, len: usize, writable: bool, align: u64) -> Self {
        let end = len as i64;
        Self {
            name: name.into(),
            start: 0,
            end,
            writable_end: if writable { end } else { 0 },
            align,
        }
    }
}

/// Bytes of the widest cell.
const WIDEST: i64 = 4;

/// Words by their places, each with its width in bits.
pub type Cells<V> = Map<(Base, i64), (V, u32)>;

/// Regions and the cells written or initialised so far, each of one word.
#[derive(Clone, Debug)]
pub struct AbstractMemory<V> {
    /// Data at addresses of its own.
    pub constants: Vec<Segment>,
    /// Is the most significant byte of a word at the lowest address?
    pub big_endian: bool,
    regions: Map<Base, Region>,
    pub cells: Cells<V>,
    /// All widths of cells, as bits.
    widths: u32,
    /// Bits of the narrowest load, per region.
    narrowest: Map<Base, u32>,
}

impl<V> Default for AbstractMemory<V> {
    fn default() -> Self {
        Self {
            constants: Vec::new(),
            big_endian: false,
            regions: Map::default(),
            cells: Map::default(),
            widths: 0,
            narrowest: Map::default(),
        }
    }
}

impl<V: Copy> AbstractMemory<V> {
    /// Declares a region.
    pub fn declare(&mut self, base: Base, region: Region) {
        self.regions.insert(base, region);
    }

    /// Puts an initial value of `width` bits into a cell, whatever the region's rights.
    pub fn set(&mut self, at: Address, width: u32, value: V) {
        self.widths |= width;
        self.cells.insert((at.base, at.offset), (value, width));
    }

    /// Keeps the cells that are in `other`, too, with the same width, and returns those of them that
    /// differ, with both words. Elsewhere nothing is known any more.
    pub fn meet(&mut self, other: &Cells<V>) -> Vec<(Address, u32, V, V)>
    where
        V: PartialEq,
    {
        let like = |key: &(Base, i64), width| {
            let cell = other.get(key);
            cell.copied().filter(|(_, w): &(V, u32)| *w == width)
        };
        self.cells
            .retain(|key, (_, width)| like(key, *width).is_some());
        let differing = self.cells.iter().filter_map(|(key, (mine, width))| {
            let (theirs, _) = like(key, *width).filter(|(theirs, _)| theirs != mine)?;
            let (base, offset) = *key;
            Some((Address { base, offset }, *width, *mine, theirs))
        });
        let mut list: Vec<_> = differing.collect();
        list.sort_by_key(|(at, ..)| (at.base, at.offset));
        list
    }

    /// Cells that share bytes with the `width` bits at `at`, in the order of their offsets.
    pub fn overlapping(&self, at: Address, width: u32) -> Vec<(i64, V, u32)> {
        // Cells of one width lie at multiples of it.
        let from = if self.widths == width {
            at.offset
        } else {
            at.offset + 1 - WIDEST
        };
        let offsets = from..at.offset + i64::from(width / 8);
        let cell = |offset: i64| {
            let (value, w) = self.cells.get(&(at.base, offset))?;
            (offset + i64::from(w / 8) > at.offset).then_some((offset, *value, *w))
        };
        offsets.filter_map(cell).collect()
    }

    /// Removes the cell at `at`.
    pub fn remove(&mut self, at: Address) {
        self.cells.remove(&(at.base, at.offset));
    }

    /// Removes every cell that has a byte in `from .. to` of `base`.
    pub fn forget_bytes(&mut self, base: Base, from: i64, to: i64) {
        for offset in from + 1 - WIDEST..to {
            let is_there = |(_, width): &(V, u32)| offset + i64::from(width / 8) > from;
            if self.cells.get(&(base, offset)).is_some_and(is_there) {
                self.cells.remove(&(base, offset));
            }
        }
    }

    /// May the `width` bits at `at` be written?
    ///
    /// # Errors
    /// [`Fault::Store`] outside every writable region.
    pub fn check_store(&self, at: Address, width: u32) -> Result<(), Fault> {
        let region = self.check(at, width).map_err(Fault::Store)?;
        if at.offset + i64::from(width / 8) <= region.writable_end {
            return Ok(());
        }
        Err(Fault::Store(format!(
            "{}, which the contract only lets it read",
            self.place(at)
        )))
    }

    /// The `width`-bit word at `at`; `None` if there is no cell of this width.
    ///
    /// # Errors
    /// [`Fault::Load`] outside every region.
    pub fn get(&self, at: Address, width: u32) -> Result<Option<V>, Fault> {
        self.check(at, width).map_err(Fault::Load)?;
        match self.cells.get(&(at.base, at.offset)) {
            Some((value, w)) if *w == width => Ok(Some(*value)),
            _ => Ok(None),
        }
    }

    /// Writes `value` at `at`.
    ///
    /// # Errors
    /// [`Fault::Store`] outside every writable region.
    pub fn put(&mut self, at: Address, width: u32, value: V) -> Result<(), Fault> {
        self.check_store(at, width)?;
        self.set(at, width, value);
        Ok(())
    }

    /// Was anything ever put there?
    pub fn is_written(&self, at: Address, width: u32) -> bool {
        !self.overlapping(at, width).is_empty()
    }

    /// What stands at `at`, if that is data of the file: a number, or an address that a linker decides.
    ///
    /// # Errors
    /// [`Fault::Load`] when the program may have written it before, [`Fault::Unsupported`] when the
    /// file does not say what it is.
    pub fn constant(&self, at: Address, width: u32) -> Result<Option<Public>, Fault> {
        let (Ok(address), bytes) = (u64::try_from(at.offset), (width / 8) as usize) else {
            return Ok(None);
        };
        let here = |s: &&Segment| s.base == at.base && s.overlaps(address, bytes);
        let mut found = self.constants.iter().filter(here);
        let Some(segment) = found.next() else {
            return Ok(None);
        };
        let unknown = |text: String| Err(Fault::Unsupported(format!("reads {address:#x}: {text}")));
        if found.next().is_some() {
            return unknown("two sections of the file lie there".into());
        }
        let Some(number) = segment.get(address, bytes) else {
            return Ok(None);
        };
        if segment.writable {
            return Err(Fault::Load(format!(
                "the variable at {address:#x}, which is not the same in every run"
            )));
        }
        if let Some(text) = segment.marks.gap(address, bytes) {
            return unknown(text.into());
        }
        let number = self::number(number, self.big_endian);
        // Where the program has its place addresses are numbers.
        let addresses = match segment.base {
            Base::ABSOLUTE => Addresses::None,
            _ => segment.marks.addresses(address, bytes),
        };
        match addresses {
            Addresses::None => Ok(Some(Public::Known(number))),
            Addresses::Whole => Ok(Some(Public::Pointer {
                base: segment.base,
                offset: number as i64,
                part: 0,
            })),
            Addresses::Part => unknown("a part of an address, which the linker decides".into()),
        }
    }

    /// So many bytes, a power of two, divide what `at` counts from: numbers count from 0, and of an object that no
    /// linker has placed, every section on its own.
    pub fn align_of(&self, at: Address) -> u64 {
        let here = |s: &&Segment| s.base == at.base && s.overlaps(at.offset as u64, 1);
        match self.regions.get(&at.base) {
            Some(region) => region.align,
            None if at.base == Base::ABSOLUTE => 1 << 32,
            None => self.constants.iter().find(here).map_or(1, |s| s.align),
        }
    }

    /// How far `at` lies above a multiple of `bytes`.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] where nobody promised such an alignment of its base.
    pub fn above_multiple(&self, at: Address, bytes: i64) -> Result<i64, Fault> {
        let promised = self.align_of(at);
        if promised.is_multiple_of(bytes.unsigned_abs()) {
            return Ok(at.offset.rem_euclid(bytes));
        }
        let place = self.place(at);
        Err(Fault::Unsupported(match at.base {
            Base::IMAGE => format!(
                "an access to {bytes} bytes at {place}, in a section that is aligned to {promised} only"
            ),
            _ => format!(
                "an access to {bytes} bytes at {place}, which needs a promise of alignment (--align {bytes})"
            ),
        }))
    }

    /// The value in a cell, rights aside.
    pub fn peek(&self, at: Address) -> Option<V> {
        self.cells.get(&(at.base, at.offset)).map(|(v, _)| *v)
    }

    /// Bits of the narrowest load from `base`.
    pub fn narrowest_load(&self, base: Base) -> Option<u32> {
        self.narrowest.get(&base).copied()
    }

    /// Notes a load.
    pub fn note_load(&mut self, base: Base, width: u32) {
        let narrowest = self.narrowest.entry(base).or_insert(width);
        *narrowest = width.min(*narrowest);
    }

    /// The borrow of a difference of two pointers into one region is their order, as neither a region
    /// nor the address behind it wraps around; any other bit is left as it is.
    pub fn ordered<const W: u32>(&self, bit: PublicBit) -> PublicBit {
        let PublicBit::Below {
            base,
            left,
            right,
            part,
        } = bit
        else {
            return bit;
        };
        /// Bits of a data address: two words of the AVR, one of the others.
        const fn address_bits(word_bits: u32) -> u32 {
            if word_bits == 8 { 16 } else { word_bits }
        }
        let bits = address_bits(W);
        // An AVR adds 2 by taking 2^16 - 2 away.
        let [left, right] = [left, right].map(|at| at << (64 - bits) >> (64 - bits));
        let region = self.regions.get(&base);
        let points = |at: i64| region.is_some_and(|r| (r.start..=r.end).contains(&at));
        match W * (part + 1) == bits && points(left) && points(right) {
            true => PublicBit::Known(left < right),
            false => bit,
        }
    }

    fn check(&self, at: Address, width: u32) -> Result<&Region, String> {
        let end = at.offset + i64::from(width / 8);
        match self.regions.get(&at.base) {
            Some(region) if region.start <= at.offset && end <= region.end => Ok(region),
            Some(region) => Err(format!(
                "{}[{}], outside its {} bytes",
                region.name,
                at.offset,
                region.end - region.start
            )),
            None => Err(format!(
                "data address {:#x}, which is no operand",
                at.offset
            )),
        }
    }

    /// `a[3]`: an address in the words of the contract.
    pub fn place(&self, at: Address) -> String {
        match self.regions.get(&at.base) {
            Some(region) => format!("{}[{}]", region.name, at.offset),
            None => format!("data address {:#x}", at.offset),
        }
    }
}
