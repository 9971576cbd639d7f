//! What `gen` proves, `check` proves again from the object alone: every method on three machines. Claims
//! in the object are hints: lies and trivial truths about a wrong kernel do not make it proved.

use lozenge::audit::Contract;
use lozenge::emit::elf;
use lozenge::isa::core::Core;
use lozenge::kernel::Request;
use lozenge::method::METHODS;
use lozenge::program::{Area, Claim, Magnitude, Place, Term, Written};
use lozenge::prove::{self, Proof};
use lozenge::spec::modulus::{Modular, Modulus, Reduce};
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors::Random;
use lozenge::{audit, hints, kernel, load};
use object::{Object, ObjectSection};

use crate::check::tools::{ARM, AVR, Compiler, MIPS, core_named};
use crate::kit::ask;

/// The proof of a function `f` from a file.
fn proof_of(spec: &Spec, core: &Core, file: &[u8]) -> Proof {
    let mut loaded = load::load(file, "f", &core.object_format()).expect("a function");
    let function = &mut loaded.function;
    let asked = audit::Asked {
        op: spec.op,
        size: spec.size,
        modular: spec.modular.clone(),
    };
    let spec = audit::prepare(asked, core, function, &Contract::default());
    prove::prove_function(&spec.expect("a contract"), core, function, Alias::Distinct)
}

fn modular(modulus: &str, reduce: Reduce) -> Modular {
    Modular {
        modulus: modulus.parse::<Modulus>().expect("a modulus"),
        reduce,
        shift: 0,
        times: 0,
    }
}

/// Every method with its first parameters, for all its operations: how many there are, and how many
/// objects hold claims.
fn counted(core: &Core) -> [usize; 2] {
    let format = &core.object_format();
    let (mut kernels, mut claiming, mut wrong) = (0, 0, Vec::new());
    let words = 8 * core.word_bits();
    for (method, op) in METHODS
        .iter()
        .flat_map(|m| m.ops.iter().map(move |op| (m, *op)))
    {
        let fixed = format!("2^{words}-17");
        let moduli = match (op.is_modular(), op.is_montgomery()) {
            (false, _) => vec![None],
            (_, true) if op == Op::Redc => {
                vec![
                    Some("runtime"),
                    Some("runtime-folded"),
                    Some(fixed.as_str()),
                ]
            }
            (_, true) => vec![Some("runtime"), Some(fixed.as_str())],
            _ => vec![Some(fixed.as_str())],
        };
        for modulus in moduli {
            let request = Request {
                modular: modulus.map(|m| match m == "runtime-folded" {
                    true => modular(m, Reduce::Almost),
                    false => modular(m, Reduce::Full),
                }),
                method: Some(method.name.into()),
                ..ask::in_any_time(op, words)
            };
            // Why there is none is the matter of tests/kernels/matrix.rs.
            let Ok((spec, candidate)) = kernel::choose(&request, core) else {
                continue;
            };
            let code = &candidate.code;
            let function = prove::kernel(core, code, &candidate.program.claims);
            let object = elf::object(format, "f", code, &function.claims).expect("an object");
            kernels += 1;
            claiming += usize::from(!function.claims.is_empty());
            if proof_of(&spec, core, &object).holds() {
                continue;
            }
            let own = prove::prove_function(&spec, core, &function, Alias::Distinct);
            if own.holds() {
                wrong.push(format!("{} {} {modulus:?}", op.name(), method.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    [kernels, claiming]
}

fn methods(compiler: &Compiler, least: [usize; 2]) {
    let found = counted(&core_named(compiler.core));
    println!("{}: {found:?}", compiler.core);
    assert!(found[0] >= least[0] && found[1] >= least[1], "{found:?}");
}

#[test]
fn avr() {
    methods(&AVR, [100, 55]);
}

#[test]
fn arm() {
    methods(&ARM, [100, 55]);
}

#[test]
fn mips() {
    methods(&MIPS, [100, 55]);
}

/// `r = a b + 2^8 (a + b mod 2^8)`: wrong but for one word that is added at the top.
const SPOILT: &str = "
    .text
    .global f
    .type f, @function
f:  movw r30, r22
    ld r18, Z
    movw r30, r20
    ld r19, Z
    mul r18, r19
    mov r20, r18
    add r20, r19
    add r1, r20
    movw r30, r24
    st Z, r0
    std Z+1, r1
    clr r1
    ret
    .size f, . - f
";

/// That a word is itself is true, and does not make it vanish from an equation.
fn truths_prove_nothing_on(core: &Core) {
    let format = &core.object_format();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("f.s");
    std::fs::write(&source, SPOILT).expect("written");
    let assembled = AVR.compile(&source, &["-c"]);
    let file = object::File::parse(&*assembled).expect("an object");
    let code = file.section_by_name(".text").expect("code");
    let code = code.data().expect("code");
    let decoded = core.decode(code).expect("instructions");
    let itself = |at: usize, register: u8| {
        let word = || vec![Written::once(at, register)];
        Claim::equation(word(), vec![Term::number(word())])
    };
    let places = decoded.iter().flat_map(|(at, _)| (0..32).map(|r| (*at, r)));
    let claims: Vec<_> = places.map(|(at, r)| itself(at, r)).collect();
    let spec = Spec::new(Op::Mul, 8, 8).expect("a size");
    for claims in claims.chunks(1).chain([&claims[..], &[]]) {
        let object = elf::object(format, "f", code, claims).expect("an object");
        let proof = proof_of(&spec, core, &object);
        assert!(
            !proof.correct.is_proved() && proof.memory.is_proved(),
            "{proof:?}"
        );
    }
}

#[test]
fn truths_prove_nothing() {
    truths_prove_nothing_on(&core_named(AVR.core));
}

fn two_levels(core: &Core, op: Op, method: &str) -> Request {
    Request {
        method: Some(method.into()),
        params: [("levels".to_string(), 2)].into(),
        ..ask::in_any_time(op, 8 * core.word_bits())
    }
}

/// A reduction that folds, of four words.
fn folded(core: &Core) -> Request {
    Request {
        size: (4 * core.word_bits()).into(),
        modular: Some(modular("runtime-folded", Reduce::Almost)),
        params: Default::default(),
        method: None,
        ..two_levels(core, Op::Redc, "")
    }
}

/// Karatsuba in two levels, or a reduction that folds, with an instruction left out, and with claims changed at
/// random: proved only if it is right. `.0`: how many mutants.
fn lies(core: &Core, rounds: usize, op: Op) {
    let format = &core.object_format();
    let request = match op {
        Op::Redc => folded(core),
        op => two_levels(core, op, "karatsuba"),
    };
    let (spec, candidate) = kernel::choose(&request, core).expect("a kernel");
    let mut random = Random::new(8);
    let [mut wrong, mut needed] = [0, 0];
    for round in 0..rounds {
        let mut program = candidate.program.clone();
        // Every other round the code is right, and only the claims are not.
        if round % 2 == 0 {
            program.remove(random.below(program.insns.len()));
        }
        let Ok(code) = core.encode(&program.insns) else {
            continue;
        };
        let mut claims = prove::kernel(core, &code, &program.claims).claims;
        let words: Vec<_> = claims.iter().flat_map(|c| c.words.clone()).collect();
        for claim in &mut claims {
            if random.below(4) > 0 {
                continue;
            }
            let word = words[random.below(words.len())];
            let at = random.below(claim.words.len());
            match random.below(7) {
                0 => claim.words[at] = word,
                1 => claim.terms[0].sign *= -1,
                2 => claim.terms[0].shift += 1,
                3 => claim.terms.push(Term::number(vec![word])),
                4 => claim.terms = vec![Term::number(claim.words.clone())],
                5 => claim.lead = random.below(4),
                _ => claim.magnitude = None,
            }
        }
        let object = elf::object(format, "f", &code, &claims).expect("an object");
        let proved = proof_of(&spec, core, &object).holds();
        let function = prove::kernel(core, &code, &[]);
        let found = kernel::counterexample(&spec, core, &function, Alias::Distinct, 100);
        wrong += usize::from(found.is_some());
        needed += usize::from(found.is_none() && !proved);
        assert!(!(proved && found.is_some()), "{round}: {found:?}");
    }
    println!("{wrong} wrong, {needed} right and not proved with these claims");
    assert!(wrong > rounds / 4 && needed > 0);
}

#[test]
fn lies_prove_nothing() {
    lies(&core_named(AVR.core), 120, Op::Mul);
    lies(&core_named(MIPS.core), 60, Op::Mul);
    lies(&core_named(AVR.core), 160, Op::Redc);
    lies(&core_named(ARM.core), 80, Op::Redc);
}

/// What is written is read; broken records give nothing, or other claims, and end.
#[test]
fn records_come_back() {
    let register = |insn, r| Written::once(insn, r);
    let far = |i: i64| Written {
        insn: 700,
        visit: 3,
        place: Place::Memory(Area::Operand(1), 4 * i - 8),
    };
    let claims = vec![
        Claim::equation(
            (0..9).map(far).chain([register(2, 31)]).collect(),
            vec![
                Term::product(vec![register(4, 0)], (0..2).map(far).collect()),
                Term {
                    sign: -1,
                    shift: 300,
                    ..Term::number(vec![far(5), far(4)])
                },
            ],
        ),
        Claim {
            magnitude: Some(Magnitude {
                wrapped: vec![far(1)],
                mask: Written {
                    place: Place::Memory(Area::Stack, -3),
                    ..register(1, 1)
                },
            }),
            ..Claim::equation(vec![register(0, 7)], Vec::new())
        },
        Claim {
            lead: 200,
            ..Claim::equation(vec![register(5, 3)], vec![Term::number(vec![far(2)])])
        },
    ];
    let mut bytes = hints::encode("one", &claims);
    bytes.extend(hints::encode("two", &[]));
    // A record of another version is passed over.
    bytes.extend([1, 3, 9, 9, 9]);
    bytes.extend(hints::encode("three", &claims[1..]));
    let back = hints::decode(&bytes);
    let want = [("one", &claims[..]), ("two", &[]), ("three", &claims[1..])];
    let want = want.map(|(name, claims)| (name.to_string(), claims.to_vec()));
    assert_eq!(back, want);
    // A run of many words in a few bytes, again and again, in claims and in records.
    let long: Vec<_> = (0..1 << 15).map(far).collect();
    let claim = Claim::equation(long.clone(), vec![Term::product(long.clone(), long)]);
    let long = hints::encode("long", &vec![claim; 40]);
    assert!(long.len() < 2000, "{}", long.len());
    assert_eq!(words_of(&long), 0);
    assert!(words_of(&[hints::encode("one", &claims), long].concat()) > 0);
    let many = Claim::equation(vec![far(0)], vec![Term::number(Vec::new()); 1 << 17]);
    let many = hints::encode("many", &vec![many; 10]);
    assert_eq!(words_of(&many), 0);
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let mut broken = bytes.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(broken.len());
            broken[at] = random.draw() as u8;
        }
        broken.truncate(random.below(2 * broken.len()).max(1));
        assert!(words_of(&broken) <= 1 << 20);
    }
}

/// How many words the claims in `bytes` name.
fn words_of(bytes: &[u8]) -> usize {
    let records = hints::decode(bytes);
    let claims = records.iter().flat_map(|(_, claims)| claims);
    claims.flat_map(Claim::places).count()
}

/// The linker puts the records of all objects one behind the other; each goes with its function.
#[test]
fn linked_kernels_are_proved() {
    let core = &core_named(AVR.core);
    let format = &core.object_format();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let (mut specs, mut objects) = (Vec::new(), Vec::new());
    for (op, name, method) in [
        (Op::Sqr, "g", "karatsuba-squaring"),
        (Op::Mul, "f", "karatsuba"),
    ] {
        let request = two_levels(core, op, method);
        let (spec, candidate) = kernel::choose(&request, core).expect("a kernel");
        let code = &candidate.code;
        let claims = prove::kernel(core, code, &candidate.program.claims).claims;
        assert!(!claims.is_empty());
        let object = elf::object(format, name, code, &claims).expect("an object");
        std::fs::write(path(name), object).expect("written");
        objects.push(path(name).to_string_lossy().into_owned());
        specs.push((spec, name));
    }
    let text = ".text\n.global main\nmain: rcall f\n rcall g\n ret\n";
    std::fs::write(path("main.s"), text).expect("written");
    let mut flags = vec!["-nostartfiles", "-Wl,-e,main", "-Wl,--gc-sections"];
    flags.extend(objects.iter().map(String::as_str));
    let program = AVR.compile(&path("main.s"), &flags);
    for (spec, name) in specs {
        let mut loaded = load::load(&program, name, format).expect("a function");
        let function = &mut loaded.function;
        let asked = audit::Asked {
            op: spec.op,
            size: spec.size,
            modular: None,
        };
        let spec = audit::prepare(asked, core, function, &Contract::default());
        let spec = spec.expect("a contract");
        let proof = prove::prove_function(&spec, core, function, Alias::Distinct);
        assert!(proof.holds(), "{name}: {proof:?}");
    }
}
