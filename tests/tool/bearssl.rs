//! `pack --for bearssl`: our functions pass the tests of BearSSL, which the crate bearssl-sys carries, give what the library's own
//! give on numbers at edges, and take the cycles on record.

use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::domain::abstract_memory::Region;
use lozenge::domain::secret::Secret;
use lozenge::domain::{Abstract, Address, Base, Domain};
use lozenge::isa::core::Core;
use lozenge::load::{self, Loaded};
use lozenge::target::Target;
use lozenge::told;
use num_bigint::BigUint;

use crate::kit::oracle::{run, source};
use crate::kit::{crates, tier};
use crate::tool::mbed_tls::{COMPILERS, Compiler};
use crate::tool::packs::{files, packed};

/// What is called through a pack.
struct Called {
    pack: &'static str,
    /// What the library calls it, and the pack: functions, or a table.
    theirs: &'static [&'static str],
    ours: &'static [&'static str],
    /// The library's files beside those of its numbers.
    files: &'static [&'static str],
    /// Functions that do the pack's work.
    kernels: &'static [&'static str],
    /// Bytes of a point, and of a scalar; of RSA none.
    lengths: [usize; 2],
}

const CALLED: [Called; 5] = [
    Called {
        pack: "rsa-1024",
        theirs: &["-DPRIVATE=br_rsa_i31_private"],
        ours: &["-DPRIVATE=rsa_1024_private", "-DPUBLIC=rsa_1024_public"],
        files: &["rsa/rsa_i31_priv.c", "rsa/rsa_i31_pub.c"],
        kernels: &[
            "rsa_1024_half_mul",
            "rsa_1024_half_sqr",
            "rsa_1024_whole_mul",
            "rsa_1024_whole_sqr",
        ],
        lengths: [0, 0],
    },
    Called {
        pack: "x25519",
        theirs: &["-DTABLE=br_ec_c25519_m31", "-DCURVE=BR_EC_curve25519"],
        ours: &["-DTABLE=x25519_bearssl", "-DCURVE=BR_EC_curve25519"],
        files: &["ec/ec_c25519_m31.c"],
        kernels: &["x25519_numbers"],
        lengths: [32, 32],
    },
    Called {
        pack: "p256",
        theirs: &["-DTABLE=br_ec_p256_m31", "-DCURVE=BR_EC_secp256r1"],
        ours: &["-DTABLE=p256_bearssl", "-DCURVE=BR_EC_secp256r1"],
        files: &["ec/ec_p256_m31.c"],
        kernels: &["p256_mul", "p256_sqr", "p256_add", "p256_sub"],
        lengths: [65, 32],
    },
    Called {
        pack: "p384",
        theirs: &["-DTABLE=br_ec_prime_i31", "-DCURVE=BR_EC_secp384r1"],
        ours: &["-DTABLE=p384_bearssl", "-DCURVE=BR_EC_secp384r1"],
        files: &["ec/ec_prime_i31.c", "ec/ec_curve25519.c"],
        kernels: &["p384_mul", "p384_sqr", "p384_add", "p384_sub"],
        lengths: [97, 48],
    },
    Called {
        pack: "p521",
        theirs: &["-DTABLE=br_ec_prime_i31", "-DCURVE=BR_EC_secp521r1"],
        ours: &["-DTABLE=p521_bearssl", "-DCURVE=BR_EC_secp521r1"],
        files: &["ec/ec_prime_i31.c", "ec/ec_curve25519.c"],
        kernels: &["p521_mul", "p521_sqr", "p521_add", "p521_sub"],
        lengths: [133, 66],
    },
];

/// Files of the library that its numbers or its tests need.
const FILES: &[&str] = &[
    "int/i32_div32.c",
    "ec/ec_secp256r1.c",
    "ec/ec_secp384r1.c",
    "ec/ec_secp521r1.c",
    "codec/ccopy.c",
    "codec/dec32be.c",
    "codec/enc32be.c",
    "hash/sha2small.c",
    "mac/hmac.c",
    "rand/hmac_drbg.c",
];

impl Called {
    /// What is compiled, with its flags: the program around it, the library's files, and those of the pack in `ours`.
    fn compiled(&self, ours: Option<&Path>) -> Vec<PathBuf> {
        let library = crates::folder_of("bearssl-sys", "0.0.4").join("lib/BearSSL");
        let flag = |text: &str, path: &Path| PathBuf::from(format!("{text}{}", path.display()));
        let mut list =
            Vec::from(["inc", "src", "test"].map(|path| flag("-I", &library.join(path))));
        let numbers = files(&library.join("src/int"), ".c").into_iter();
        let has_31_bits = |path: &PathBuf| path.to_string_lossy().contains("/i31_");
        list.extend(numbers.filter(has_31_bits));
        let all = self.files.iter().chain(FILES);
        list.extend(all.map(|file| library.join("src").join(file)));
        list.push(source("bearssl.c"));
        let [point, scalar] = self.lengths;
        list.push(format!("-DPOINT_BYTES={point}").into());
        list.push(format!("-DSCALAR_BYTES={scalar}").into());
        let Some(folder) = ours else {
            list.extend(self.theirs.iter().map(PathBuf::from));
            return list;
        };
        list.extend(self.ours.iter().map(PathBuf::from));
        list.extend(["-DOURS".into(), flag("-I", folder)]);
        let c = files(folder, ".c").into_iter();
        list.extend(c.filter(|path| !path.ends_with("selftest.c")));
        list.extend(files(folder, ".o"));
        list
    }

    /// Numbers as `tests/oracle/bearssl.c` takes them: of a curve random and structured scalars.
    fn numbers(&self) -> Vec<Vec<u8>> {
        let [point, scalar] = self.lengths;
        if scalar == 0 {
            return [false, true].map(private).into();
        }
        let mut random = vec![0; scalar];
        let digits = tier::random(91).uniform(scalar - 1).to_bytes_be();
        random[scalar - digits.len()..].copy_from_slice(&digits);
        // Ones but for the highest byte; 16, which has a window of zeros at its end.
        let ones = [vec![0], vec![0xff; scalar - 1]].concat();
        let small = [vec![0; scalar - 1], vec![16]].concat();
        let scalars = [random, ones, small];
        scalars.map(|bytes| [vec![0; point], bytes].concat()).into()
    }

    /// Bytes of the result, at the start of the numbers.
    fn result(&self) -> usize {
        match self.lengths {
            [0, _] => 2 * PRIME_BYTES,
            [point, _] => point,
        }
    }
}

/// Of the primes of RSA with 1024 bits.
const PRIME_BYTES: usize = 64;

/// A number, and a key of RSA that raises it to a power. Both primes are at an edge, and `p < q` if `exchanged`.
fn private(exchanged: bool) -> Vec<u8> {
    let power = |bits: u32| BigUint::from(1u8) << bits;
    let primes = [power(512) - 569u32, power(511) + 809u32];
    let [p, q] = match exchanged {
        true => [&primes[1], &primes[0]],
        false => [&primes[0], &primes[1]],
    };
    let less = |number: &BigUint| number - 1u8;
    let d = BigUint::from(65537u32).modinv(&(less(p) * less(q)));
    let d = d.expect("an inverse");
    let x = tier::random(92).uniform(2 * PRIME_BYTES) % (p * q);
    let bytes = |number: &BigUint, length: usize| {
        let digits = number.to_bytes_be();
        [vec![0; length - digits.len()], digits].concat()
    };
    let iq = q.modinv(p).expect("an inverse");
    let of_prime = [p, q, &(&d % less(p)), &(&d % less(q)), &iq];
    let of_prime = of_prime.map(|number| bytes(number, PRIME_BYTES));
    [bytes(&x, 2 * PRIME_BYTES), of_prime.concat()].concat()
}

/// The program of `tests/oracle/bearssl.c`: its function `measured`, with all that it calls.
fn program(compiler: Compiler, called: &Called, ours: Option<&Path>, folder: &Path) -> Loaded {
    let (core, gcc, own, has_library) = compiler;
    let c_library = match has_library {
        true => ["-lc".into()],
        false => [format!("-I{}", source("bare").display())],
    };
    let program = folder.join("measured.elf");
    run(Command::new(gcc)
        .args(own)
        .args(["-O2", "-w", "-ffreestanding", "-nostdlib", "-nostartfiles"])
        .args(["-ffunction-sections", "-fdata-sections"])
        .arg("-Wl,--gc-sections,-e,measured")
        .args(called.compiled(ours))
        .args(c_library)
        .args(["-lgcc", "-o"])
        .arg(&program));
    let core = Target::core(core).expect("a core").to_core();
    let file = std::fs::read(&program).expect("a program");
    load::load(&file, "measured", &core.object_format()).expect("a function")
}

/// Cycles of the first numbers, bytes of code and of stack; and all results.
fn measured(
    compiler: Compiler,
    called: &Called,
    ours: Option<&Path>,
    folder: &Path,
) -> ([u64; 3], Vec<Vec<u8>>) {
    let core_name = compiler.0;
    let core = Target::core(core_name).expect("a core").to_core();
    let loaded = program(compiler, called, ours, folder);
    let mut results = Vec::new();
    let mut costs = Vec::new();
    for mut area in called.numbers() {
        let cost = core.execute(&loaded.function, &mut area, &mut |_, _| {});
        costs.push(cost.expect("it returns"));
        results.push(area[..called.result()].to_vec());
    }
    // The library's own operations take the same time whatever the secrets; so do ours.
    for cost in &costs[1..] {
        assert_eq!(
            cost.call.max, costs[0].call.max,
            "{} {core_name}",
            called.pack
        );
    }
    let code = loaded.symbols.iter().map(|(_, bytes, _)| bytes).sum();
    let figures = [costs[0].call.max, code, costs[0].stack.bytes as u64];
    (figures, results)
}

/// Operations without and with the packs: the same results, in the cycles on record.
#[test]
fn operations_take_the_cycles_on_record() {
    let text = std::fs::read_to_string("tests/paper/bearssl.toml").expect("a table");
    let table: toml::Table = text.parse().expect("TOML");
    let rows = table["row"].as_array().expect("rows").clone();
    let mut wrong = String::new();
    for row in tier::part(rows, 2, 57) {
        let [core, pack] = ["core", "pack"].map(|key| row[key].as_str().expect("a name"));
        let compiler = *COMPILERS
            .iter()
            .find(|(name, ..)| *name == core)
            .expect("a compiler");
        let called = CALLED
            .iter()
            .find(|called| called.pack == pack)
            .expect("a pack");
        let folder = packed(&["pack", pack, "--core", core, "--for", "bearssl"]);
        let folder = folder.path();
        let both = [None, Some(folder)].map(|ours| measured(compiler, called, ours, folder));
        let [(theirs, right), (ours, got)] = both;
        assert_eq!(got, right, "{core} {pack}");
        for (i, what) in ["cycles", "flash", "stack"].into_iter().enumerate() {
            let known = row[what].as_array().expect("two figures");
            let known: Vec<_> = known.iter().filter_map(toml::Value::as_integer).collect();
            let both = [theirs[i] as i64, ours[i] as i64];
            if known != both {
                wrong += &format!("{core} {pack} {what} = {both:?}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What a run of `measured` tells of those bytes of the numbers that are secret, if it tells anything.
fn tells(
    core: &Core,
    program: &Loaded,
    numbers: &[u8],
    is_secret: impl Fn(usize) -> bool,
) -> Option<String> {
    /// More instructions than any of them takes.
    const STEPS: u64 = 100_000_000;
    let mut d = Secret::default();
    let base = Base(Base::FIRST_OPERAND);
    d.declare(base, Region::operand("numbers", numbers.len(), true, 4));
    for (at, byte) in numbers.iter().enumerate() {
        let word = match is_secret(at) {
            true => d.unknown::<8>(format!("byte {at}")),
            false => d.known::<8>((*byte).into()),
        };
        let offset = at as i64;
        d.init::<8>(Address { base, offset }, &word);
    }
    match core.call(d, &program.function, &[base], STEPS) {
        Ok(ran) => ran.slow_operand.map(|slow| slow.text.to_string()),
        Err(stopped) => Some(told::describe(core, &program.function, &stopped)),
    }
}

/// What GCC makes of the C around the kernels, and the kernels, followed as one program: neither branches nor addresses nor times
/// depend on a scalar, or on what RSA's private operation is given but the primes, whose sizes are looked at.
#[test]
fn compiled_operations_tell_no_secret() {
    // On RISC-V: memcpy of ARM's C library branches on where arrays lie, which nobody knows here.
    let compiler = COMPILERS[1];
    let name = compiler.0;
    let core = Target::core(name).expect("a core").to_core();
    let is_long = |called: &&Called| ["p384", "p521"].contains(&called.pack);
    for called in CALLED.iter().filter(|called| !is_long(called)) {
        let folder = packed(&["pack", called.pack, "--core", name, "--for", "bearssl"]);
        let program = program(compiler, called, Some(folder.path()), folder.path());
        let numbers = called.numbers().swap_remove(0);
        let primes = 2 * PRIME_BYTES..4 * PRIME_BYTES;
        let [point, scalar] = called.lengths;
        let is_secret = |at: usize| match scalar {
            0 => !primes.contains(&at),
            _ => at >= point,
        };
        let got = tells(&core, &program, &numbers, is_secret);
        assert_eq!(got, None, "{} on {name}", called.pack);
        if scalar == 0 {
            let got = tells(&core, &program, &numbers, |_| true);
            assert!(got.is_some_and(|text| text.contains("branch")));
        }
    }
}

/// The library's own tests pass with our functions, and do not where one of the kernels does nothing.
#[test]
fn the_library_tests_our_functions() {
    let gcc = |arguments: &[PathBuf], program: &Path| {
        run(Command::new("arm-none-eabi-gcc")
            .args(["-mcpu=arm7tdmi", "-marm", "-Os", "-w"])
            .args(["-ffunction-sections", "-fdata-sections"])
            .args(arguments)
            .arg("-o")
            .arg(program));
    };
    for called in tier::part(&CALLED, 2, 58) {
        let core = ["--core", "arm7tdmi-hw2018", "--for", "bearssl"];
        let folder = packed(&[&["pack", called.pack][..], &core].concat());
        let folder = folder.path();
        // All but the kernels is compiled once.
        let (kernels, c): (Vec<_>, Vec<_>) = called
            .compiled(Some(folder))
            .into_iter()
            .partition(|path| path.extension().is_some_and(|end| end == "o"));
        let all = folder.join("all.out");
        let own = ["-r", "-DTEST", "-DLOZENGE_ONLY"].map(PathBuf::from);
        gcc(&[&own[..], &c].concat(), &all);
        let passes = |broken: Option<&str>| {
            let program = folder.join("tests.elf");
            let flags = broken.map_or(vec![], |kernel| {
                vec![format!(
                    "-Wl,--wrap={kernel},--defsym=__wrap_{kernel}=nothing"
                )]
            });
            let flags = flags
                .into_iter()
                .chain(["--specs=rdimon.specs", "-Wl,--gc-sections,-u,nothing"].map(String::from));
            let flags: Vec<_> = flags.map(PathBuf::from).collect();
            gcc(
                &[&flags[..], std::slice::from_ref(&all), &kernels].concat(),
                &program,
            );
            let output = Command::new("qemu-arm").arg(&program).output();
            output.expect("qemu-arm runs").status.success()
        };
        assert!(passes(None), "{}", called.pack);
        for kernel in called.kernels {
            assert!(!passes(Some(kernel)), "{kernel} is not called");
        }
    }
}
