//! Modular kernels as `gen` writes them, linked into C programs and run by emulators we did not write: on simavr
//! (with cycles and stack) and on QEMU. Moduli of the standards, random primes, random odd numbers; operands
//! next to 0, the modulus and the bound, and with limbs of all ones; every aliasing that the report calls proved.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::spec::modulus::{Modular, Reduce};
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors::{self, Random};
use num_bigint::BigUint;
use object::{Object, ObjectSymbol};
use serde_json::Value;

use crate::kit::oracle::{SIMAVR, built, lozenge, run, source};

/// Operation, bits, modulus, reduction, the rest of the command line.
type Case = (&'static str, u32, &'static str, &'static str, &'static str);

/// On AVR. `prime` is a random prime, `near` a random prime next to `2^n`, `odd` a random odd number.
#[rustfmt::skip]
const AVR: &[Case] = &[
    ("modmul", 192, "p192", "full", "--method karatsuba-modulo"),
    ("modmul", 224, "p224", "almost", "--method operand-caching+fold -p e=9"),
    ("modmul", 256, "p256", "full", "--method consecutive-operand-caching+fold -p e=9"),
    ("modmul", 256, "25519", "almost", "--method karatsuba-comba+fold -p levels=1"),
    ("modmul", 160, "secp160r1", "full", "--method product-scanning+fold"),
    ("modmul", 128, "near", "full", "--method hybrid+fold -p d=4"),
    ("modsqr", 256, "25519", "full", "--method sliding-block-doubling+fold -p e=8 -p c=2"),
    ("modsqr", 256, "secp256k1", "full", "--method karatsuba-squaring+fold -p levels=1 -p c=2"),
    ("modsqr", 192, "p192", "almost", "--method square-product-scanning+fold"),
    ("modsqr", 96, "near", "almost", "--method lazy-doubling+fold -p d=3"),
    ("modmul", 160, "near", "almost", "--style rolled --method hybrid+fold -p d=4"),
    ("modsqr", 128, "near", "full", "--style rolled --method square-reverse-hybrid+fold -p d=4"),
    ("modadd", 256, "25519", "full", ""),
    ("modadd", 160, "secp160r1", "almost", ""),
    ("modadd", 128, "prime", "full", ""),
    ("modsub", 256, "p256", "full", ""),
    ("modsub", 128, "prime", "almost", ""),
    ("modsub", 128, "runtime", "full", ""),
    ("modadd", 128, "runtime", "almost", ""),
    ("modneg", 72, "runtime", "almost", ""),
    ("modsub", 136, "runtime", "full", "--style rolled"),
    ("modneg", 192, "p192", "full", ""),
    ("modtimes", 256, "25519", "almost", "--times 121665"),
    ("modneg", 128, "runtime", "lazy", ""),
    ("montmul", 160, "opf160", "full", "--method fips"),
    ("montmul", 256, "p256-order", "full", "--method operand-caching+sps -p e=8"),
    ("montmul", 192, "prime", "full", "--method fips"),
    ("montmul", 128, "odd", "almost", "--method cihs"),
    ("montsqr", 128, "runtime", "full", "--method square-carry-catcher+sps -p d=2"),
    ("montmul", 96, "runtime", "lazy", "--method product-scanning+sos"),
    ("montsqr", 160, "prime", "full", "--method sliding-block-doubling+sps -p e=5 -p c=1"),
    ("montsqr", 128, "odd", "full", "--method cios"),
    ("montmul", 128, "runtime", "almost", "--method hsps -p d=4"),
    ("redc", 128, "odd", "full", "--method fips"),
    ("redc", 96, "runtime", "full", "--method fips"),
    ("montmul", 128, "runtime", "full", "--style rolled --method hfips -p d=4"),
    ("montmul", 72, "runtime", "lazy", "--style rolled --method hfips -p d=3"),
    ("montsqr", 96, "runtime", "almost", "--style rolled --method fips -p unroll=4"),
    ("montmul", 160, "secp160r1", "full", "--style rolled --method hfips -p d=4"),
    ("montmul", 128, "runtime", "almost", "--style rolled --method hsps -p d=4"),
    ("montsqr", 128, "runtime", "full", "--style rolled --method karatsuba-calls+sps -p levels=1 -p d=4"),
];

/// Without a multiplier.
#[rustfmt::skip]
const TINY: &[Case] = &[
    ("modmul", 40, "2^39-7", "full", "--method hybrid+fold -p d=1"),
    ("modmul", 48, "2^48-2^16-1", "full", "--method shift-and-add+fold -p e=3 -p f=3"),
    ("montmul", 48, "runtime", "full", "--method shift-and-add+sps -p e=3 -p f=3"),
    ("modsqr", 40, "near", "almost", "--method square-product-scanning+fold -p c=0 -p unroll=1"),
    ("modadd", 40, "runtime", "full", "--style rolled"),
];

/// On ARM and MIPS.
#[rustfmt::skip]
const WIDE: &[Case] = &[
    ("modmul", 192, "p192", "full", "--method product-scanning+fold"),
    ("modmul", 224, "p224", "almost", "--method product-scanning+fold"),
    ("modmul", 256, "p256", "full", ""),
    ("modmul", 256, "25519", "full", "--method karatsuba-comba+fold -p levels=1"),
    ("modmul", 256, "secp256k1", "almost", "--method operand-caching+fold -p e=2"),
    ("modmul", 160, "near", "full", "--method product-scanning+fold"),
    ("modsqr", 256, "25519", "almost", "--method square-product-scanning+fold"),
    ("modsqr", 160, "secp160r1", "full", "--method lazy-doubling+fold -p d=2"),
    ("modsqr", 192, "near", "full", "--method square-product-scanning+fold"),
    ("modmul", 256, "near", "full", "--style rolled --method product-scanning+fold"),
    ("modsqr", 160, "near", "almost", "--style rolled --method square-product-scanning+fold -p unroll=1"),
    ("modadd", 256, "p256", "full", ""),
    ("modadd", 256, "prime", "almost", ""),
    ("modsub", 256, "25519", "full", ""),
    ("modsub", 160, "runtime", "full", ""),
    ("modadd", 160, "runtime", "almost", ""),
    ("modsub", 192, "runtime", "almost", ""),
    ("modadd", 288, "runtime", "full", "--style rolled"),
    ("modneg", 224, "prime", "full", ""),
    ("modtimes", 256, "25519", "almost", "--times 4294967295"),
    ("modneg", 160, "runtime", "full", ""),
    ("montmul", 160, "opf160", "full", "--method fips"),
    ("montmul", 384, "p384-order", "full", "--method fips"),
    ("montmul", 256, "prime", "almost", "--method product-scanning+sps"),
    ("montmul", 192, "odd", "full", "--method cios"),
    ("montmul", 256, "runtime", "full", "--method fips"),
    ("montmul", 192, "runtime", "lazy", "--method hsps -p d=2"),
    ("montmul", 256, "runtime", "full", "--method fips --style rolled"),
    ("montsqr", 224, "runtime", "almost", "--method fips --style rolled -p unroll=1"),
    ("montmul", 256, "prime", "full", "--method product-scanning+sps --style rolled"),
    ("montsqr", 256, "prime", "full", "--method fips"),
    ("montsqr", 192, "odd", "almost", "--method sos"),
    ("montsqr", 256, "runtime", "almost", "--method fios"),
    ("redc", 192, "odd", "full", "--method fips"),
    ("redc", 192, "runtime", "almost", "--method fips"),
];

/// Which pointers are equal; the index is `mode` in the programs.
const MODES: [Alias; 5] = [
    Alias::Distinct,
    Alias::AIsB,
    Alias::RIsA,
    Alias::RIsB,
    Alias::All,
];

/// By Fermat, to twenty random bases.
fn is_prime(m: &BigUint, random: &mut Random) -> bool {
    let one = BigUint::from(1u8);
    let mut base = || random.uniform(m.bits() as usize / 8) + 2u8;
    (0..20).all(|_| base().modpow(&(m - &one), m) == one)
}

/// The modulus of a case as text; random ones use all `bits`.
fn modulus(name: &str, bits: u32, random: &mut Random) -> String {
    let near = random.draw() % 1000 * 2 + 1;
    let mut m = match name {
        "near" => (BigUint::from(1u8) << bits) - near,
        "prime" | "odd" => random.uniform(bits as usize / 8),
        _ => return name.into(),
    };
    m.set_bit(0, true);
    m.set_bit(u64::from(bits) - 1, true);
    if name == "odd" {
        // A multiple of 3.
        let rest = &m % 3u8;
        m -= rest * 4u8;
    }
    while name != "odd" && !is_prime(&m, random) {
        m -= 2u8;
    }
    format!("{m:#x}")
}

struct Kernel {
    name: String,
    spec: Spec,
    folder: PathBuf,
    symbol: String,
    report: Value,
    /// The mode and the sources.
    calls: Vec<(usize, Vec<BigUint>)>,
}

impl Kernel {
    /// Has it made by the program; proved.
    fn generate(base: &Path, case: &Case, target: &str, word_bits: u32) -> Self {
        let (op, bits, modulus_name, reduce, rest) = *case;
        let mut random = Random::new(u64::from(bits) + op.len() as u64);
        let text = modulus(modulus_name, bits, &mut random);
        let name = format!("gen {op} {bits} {target} --modulus {text} --reduce {reduce} {rest}");
        let folder = base.join(format!("{op}{bits}{modulus_name}{reduce}"));
        let output = run(lozenge()
            .args(name.split_whitespace())
            // What is linked and run here holds no secrets; parts of one core share a folder.
            .args(["--variable-time", "--force", "--json"])
            .arg("-o")
            .arg(&folder));
        let report: Value = serde_json::from_slice(&output.stdout).expect("gen --json is JSON");
        let modular = Modular {
            modulus: text.parse().expect("a modulus"),
            reduce: *(Reduce::ALL.iter().find(|r| r.name() == reduce)).expect("a reduction"),
            shift: 0,
            times: rest
                .strip_prefix("--times ")
                .map_or(0, |k| k.parse().expect("a number")),
        };
        let op = Op::ALL.into_iter().find(|o| o.name() == op);
        let spec = Spec::with(op.expect("an operation"), bits, Some(modular), word_bits);
        let spec = spec.expect("a spec");
        let symbol = report["spec"]["symbol"].as_str().expect("a symbol").into();
        let proved = |alias: &Alias| report["aliasing"][alias.text()] == "proved";
        let two = spec.op.factors() == 2;
        assert_eq!(proved(&Alias::AIsB), two, "{name}");
        let mut calls = Vec::new();
        for (mode, alias) in MODES.iter().enumerate() {
            if mode > 0 && !proved(alias) {
                continue;
            }
            let step = if mode == 0 { 1 } else { 3 };
            let sources = vectors::of(&spec, 40, u64::from(bits)).into_iter();
            calls.extend(
                sources
                    .skip(mode)
                    .step_by(step)
                    .map(|sources| (mode, sources)),
            );
        }
        Self {
            name,
            spec,
            folder,
            symbol,
            report,
            calls,
        }
    }

    fn number(&self, pointer: &str) -> u64 {
        let value = self.report.pointer(pointer).and_then(Value::as_u64);
        value.unwrap_or_else(|| panic!("{}: no number {pointer}", self.name))
    }

    /// Bytes of the three sources of a program. What it does not take has one word, and the second is as long as
    /// the first, whose place it may share.
    fn places(&self) -> [usize; 3] {
        let bytes = self.spec.source_bytes();
        let word = self.spec.word_bits as usize / 8;
        [0, 1, 2].map(|i| bytes.get(i).copied().unwrap_or(word))
    }

    /// What the programs are compiled with.
    fn definitions(&self) -> Vec<String> {
        let [a, b, m] = self.places();
        let symbol = &self.symbol;
        vec![
            format!("-DHEADER=\"{symbol}.h\""),
            format!("-DKERNEL={symbol}"),
            format!("-DSOURCES={}", self.spec.sources().len()),
            format!("-DA_BYTES={a}"),
            format!("-DB_BYTES={b}"),
            format!("-DM_BYTES={m}"),
        ]
    }

    /// The sources of a call as words in memory, padded.
    fn bytes(&self, sources: &[BigUint], big_endian: bool) -> [Vec<u8>; 3] {
        let mut place = 0;
        self.places().map(|length| {
            let source = sources.get(place).cloned().unwrap_or_default();
            place += 1;
            let mut bytes = source.to_bytes_le();
            bytes.resize(length, 0);
            if big_endian {
                bytes.chunks_mut(4).for_each(<[u8]>::reverse);
            }
            bytes
        })
    }

    /// Is every result the residue of what it should be, and below its bound?
    fn check(&self, results: &[BigUint]) {
        assert_eq!(results.len(), self.calls.len(), "{}", self.name);
        let n = self.spec.size.a;
        let modular = self.spec.modular.as_ref().expect("a modulus");
        let two = self.spec.op.factors() == 2;
        for ((mode, sources), got) in self.calls.iter().zip(results) {
            let r = BigUint::from(1u8) << n;
            let m = match modular.fixed() {
                Some(m) => m.clone(),
                None => sources[self.spec.op.factors()].clone() % &r,
            };
            if modular.fixed().is_none() && self.spec.op.is_montgomery() {
                let inverse = &sources[self.spec.op.factors()] >> n;
                let word = BigUint::from(1u8) << self.spec.word_bits;
                assert_eq!((&m * inverse + 1u8) % word, BigUint::default());
            }
            let a = &sources[0];
            let b = match [Alias::AIsB, Alias::All].contains(&MODES[*mode]) || !two {
                true => a,
                false => &sources[1],
            };
            let (left, right) = match self.spec.op {
                Op::Modmul | Op::Modsqr => (got.clone(), a * b),
                Op::Modadd => (got.clone(), a + b),
                Op::Modsub => (got + b, a.clone()),
                Op::Modneg => (got + a, BigUint::default()),
                Op::Modtimes => (got.clone(), a * modular.times),
                Op::Redc => (got << n, a.clone()),
                _ => (got << n, a * b),
            };
            let bound = match modular.reduce {
                Reduce::Full => m.clone(),
                Reduce::Almost => r,
                Reduce::Lazy => &m << 1,
            };
            let context = format!("{}: {:?} {sources:x?}: {got:x}", self.name, MODES[*mode]);
            assert_eq!(left % &m, right % &m, "{context}");
            assert!(*got < bound, "{context}");
        }
    }
}

/// Links the kernel with avr-gcc, runs it on simavr: the results; cycles, stack and registers are as reported.
fn on_simavr(kernel: &Kernel, mcu: &str, runner: &Path) -> Vec<BigUint> {
    let length = kernel.spec.result_bytes();
    // An ATtiny has 512 bytes of memory in all.
    let kept = if mcu.starts_with("attiny") { 128 } else { 512 } / (length + 1);
    let list = |bytes: &Vec<u8>| {
        let text: Vec<_> = bytes.iter().map(u8::to_string).collect();
        format!("{{{}}}", text.join(","))
    };
    let rows = kernel.calls.iter().map(|(mode, sources)| {
        let [a, b, m] = &kernel.bytes(sources, false);
        format!("{{{mode},{},{},{}}},\n", list(a), list(b), list(m))
    });
    std::fs::write(kernel.folder.join("cases.h"), rows.collect::<String>()).expect("written");
    run(Command::new("avr-gcc")
        .current_dir(&kernel.folder)
        .arg(format!("-mmcu={mcu}"))
        .args(["-O2", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-I."])
        .args(kernel.definitions())
        .arg(format!(
            "-DHEADER_RESULT_BYTES={}_RESULT_BYTES",
            kernel.symbol.to_uppercase()
        ))
        .arg(format!("-DRESULT_BYTES={length}"))
        .arg(format!("-DCOUNT={}", kernel.calls.len()))
        .arg(format!("-DKEPT={kept}"))
        .arg(source("avr_calls.c"))
        .arg(format!("{}.o", kernel.symbol))
        .args(["-o", "calls.elf"]));
    let elf = kernel.folder.join("calls.elf");
    let data = std::fs::read(&elf).expect("calls.elf can be read");
    let file = object::File::parse(&*data).expect("an object file");
    let address = |name: &str| {
        let symbol = file.symbols().find(|s| s.name() == Ok(name));
        let symbol = symbol.unwrap_or_else(|| panic!("no symbol {name}"));
        format!("{:#x}", symbol.address() & 0x7f_ffff) // data space begins at 0x800000
    };
    let output = run(Command::new(runner)
        .arg(mcu)
        .arg(&elf)
        .args([&kernel.symbol, "flush", "done", "results"].map(address))
        .arg((kept * (length + 1)).to_string()));
    let text = String::from_utf8(output.stdout).expect("the runner prints text");
    let lines = |start: &'static str| text.lines().filter_map(move |l| l.strip_prefix(start));
    let [least, most, stack] = ["/cycles/call/min", "/cycles/call/max", "/stack_bytes"]
        .map(|pointer| kernel.number(pointer));
    assert_eq!(least, most);
    for call in lines("call ") {
        assert_eq!(call, format!("{most} {stack} 0"), "{}", kernel.name);
    }
    assert_eq!(lines("call ").count(), kernel.calls.len());
    let hex = |c: u8| (c as char).to_digit(16).expect("hexadecimal") as u8;
    let bytes: Vec<u8> = lines("data ")
        .flat_map(|line| {
            line.as_bytes()
                .chunks(2)
                .map(|d| hex(d[0]) << 4 | hex(d[1]))
        })
        .collect();
    let results = bytes.chunks_exact(length + 1).take(kernel.calls.len());
    results
        .map(|result| {
            assert_eq!(
                result[0], 0,
                "an operand or a guard changed: {}",
                kernel.name
            );
            BigUint::from_bytes_le(&result[1..])
        })
        .collect()
}

#[test]
fn avr_kernels_are_right_on_simavr() {
    let base = tempfile::tempdir().expect("a temporary folder");
    let runner = built("simavr_calls", SIMAVR);
    let parts = ["atmega128", "atmega328p", "atmega2560"];
    let mut calls = 0;
    let tiny = TINY.iter().map(|case| (case, "attiny85"));
    for (case, mcu) in AVR.iter().zip(parts.into_iter().cycle()).chain(tiny) {
        let kernel = Kernel::generate(base.path(), case, &format!("--mcu {mcu}"), 8);
        kernel.check(&on_simavr(&kernel, mcu, &runner));
        calls += kernel.calls.len();
    }
    println!("{} kernels, {calls} calls", AVR.len() + TINY.len());
}

/// A cross compiler, what runs its programs, and the parameters of tests/oracle/cross_calls.c.
struct Cross {
    target: &'static str,
    gcc: &'static str,
    flags: &'static [&'static str],
    qemu: [&'static str; 3],
    runtime: &'static str,
    /// Registers that the callee keeps, words above the stack pointer that it may write.
    saved: usize,
    home: usize,
    big_endian: bool,
}

const ARM: Cross = Cross {
    target: "--core arm7tdmi",
    gcc: "arm-none-eabi-gcc",
    flags: &["-mcpu=arm7tdmi", "-marm"],
    qemu: ["qemu-arm", "-cpu", "ti925t"],
    runtime: "cross_arm.S",
    saved: 8,
    home: 0,
    big_endian: false,
};

const MIPSEL: Cross = Cross {
    target: "--core mips-4km",
    gcc: "mipsel-linux-gnu-gcc",
    flags: &[
        "-march=mips32",
        "-mabi=32",
        "-mno-abicalls",
        "-fno-pic",
        "-msoft-float",
    ],
    qemu: ["qemu-mipsel", "-cpu", "4Km"],
    runtime: "cross_mips.S",
    saved: 12,
    home: 4,
    big_endian: false,
};

const MIPSEB: Cross = Cross {
    target: "--core mips-4km --big-endian",
    gcc: "mips-linux-gnu-gcc",
    qemu: ["qemu-mips", "-cpu", "4Km"],
    big_endian: true,
    ..MIPSEL
};

impl Cross {
    /// Links the kernel, runs it on QEMU: the results; memory and registers are as they must be.
    fn on_qemu(&self, kernel: &Kernel) -> Vec<BigUint> {
        run(Command::new(self.gcc)
            .current_dir(&kernel.folder)
            .args(self.flags)
            .args([
                "-O2",
                "-std=c99",
                "-pedantic",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-I.",
            ])
            .args([
                "-ffreestanding",
                "-fno-tree-loop-distribute-patterns",
                "-nostdlib",
            ])
            .args(["-static", "-Wl,--fatal-warnings,--entry=_start"])
            .args(kernel.definitions())
            .arg(format!(
                "-DRESULT_BYTES={}_RESULT_BYTES",
                kernel.symbol.to_uppercase()
            ))
            .args([
                format!("-DSAVED={}", self.saved),
                format!("-DHOME={}", self.home),
            ])
            .args([source("cross_calls.c"), source(self.runtime)])
            .arg(format!("{}.o", kernel.symbol))
            .args(["-o", "calls.elf"]));
        let word = |mode: usize| match self.big_endian {
            true => (mode as u32).to_be_bytes(),
            false => (mode as u32).to_le_bytes(),
        };
        let input = kernel.calls.iter().flat_map(|(mode, sources)| {
            let sources = kernel.bytes(sources, self.big_endian);
            word(*mode).into_iter().chain(sources.into_iter().flatten())
        });
        let operands = kernel.folder.join("operands");
        std::fs::write(&operands, input.collect::<Vec<u8>>()).expect("it can be written");
        let [qemu, arguments @ ..] = self.qemu;
        let output = run(Command::new(qemu)
            .args(arguments)
            .arg(kernel.folder.join("calls.elf"))
            .stdin(File::open(&operands).expect("it can be read")));
        let records = output.stdout.chunks(4 + kernel.spec.result_bytes());
        records
            .map(|record| {
                let (head, words) = record.split_at(4);
                assert_eq!(
                    head[..2],
                    [0, 0],
                    "status, broken register: {}",
                    kernel.name
                );
                let mut words = words.to_vec();
                if self.big_endian {
                    words.chunks_mut(4).for_each(<[u8]>::reverse);
                }
                BigUint::from_bytes_le(&words)
            })
            .collect()
    }

    fn check(&self, cases: impl Iterator<Item = &'static Case>) {
        let base = tempfile::tempdir().expect("a temporary folder");
        let (mut kernels, mut calls) = (0, 0);
        for case in cases {
            let kernel = Kernel::generate(base.path(), case, self.target, 32);
            kernel.check(&self.on_qemu(&kernel));
            kernels += 1;
            calls += kernel.calls.len();
        }
        println!("{}: {kernels} kernels, {calls} calls", self.gcc);
    }
}

#[test]
fn arm_kernels_are_right_on_qemu() {
    ARM.check(WIDE.iter());
}

#[test]
fn mips_kernels_are_right_on_qemu() {
    MIPSEL.check(WIDE.iter());
    MIPSEB.check(WIDE.iter().step_by(5));
}
