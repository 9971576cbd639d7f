//! GNU binutils as the judge of encodings: what we print assembles to our bytes, and what we decode objdump calls the same.

use std::process::Command;

use lozenge::isa::Isa;
use lozenge::vectors::Random;

use crate::kit::oracle::{folder, run, tool};

/// What is asked of the tools of a target.
pub struct Binutils<'a> {
    /// Their names begin so.
    pub prefix: &'a str,
    pub assembler: &'a [&'a str],
    /// Flags of the linker, if what the assembler leaves to it is looked at.
    pub linker: Option<&'a [&'a str]>,
    pub disassembler: &'a [&'a str],
    /// Lines before the instructions, behind them, and how many bytes the first make.
    pub before: &'a str,
    pub behind: &'a str,
    pub start: usize,
    /// What warnings say that are expected.
    pub warnings: &'a [&'a str],
}

/// Options and lines of a target that needs none.
pub const PLAIN: Binutils = Binutils {
    prefix: "",
    assembler: &[],
    linker: None,
    disassembler: &[],
    before: "",
    behind: "",
    start: 0,
    warnings: &[],
};

/// An operand's letter, its smallest and largest number, and the step from one to the next.
pub type Range = (char, i64, i64, i64);

/// All combinations of smallest and largest numbers, then `count` random ones.
pub fn numbers(ranges: &[Range], random: &mut Random, count: usize) -> Vec<Vec<(char, i64)>> {
    let corner = |corner: usize| {
        let ranges = ranges.iter().enumerate();
        let end = |(i, (letter, least, most, _)): (usize, &Range)| {
            (*letter, [*least, *most][corner >> i & 1])
        };
        ranges.map(end).collect()
    };
    let mut list: Vec<Vec<_>> = (0..1usize << ranges.len()).map(corner).collect();
    for _ in 0..count {
        let mut any = |(letter, least, most, step): &Range| {
            let steps = ((most - least) / step + 1) as usize;
            (*letter, least + step * random.below(steps) as i64)
        };
        list.push(ranges.iter().map(&mut any).collect());
    }
    list
}

impl Binutils<'_> {
    /// The bytes that GNU as makes of `lines`; the folder of the files is called `name`.
    pub fn assembled(&self, name: &str, lines: impl Iterator<Item = String>) -> Vec<u8> {
        let folder = folder(name);
        let lines: String = lines.map(|line| format!("\t{line}\n")).collect();
        let text = [self.before, &lines, self.behind].concat();
        std::fs::write(folder.join("t.s"), text).expect("written");
        let mut command = Command::new(format!("{}-as", self.prefix));
        command.args(self.assembler).args(["-o", "t.o", "t.s"]);
        let output = run(command.current_dir(&folder));
        let told = String::from_utf8_lossy(&output.stderr);
        let is_expected = |line: &str| {
            let mut expected = self.warnings.iter();
            line.ends_with("Assembler messages:") || expected.any(|text| line.contains(text))
        };
        assert!(told.lines().all(is_expected), "{name}: {told}");
        let mut file = "t.o";
        if let Some(flags) = self.linker {
            let flags = [flags, &["-o", "t.elf", "t.o"]].concat();
            tool(&folder, &format!("{}-ld", self.prefix), &flags);
            file = "t.elf";
        }
        let copy = ["-O", "binary", "-j", ".text", file, "t.bin"];
        tool(&folder, &format!("{}-objcopy", self.prefix), &copy);
        std::fs::read(folder.join("t.bin")).expect("what was assembled")
    }

    /// What we print of each instruction assembles to our bytes, and these decode to it.
    pub fn assembles<I: Isa>(&self, core: &I::Core, name: &str, insns: &[I::Insn]) {
        let theirs = self.assembled(name, insns.iter().map(I::text));
        let mut at = self.start;
        for insn in insns {
            let ours = I::encode(core, &[*insn]).expect("operands in their ranges");
            let text = I::text(insn);
            assert_eq!(I::decode(core, &ours), Ok(vec![(0, *insn)]), "{text}");
            let end = at + ours.len();
            assert_eq!(theirs.get(at..end), Some(&ours[..]), "{name}: {text}");
            at = end;
        }
        let mut rest = theirs[..self.start].iter().chain(&theirs[at..]);
        assert!(rest.all(|byte| *byte == 0), "{name}: more than we printed");
        assert_eq!(at < theirs.len(), !self.behind.is_empty(), "{name}");
    }

    /// What objdump prints of the instructions in `code`, each with its address.
    pub fn listing(&self, name: &str, code: &[u8]) -> Vec<(usize, String)> {
        let folder = folder(name);
        std::fs::write(folder.join("d.bin"), code).expect("written");
        let flags = [&["-D", "-z", "-b", "binary", "d.bin"], self.disassembler].concat();
        let text = tool(&folder, &format!("{}-objdump", self.prefix), &flags);
        // "   1c:\t94 0e 34 12 \tcall\t0x2468\t; 0x2468"
        let line = |line: &str| {
            let (address, rest) = line.split_once(":\t")?;
            // What has no text goes on with the bytes of the line before.
            let (_, text) = rest.split_once('\t')?;
            let address = usize::from_str_radix(address.trim(), 16).ok()?;
            Some((address, text.trim().to_string()))
        };
        text.lines().filter_map(line).collect()
    }

    /// Each of `codes` objdump reads as we do: an instruction that it calls the `same`, or none of ours, which is `fine`.
    /// How many are instructions.
    pub fn reads<I: Isa>(
        &self,
        core: &I::Core,
        name: &str,
        codes: &[Vec<u8>],
        same: impl Fn(&I::Insn, &str) -> bool,
        fine: impl Fn(&[u8], &str) -> bool,
    ) -> usize {
        let listing = self.listing(name, &codes.concat());
        assert_eq!(listing.len(), codes.len());
        let mut known = 0;
        for (code, (_, theirs)) in codes.iter().zip(&listing) {
            match I::decode(core, code).as_deref() {
                Ok([(_, insn)]) => {
                    known += 1;
                    let ours = I::text(insn);
                    let again = I::encode(core, &[*insn]);
                    assert_eq!(again.as_ref(), Ok(code), "{ours}: {code:02x?}");
                    let is_same = same(insn, theirs);
                    assert!(is_same, "{code:02x?}: we say {ours}, objdump {theirs}");
                }
                _ => assert!(
                    fine(code, theirs),
                    "{code:02x?}: objdump reads {theirs}, we nothing"
                ),
            }
        }
        println!("{name}: {known} of {} are instructions", codes.len());
        known
    }
}

/// The name of the instruction in a line of a listing.
pub fn mnemonic(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}
