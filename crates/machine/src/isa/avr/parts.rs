//! The parts people buy: which core, how much memory, what their size implies.
//!
//! Sources, column by column: [`SOURCES`], and what was read there: [`READ`]. Tests compare every part that avr-gcc and avr-libc
//! know with what these say.

use crate::isa::avr::code::Insn;
use crate::isa::avr::core::{Core, Set};
pub use crate::isa::avr::core::{Part, READ};
use crate::isa::avr::cores::{
    ATMEGA128, ATMEGA2560, ATMEGA4809, ATTINY10, ATTINY85, ATXMEGA32A4, ATXMEGA128A1,
};
use crate::isa::avr::operands::Op;

/// Where the columns come from.
pub const SOURCES: [(&str, &str); 3] = [
    (
        "core",
        "DS40002198, AVR Instruction Set Manual, appendix A; 22-bit program counter: the data sheet's instruction set summary",
    ),
    (
        "flash, ram, ram_start",
        "the data sheet, Features and Memories",
    ),
    ("arch", "avr-gcc manual, AVR options, -mmcu"),
];

const fn part(
    name: &'static str,
    core: &'static Core,
    flash: usize,
    ram: usize,
    ram_start: usize,
    arch: u32,
    datasheet: &'static str,
) -> Part {
    Part {
        name,
        core,
        flash,
        ram,
        ram_start,
        arch,
        datasheet,
    }
}

const KB: usize = 1024;
const MEGA: &Core = &ATMEGA128;
const WIDE: &Core = &ATMEGA2560;
const TINY: &Core = &ATTINY85;
const REDUCED: &Core = &ATTINY10;
const MODERN: &Core = &ATMEGA4809;
const XMEGA: &Core = &ATXMEGA32A4;
const XWIDE: &Core = &ATXMEGA128A1;

/// All parts, family by family.
#[rustfmt::skip]
pub static PARTS: &[Part] = &[
    // ATmega
    part("atmega8",        MEGA,   8*KB,  1024, 0x0060,  4, "doc2486"),
    part("atmega16",       MEGA,  16*KB,  1024, 0x0060,  5, "doc2466"),
    part("atmega32",       MEGA,  32*KB,  2048, 0x0060,  5, "doc2503"),
    part("atmega32u4",     MEGA,  32*KB,  2560, 0x0100,  5, "doc7766"),
    part("atmega48",       MEGA,   4*KB,   512, 0x0100,  4, "doc2545"),
    part("atmega48p",      MEGA,   4*KB,   512, 0x0100,  4, "doc8025"),
    part("atmega64",       MEGA,  64*KB,  4096, 0x0100,  5, "doc2490"),
    part("atmega88",       MEGA,   8*KB,  1024, 0x0100,  4, "doc2545"),
    part("atmega88p",      MEGA,   8*KB,  1024, 0x0100,  4, "doc8025"),
    part("atmega128",      MEGA, 128*KB,  4096, 0x0100, 51, "doc2467"),
    part("atmega128rfa1",  MEGA, 128*KB, 16384, 0x0200, 51, "doc8266"),
    part("atmega164p",     MEGA,  16*KB,  1024, 0x0100,  5, "doc8011"),
    part("atmega168",      MEGA,  16*KB,  1024, 0x0100,  5, "doc2545"),
    part("atmega168p",     MEGA,  16*KB,  1024, 0x0100,  5, "doc8025"),
    part("atmega324p",     MEGA,  32*KB,  2048, 0x0100,  5, "doc8011"),
    part("atmega328",      MEGA,  32*KB,  2048, 0x0100,  5, "DS40002061"),
    part("atmega328p",     MEGA,  32*KB,  2048, 0x0100,  5, "DS40002061"),
    part("atmega640",      MEGA,  64*KB,  8192, 0x0200,  5, "DS40002211"),
    part("atmega644",      MEGA,  64*KB,  4096, 0x0100,  5, "doc2593"),
    part("atmega644p",     MEGA,  64*KB,  4096, 0x0100,  5, "doc8011"),
    part("atmega1280",     MEGA, 128*KB,  8192, 0x0200, 51, "DS40002211"),
    part("atmega1281",     MEGA, 128*KB,  8192, 0x0200, 51, "DS40002211"),
    part("atmega1284p",    MEGA, 128*KB, 16384, 0x0100, 51, "doc8059"),
    part("atmega2560",     WIDE, 256*KB,  8192, 0x0200,  6, "DS40002211"),
    part("atmega2561",     WIDE, 256*KB,  8192, 0x0200,  6, "DS40002211"),
    part("atmega8a",       MEGA,   8*KB,  1024, 0x0060,  4, "DS40001974"),
    part("atmega16a",      MEGA,  16*KB,  1024, 0x0060,  5, "doc8154"),
    part("atmega32a",      MEGA,  32*KB,  2048, 0x0060,  5, "doc8155"),
    part("atmega64a",      MEGA,  64*KB,  4096, 0x0100,  5, "doc8160"),
    part("atmega128a",     MEGA, 128*KB,  4096, 0x0100, 51, "doc8151"),
    part("atmega48a",      MEGA,   4*KB,   512, 0x0100,  4, "DS40002061"),
    part("atmega48pa",     MEGA,   4*KB,   512, 0x0100,  4, "DS40002061"),
    part("atmega88a",      MEGA,   8*KB,  1024, 0x0100,  4, "DS40002061"),
    part("atmega88pa",     MEGA,   8*KB,  1024, 0x0100,  4, "DS40002061"),
    part("atmega168a",     MEGA,  16*KB,  1024, 0x0100,  5, "DS40002061"),
    part("atmega168pa",    MEGA,  16*KB,  1024, 0x0100,  5, "DS40002061"),
    part("atmega328pb",    MEGA,  32*KB,  2048, 0x0100,  5, "DS40001906"),
    part("atmega16u4",     MEGA,  16*KB,  1280, 0x0100,  5, "doc7766"),
    part("atmega164a",     MEGA,  16*KB,  1024, 0x0100,  5, "DS40002070"),
    part("atmega164pa",    MEGA,  16*KB,  1024, 0x0100,  5, "DS40002070"),
    part("atmega324a",     MEGA,  32*KB,  2048, 0x0100,  5, "DS40002070"),
    part("atmega324pa",    MEGA,  32*KB,  2048, 0x0100,  5, "DS40002070"),
    part("atmega644a",     MEGA,  64*KB,  4096, 0x0100,  5, "DS40002070"),
    part("atmega644pa",    MEGA,  64*KB,  4096, 0x0100,  5, "DS40002070"),
    part("atmega1284",     MEGA, 128*KB, 16384, 0x0100, 51, "DS40002070"),
    part("at90can128",     MEGA, 128*KB,  4096, 0x0100, 51, "doc7679"),
    part("at90usb646",     MEGA,  64*KB,  4096, 0x0100,  5, "doc7593"),
    part("at90usb647",     MEGA,  64*KB,  4096, 0x0100,  5, "doc7593"),
    part("at90usb1286",    MEGA, 128*KB,  8192, 0x0100, 51, "doc7593"),
    part("at90usb1287",    MEGA, 128*KB,  8192, 0x0100, 51, "doc7593"),
    // Classic parts without a multiplier
    part("atmega8u2",      TINY,   8*KB,   512, 0x0100, 35, "doc7799"),
    part("atmega16u2",     TINY,  16*KB,   512, 0x0100, 35, "doc7799"),
    part("atmega32u2",     TINY,  32*KB,  1024, 0x0100, 35, "doc7799"),
    part("attiny13a",      TINY,     KB,    64, 0x0060, 25, "doc8126"),
    part("attiny24a",      TINY,   2*KB,   128, 0x0060, 25, "doc8183"),
    part("attiny44a",      TINY,   4*KB,   256, 0x0060, 25, "doc8183"),
    part("attiny84a",      TINY,   8*KB,   512, 0x0060, 25, "doc8183"),
    part("attiny2313a",    TINY,   2*KB,   128, 0x0060, 25, "doc8246"),
    part("attiny48",       TINY,   4*KB,   256, 0x0100, 25, "doc8008"),
    part("attiny87",       TINY,   8*KB,   512, 0x0100, 25, "doc8265"),
    part("attiny167",      TINY,  16*KB,   512, 0x0100, 35, "doc8265"),
    part("attiny261",      TINY,   2*KB,   128, 0x0060, 25, "doc2588"),
    part("attiny261a",     TINY,   2*KB,   128, 0x0060, 25, "doc8197"),
    part("attiny461",      TINY,   4*KB,   256, 0x0060, 25, "doc2588"),
    part("attiny461a",     TINY,   4*KB,   256, 0x0060, 25, "doc8197"),
    part("attiny861a",     TINY,   8*KB,   512, 0x0060, 25, "doc8197"),
    part("attiny441",      TINY,   4*KB,   256, 0x0100, 25, "doc8495"),
    part("attiny841",      TINY,   8*KB,   512, 0x0100, 25, "doc8495"),
    part("attiny828",      TINY,   8*KB,   512, 0x0100, 25, "doc8371"),
    part("attiny1634",     TINY,  16*KB,  1024, 0x0100, 35, "doc8303"),
    part("attiny13",       TINY,     KB,    64, 0x0060, 25, "doc2535"),
    part("attiny24",       TINY,   2*KB,   128, 0x0060, 25, "doc8006"),
    part("attiny44",       TINY,   4*KB,   256, 0x0060, 25, "doc8006"),
    part("attiny84",       TINY,   8*KB,   512, 0x0060, 25, "doc8006"),
    part("attiny25",       TINY,   2*KB,   128, 0x0060, 25, "doc2586"),
    part("attiny45",       TINY,   4*KB,   256, 0x0060, 25, "doc2586"),
    part("attiny85",       TINY,   8*KB,   512, 0x0060, 25, "doc2586"),
    part("attiny88",       TINY,   8*KB,   512, 0x0100, 25, "doc8008"),
    part("attiny861",      TINY,   8*KB,   512, 0x0060, 25, "doc2588"),
    part("attiny2313",     TINY,   2*KB,   128, 0x0060, 25, "doc2543"),
    part("attiny4313",     TINY,   4*KB,   256, 0x0060, 25, "doc8246"),
    // Reduced core
    part("attiny4",        REDUCED,  512,    32, 0x0040, 100, "DS40002060"),
    part("attiny5",        REDUCED,  512,    32, 0x0040, 100, "DS40002060"),
    part("attiny9",        REDUCED,   KB,    32, 0x0040, 100, "DS40002060"),
    part("attiny10",       REDUCED,   KB,    32, 0x0040, 100, "DS40002060"),
    part("attiny20",       REDUCED, 2*KB,   128, 0x0040, 100, "doc8235"),
    part("attiny40",       REDUCED, 4*KB,   256, 0x0040, 100, "doc8263"),
    // tinyAVR 0
    part("attiny202",      MODERN,  2*KB,   128, 0x3f80, 103, "DS40002318"),
    part("attiny204",      MODERN,  2*KB,   128, 0x3f80, 103, "DS40002318"),
    part("attiny402",      MODERN,  4*KB,   256, 0x3f00, 103, "DS40002318"),
    part("attiny404",      MODERN,  4*KB,   256, 0x3f00, 103, "DS40002318"),
    part("attiny406",      MODERN,  4*KB,   256, 0x3f00, 103, "DS40002318"),
    part("attiny804",      MODERN,  8*KB,   512, 0x3e00, 103, "DS40002312"),
    part("attiny806",      MODERN,  8*KB,   512, 0x3e00, 103, "DS40002312"),
    part("attiny807",      MODERN,  8*KB,   512, 0x3e00, 103, "DS40002312"),
    part("attiny1604",     MODERN, 16*KB,  1024, 0x3c00, 103, "DS40002312"),
    part("attiny1606",     MODERN, 16*KB,  1024, 0x3c00, 103, "DS40002312"),
    part("attiny1607",     MODERN, 16*KB,  1024, 0x3c00, 103, "DS40002312"),
    // tinyAVR 1
    part("attiny212",      MODERN,  2*KB,   128, 0x3f80, 103, "DS40002287"),
    part("attiny214",      MODERN,  2*KB,   128, 0x3f80, 103, "DS40002287"),
    part("attiny412",      MODERN,  4*KB,   256, 0x3f00, 103, "DS40002287"),
    part("attiny414",      MODERN,  4*KB,   256, 0x3f00, 103, "DS40002287"),
    part("attiny416",      MODERN,  4*KB,   256, 0x3f00, 103, "DS40002287"),
    part("attiny417",      MODERN,  4*KB,   256, 0x3f00, 103, "DS40002288"),
    part("attiny814",      MODERN,  8*KB,   512, 0x3e00, 103, "DS40002288"),
    part("attiny816",      MODERN,  8*KB,   512, 0x3e00, 103, "DS40002288"),
    part("attiny817",      MODERN,  8*KB,   512, 0x3e00, 103, "DS40002288"),
    part("attiny1614",     MODERN, 16*KB,  2048, 0x3800, 103, "DS40002204"),
    part("attiny1616",     MODERN, 16*KB,  2048, 0x3800, 103, "DS40002204"),
    part("attiny1617",     MODERN, 16*KB,  2048, 0x3800, 103, "DS40002204"),
    part("attiny3216",     MODERN, 32*KB,  2048, 0x3800, 103, "DS40002205"),
    part("attiny3217",     MODERN, 32*KB,  2048, 0x3800, 103, "DS40002205"),
    // tinyAVR 2
    part("attiny424",      MODERN,  4*KB,   512, 0x3e00, 103, "DS40002311"),
    part("attiny426",      MODERN,  4*KB,   512, 0x3e00, 103, "DS40002311"),
    part("attiny427",      MODERN,  4*KB,   512, 0x3e00, 103, "DS40002311"),
    part("attiny824",      MODERN,  8*KB,  1024, 0x3c00, 103, "DS40002311"),
    part("attiny826",      MODERN,  8*KB,  1024, 0x3c00, 103, "DS40002311"),
    part("attiny827",      MODERN,  8*KB,  1024, 0x3c00, 103, "DS40002311"),
    part("attiny1624",     MODERN, 16*KB,  2048, 0x3800, 103, "DS40002234"),
    part("attiny1626",     MODERN, 16*KB,  2048, 0x3800, 103, "DS40002234"),
    part("attiny1627",     MODERN, 16*KB,  2048, 0x3800, 103, "DS40002234"),
    part("attiny3224",     MODERN, 32*KB,  3072, 0x3400, 103, "DS40002345"),
    part("attiny3226",     MODERN, 32*KB,  3072, 0x3400, 103, "DS40002345"),
    part("attiny3227",     MODERN, 32*KB,  3072, 0x3400, 103, "DS40002345"),
    // megaAVR 0
    part("atmega808",      MODERN,  8*KB,  1024, 0x3c00, 103, "DS40002172"),
    part("atmega809",      MODERN,  8*KB,  1024, 0x3c00, 103, "DS40002172"),
    part("atmega1608",     MODERN, 16*KB,  2048, 0x3800, 103, "DS40002172"),
    part("atmega1609",     MODERN, 16*KB,  2048, 0x3800, 103, "DS40002172"),
    part("atmega3208",     MODERN, 32*KB,  4096, 0x3000, 103, "DS40002174"),
    part("atmega3209",     MODERN, 32*KB,  4096, 0x3000, 103, "DS40002174"),
    part("atmega4808",     MODERN, 48*KB,  6144, 0x2800, 103, "DS40002173"),
    part("atmega4809",     MODERN, 48*KB,  6144, 0x2800, 103, "DS40002173"),
    // AVR Dx
    part("avr32da28",      MODERN, 32*KB,  4096, 0x7000, 103, "DS40002228"),
    part("avr32da32",      MODERN, 32*KB,  4096, 0x7000, 103, "DS40002228"),
    part("avr32da48",      MODERN, 32*KB,  4096, 0x7000, 103, "DS40002228"),
    part("avr64da28",      MODERN, 64*KB,  8192, 0x6000, 102, "DS40002233"),
    part("avr64da32",      MODERN, 64*KB,  8192, 0x6000, 102, "DS40002233"),
    part("avr64da48",      MODERN, 64*KB,  8192, 0x6000, 102, "DS40002233"),
    part("avr64da64",      MODERN, 64*KB,  8192, 0x6000, 102, "DS40002233"),
    part("avr128da28",     MODERN, 128*KB, 16384, 0x4000, 104, "DS40002183"),
    part("avr128da32",     MODERN, 128*KB, 16384, 0x4000, 104, "DS40002183"),
    part("avr128da48",     MODERN, 128*KB, 16384, 0x4000, 104, "DS40002183"),
    part("avr128da64",     MODERN, 128*KB, 16384, 0x4000, 104, "DS40002183"),
    part("avr32db28",      MODERN, 32*KB,  4096, 0x7000, 103, "DS40002301"),
    part("avr32db32",      MODERN, 32*KB,  4096, 0x7000, 103, "DS40002301"),
    part("avr32db48",      MODERN, 32*KB,  4096, 0x7000, 103, "DS40002301"),
    part("avr64db28",      MODERN, 64*KB,  8192, 0x6000, 102, "DS40002300"),
    part("avr64db32",      MODERN, 64*KB,  8192, 0x6000, 102, "DS40002300"),
    part("avr64db48",      MODERN, 64*KB,  8192, 0x6000, 102, "DS40002300"),
    part("avr64db64",      MODERN, 64*KB,  8192, 0x6000, 102, "DS40002300"),
    part("avr128db28",     MODERN, 128*KB, 16384, 0x4000, 104, "DS40002247"),
    part("avr128db32",     MODERN, 128*KB, 16384, 0x4000, 104, "DS40002247"),
    part("avr128db48",     MODERN, 128*KB, 16384, 0x4000, 104, "DS40002247"),
    part("avr128db64",     MODERN, 128*KB, 16384, 0x4000, 104, "DS40002247"),
    part("avr64dd14",      MODERN,  64*KB,  8192, 0x6000, 102, "DS40002315"),
    part("avr64dd20",      MODERN,  64*KB,  8192, 0x6000, 102, "DS40002315"),
    part("avr64dd28",      MODERN,  64*KB,  8192, 0x6000, 102, "DS40002315"),
    part("avr64dd32",      MODERN, 64*KB,  8192, 0x6000, 102, "DS40002315"),
    // XMEGA
    part("atxmega16a4",    XMEGA,  16*KB,  2048, 0x2000, 102, "doc8069"),
    part("atxmega32a4",    XMEGA,  32*KB,  4096, 0x2000, 102, "doc8069"),
    part("atxmega16a4u",   XMEGA,  16*KB,  2048, 0x2000, 102, "doc8387"),
    part("atxmega32a4u",   XMEGA,  32*KB,  4096, 0x2000, 102, "doc8387"),
    part("atxmega32e5",    XMEGA,  32*KB,  4096, 0x2000, 102, "doc8153"),
    part("atxmega64a3u",   XMEGA,  64*KB,  4096, 0x2000, 104, "doc8386"),
    part("atxmega64a4u",   XMEGA,  64*KB,  4096, 0x2000, 104, "doc8387"),
    part("atxmega128a1",   XWIDE, 128*KB,  8192, 0x2000, 107, "doc8067"),
    part("atxmega128a1u",  XWIDE, 128*KB,  8192, 0x2000, 107, "doc8385"),
    part("atxmega128a3u",  XWIDE, 128*KB,  8192, 0x2000, 106, "doc8386"),
    part("atxmega128a4u",  XWIDE, 128*KB,  8192, 0x2000, 107, "doc8387"),
    part("atxmega256a3u",  XWIDE, 256*KB, 16384, 0x2000, 106, "doc8386"),
];

impl Core {
    /// What is true of the part it is in.
    fn part_has(&self, what: impl Fn(&Part) -> bool) -> bool {
        let named = || PARTS.iter().find(|part| part.name == self.name);
        self.part.or_else(named).is_some_and(what)
    }

    /// Has it RAMPZ, and with that ELPM?
    pub fn has_rampz(&self) -> bool {
        self.part_has(Part::has_rampz)
    }

    /// Do RAMPX, RAMPY, RAMPZ and RAMPD stand above the addresses of data?
    pub fn pages_data(&self) -> bool {
        self.part_has(Part::pages_data)
    }

    /// Has the part `op`, if the instruction set has it?
    fn part_can(&self, op: Op) -> bool {
        match op {
            Op::JMP | Op::CALL => self.part_has(Part::has_jmp),
            Op::ELPM | Op::ELPMZ | Op::ELPMZ_INC => self.has_rampz(),
            _ => true,
        }
    }

    /// Why `insn` is no instruction of this core, if it is none.
    pub fn refusal(&self, insn: &Insn) -> Option<String> {
        let displaced = matches!(insn.op, Op::LDDY | Op::LDDZ | Op::STDY | Op::STDZ);
        let reduced = self.set == Set::Avrrc;
        let name = || insn.form().name.to_uppercase();
        if !self.set.has(insn.op) || reduced && displaced && insn.ops.k != 0 {
            return Some(format!("{} is not an instruction of {}", name(), self.name));
        }
        if !self.part_can(insn.op) {
            let part = self.part.map_or(self.name, |part| part.name);
            return Some(format!("{} is not an instruction of {part}", name()));
        }
        if !reduced {
            return None;
        }
        let first = self.set.first_register();
        let low = insn.registers().into_iter().find(|r| *r < first)?;
        Some(format!("r{low} is not a register of {}", self.name))
    }
}
