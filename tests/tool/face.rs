//! The library's face: targets as values, errors as data, and kernels whose parts are what `lozenge gen` writes.

use std::process::Command;

use lozenge::spec::Op;
use lozenge::{Contract, Dialect, Error, Kernel, Request, Target, What, audit};

/// Targets of three machines stand in one list, and go to other threads with their kernels.
#[test]
fn targets_are_values() {
    fn shared<T: Send + Sync>() {}
    shared::<Target>();
    shared::<Kernel>();
    let wide = Target::core("mips-4km").and_then(|core| core.with("wide-acc"));
    let wide = wide.and_then(Target::big_endian).expect("a target");
    let list = vec![
        Target::mcu("atmega328p").expect("a part"),
        Target::core("arm7tdmi").expect("a core"),
        wide,
    ];
    for target in &list {
        let kernel = Request::mul(64).variable_time().generate(target);
        let kernel = kernel.expect("a kernel");
        let product = kernel.run(&[7u8.into(), 9u8.into()]).expect("a run");
        assert_eq!(product.result, 63u8.into());
        let object = kernel.object().expect("an object");
        let contract = Contract::new(Op::Mul, 64).variable_time();
        let audit = audit(&object, "mul64", &contract, target).expect("a function");
        assert!(audit.verdicts().all_proved());
        assert_eq!(audit.cycles().call, kernel.cycles().call);
    }
    assert!(Target::all().len() > list.len());
}

#[test]
fn errors_are_data() {
    let chip = Target::mcu("atmega128").expect("a part");
    let error = Error::from(Target::mcu("atmega32p").expect_err("no part"));
    assert!(matches!(
        error,
        Error::Unknown {
            what: What::Part,
            nearest: Some(_),
            ..
        }
    ));
    let few = Request::mul(160)
        .method("operand-caching")
        .max_registers(8)
        .param("e", 5);
    let error = few.generate(&chip).expect_err("too few registers");
    assert!(
        matches!(
            error,
            Error::Registers {
                parameter: "e",
                value: 5,
                largest: 1..5,
                ..
            }
        ),
        "{error:?}"
    );
    let error = Request::mul(64)
        .max_flash(8)
        .generate(&chip)
        .expect_err("too small");
    let Error::Budget {
        nearest, limits, ..
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!(limits.flash, Some(8));
    let near = nearest
        .first()
        .and_then(|near| near.budget.flash)
        .expect("one");
    Request::mul(64)
        .max_flash(near)
        .generate(&chip)
        .expect("it fits");
    // What leaks is no kernel, unless that is accepted.
    let arm = Target::core("arm7tdmi").expect("a core");
    let error = Request::mul(64).generate(&arm).expect_err("it leaks");
    assert!(matches!(error, Error::Unproved(report) if report.is_sound()));
    let kernel = Request::mul(64).generate(&chip).expect("a kernel");
    assert!(kernel.assembly(Dialect::Armasm).is_err());
    assert!(matches!(kernel.run(&[1u8.into()]), Err(Error::Numbers(_))));
}

/// The files of `gen`, byte for byte.
#[test]
fn parts_are_the_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "gen mul 64 --mcu atmega328p --max-flash 1024 --prefix lz_ -o";
    let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(line.split(' '))
        .arg(folder.path())
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{output:?}");
    let chip = Target::mcu("atmega328p").expect("a part");
    let request = Request::mul(64).max_flash(1024).prefix("lz_");
    let kernel = request.generate(&chip).expect("a kernel");
    let written = |name: &str| std::fs::read(folder.path().join(name)).expect("a file");
    let text = kernel.assembly(Dialect::Gnu).expect("a text");
    assert_eq!(text.into_bytes(), written("lz_mul64.S"));
    assert_eq!(kernel.header().into_bytes(), written("lz_mul64.h"));
    assert_eq!(kernel.object().expect("an object"), written("lz_mul64.o"));
    for (name, bytes) in kernel.files().expect("files").list {
        assert_eq!(bytes, written(&name), "{name}");
    }
}
