//! What the tests of `check` share: cross compilers, and the library's audit of what they make.

use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::audit;
use lozenge::audit::{Audit, Contract};
use lozenge::isa::core::Core;
use lozenge::load::{self, LoadError, Loaded};
use lozenge::spec::modulus::Modular;
use lozenge::spec::{Op, Size, Spec};
use lozenge::target::{Names, Target};

/// Loops that set words to 0 stay loops, not calls of memset.
pub const NO_MEMSET: &str = "-fno-tree-loop-distribute-patterns";

const HINT: &str = "run scripts/test, which installs the cross compilers";

/// A compiler, its flags, and the core its code is for.
#[derive(Clone, Copy, Debug)]
pub struct Compiler {
    pub gcc: &'static str,
    pub flags: &'static [&'static str],
    pub core: &'static str,
}

pub const AVR: Compiler = Compiler {
    gcc: "avr-gcc",
    flags: &["-mmcu=atmega128"],
    core: "atmega128",
};
pub const ARM: Compiler = Compiler {
    gcc: "arm-none-eabi-gcc",
    flags: &["-mcpu=arm7tdmi", "-marm"],
    core: "arm7tdmi",
};
pub const MIPS: Compiler = Compiler {
    gcc: "mipsel-linux-gnu-gcc",
    flags: &["-march=mips32", "-mno-abicalls", "-fno-pic", "-msoft-float"],
    core: "mips-4km",
};

pub const RISCV: Compiler = Compiler {
    gcc: "riscv64-unknown-elf-gcc",
    flags: &["-march=rv32imc", "-mabi=ilp32"],
    core: "rv32imc",
};
/// The same without instructions of 16 bits.
pub const RISCV_LONG: Compiler = Compiler {
    flags: &["-march=rv32im", "-mabi=ilp32"],
    core: "rv32im",
    ..RISCV
};

/// The folder of the sources.
pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check")
}

impl Compiler {
    /// Compiles `source` with these flags besides its own.
    pub fn compile(&self, source: &Path, flags: &[&str]) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("out");
        let run = Command::new(self.gcc)
            .args(self.flags)
            .args(["-ffreestanding", "-nostdlib"])
            .arg(source)
            .args(flags)
            .arg("-o")
            .arg(&out)
            .output()
            .unwrap_or_else(|e| panic!("{}: {e}: {HINT}", self.gcc));
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{} {flags:?}: {errors}", self.gcc);
        std::fs::read(out).expect("what was compiled")
    }

    /// tests/check/mul.c for operands of `words` words of `bits` bits, as an object.
    pub fn multiplications(&self, bits: u32, words: u32, flags: &[&str]) -> Vec<u8> {
        self.object("mul.c", bits, words, flags)
    }

    /// The same of tests/check/ops.c.
    pub fn operations(&self, bits: u32, words: u32, flags: &[&str]) -> Vec<u8> {
        self.object("ops.c", bits, words, flags)
    }

    /// The same with what the compiler's library has to add, where that is much.
    pub fn whole(&self, source: &str, bits: u32, words: u32, flags: &[&str]) -> Vec<u8> {
        if self.gcc != AVR.gcc || bits == 8 {
            return self.object(source, bits, words, flags);
        }
        let defines = defines(bits, words);
        let mut flags: Vec<_> = flags.to_vec();
        flags.extend(defines.iter().map(String::as_str));
        flags.extend(["-nostartfiles", "-Wl,-e,0", "-lgcc"]);
        self.compile(&sources().join(source), &flags)
    }

    fn object(&self, source: &str, bits: u32, words: u32, flags: &[&str]) -> Vec<u8> {
        let defines = defines(bits, words);
        let defines = defines.iter().map(String::as_str);
        let flags: Vec<_> = flags.iter().copied().chain(defines).chain(["-c"]).collect();
        self.compile(&sources().join(source), &flags)
    }
}

fn defines(bits: u32, words: u32) -> [String; 4] {
    [
        format!("-DLIMB=uint{bits}_t"),
        format!("-DWIDE=uint{}_t", 2 * bits),
        format!("-DBITS={bits}"),
        format!("-DN={words}"),
    ]
}

/// What to check.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub symbol: &'a str,
    pub op: Op,
    pub size: Size,
    pub modular: Option<&'a Modular>,
    pub arguments: &'a str,
    pub limb_bits: Option<u32>,
    pub align: Option<u64>,
}

impl<'a> Question<'a> {
    /// A multiplication with pointers to r, a and b.
    pub fn of(symbol: &'a str, size: impl Into<Size>) -> Self {
        Self {
            symbol,
            op: Op::Mul,
            size: size.into(),
            modular: None,
            arguments: "r,a,b",
            limb_bits: None,
            align: Some(1),
        }
    }
}

/// The core of this name.
pub fn core_named(name: &str) -> Core {
    let names = Names {
        core: Some(name),
        ..Names::default()
    };
    Target::resolve(&names).expect("a core").to_core()
}

/// A function of `file`, and its spec.
pub fn prepared(file: &[u8], question: Question<'_>, core: &Core) -> (Spec, Loaded) {
    let mut loaded = load::load(file, question.symbol, &core.object_format()).expect("a function");
    let contract = Contract {
        arguments: Some(question.arguments),
        limb_bits: question.limb_bits,
        align: question.align,
        ..Contract::default()
    };
    let asked = audit::Asked {
        op: question.op,
        size: question.size,
        modular: question.modular.cloned(),
    };
    let spec = audit::prepare(asked, core, &mut loaded.function, &contract);
    (spec.expect("a contract that fits"), loaded)
}

/// Checks a function of `file` on `core`.
pub fn check(file: &[u8], core: &str, question: Question<'_>) -> Result<Audit, LoadError> {
    let core = core_named(core);
    load::load(file, question.symbol, &core.object_format())?;
    let (spec, loaded) = prepared(file, question, &core);
    Ok(audit::audit(&spec, &core, &loaded))
}
