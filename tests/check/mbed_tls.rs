//! Functions of Mbed TLS 3.5.1, which the crate psa-crypto-sys carries, as a linker has put them together.

use lozenge::prove::Verdict;
use lozenge::spec::Op;
use lozenge::spec::modulus::{Modular, Modulus, Reduce};

use crate::check::tools::{ARM, Question, check};
use crate::kit::crates;

/// Functions, what they compute, and how they are called; scratch memory for 256 bits.
const CALLS: [(&str, Op, &str); 5] = [
    (
        "mbedtls_mpi_core_montmul",
        Op::Montmul,
        "r,a,b,n32,m,n32,=inverse,scratch:68",
    ),
    ("mbedtls_mpi_core_add", Op::Add, "r,a,b,n32"),
    ("mbedtls_mpi_core_sub", Op::Sub, "r,a,b,n32"),
    ("mbedtls_mpi_core_mla", Op::Addmul, "r=a,n32,b,n32,=s"),
    ("mbedtls_mpi_core_add_if", Op::Addif, "r=a,b,n32,=s"),
];

/// Its inline assembly for ARM is on, as by default.
#[test]
fn numbers_of_words_are_proved() {
    let library = crates::folder_of("psa-crypto-sys", "0.13.0").join("vendor");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = folder.path().join("config.h");
    let features = ["BIGNUM_C", "PLATFORM_C", "HAVE_ASM"].map(|f| format!("#define MBEDTLS_{f}\n"));
    std::fs::write(&config, features.concat()).expect("written");
    let include = ["include", "library"].map(|path| format!("-I{}", library.join(path).display()));
    let config = format!("-DMBEDTLS_CONFIG_FILE=\"{}\"", config.display());
    let keep = CALLS.map(|(symbol, ..)| format!("-Wl,-u,{symbol}"));
    let constant_time = library
        .join("library/constant_time.c")
        .display()
        .to_string();
    for level in ["-Os", "-O2"] {
        let mut flags = vec![
            level,
            "-w",
            "-nostartfiles",
            "-Wl,--gc-sections",
            "-Wl,-e,0",
        ];
        flags.extend([
            "-ffunction-sections",
            "-lc",
            "-lgcc",
            &config,
            &constant_time,
        ]);
        flags.extend(include.iter().chain(&keep).map(String::as_str));
        let file = ARM.compile(&library.join("library/bignum_core.c"), &flags);
        for (symbol, op, arguments) in CALLS {
            let modular = Modular {
                modulus: Modulus::Runtime,
                reduce: Reduce::Full,
                shift: 0,
                times: 0,
            };
            let question = Question {
                op,
                modular: op.is_montgomery().then_some(&modular),
                arguments,
                align: None,
                ..Question::of(symbol, 256)
            };
            let proof = check(&file, ARM.core, question)
                .expect("a function")
                .judged
                .proof;
            assert_eq!(proof.correct, Verdict::Proved, "{level} {symbol}");
            assert!(proof.holds(), "{level} {symbol}: {proof:?}");
        }
    }
}
