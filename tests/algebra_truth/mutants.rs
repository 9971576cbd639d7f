//! Mutants of proved kernels, one to three edits each: a mutant that is wrong on some operands is not proved.
//!
//! Edits exchange two instructions, repeat one, put another one of the kernel in its place, change a bit of it, or
//! turn a block round. Every mutant is run on extreme operands; one that is right on them and proved is run on
//! many more.

use lozenge::call::Operands;
use lozenge::function::Function;
use lozenge::isa::core::{Core, Insn};
use lozenge::kernel::Request;
use lozenge::method::METHODS;
use lozenge::program::Claim;
use lozenge::spec::modulus::{Modular, Modulus, Reduce};
use lozenge::spec::{Alias, Spec};
use lozenge::target::{Names, Target};
use lozenge::vectors::{self, Random};
use lozenge::{kernel, prove};

use crate::kit::{ask, tier};

/// Mutants of each machine that differ, by tier.
const DIFFERING: [usize; 3] = [150, 150, 100_000];
/// Mutants of a kernel before the next one.
const OF_A_KERNEL: usize = 12;
/// Operands of every mutant, and of one that is proved.
const OPERANDS: usize = 40;
const MORE_OPERANDS: usize = 1500;
/// The most instructions of a run: mutants may come to no end.
const LIMIT: u64 = 20_000;

/// A kernel that is proved.
struct Proved {
    name: String,
    spec: Spec,
    insns: Vec<Insn>,
    claims: Vec<Claim>,
}

/// How many mutants there were.
#[derive(Default, Debug)]
struct Found {
    kernels: usize,
    differing: usize,
    /// Right on all operands, and proved or not.
    proved: usize,
    open: usize,
    wrong: Vec<String>,
}

/// A kernel of some method for some of its operations; `None` if there is none of this size.
fn some_kernel(core: &Core, random: &mut Random) -> Option<Proved> {
    let method = &METHODS[random.below(METHODS.len())];
    let op = method.ops[random.below(method.ops.len())];
    let words = 2 + random.below(3) as u32;
    let bits = words * core.word_bits();
    let fixed = format!("2^{bits}-17");
    let modulus = match (op.is_modular(), op.is_montgomery()) {
        (false, _) => None,
        (true, true) => Some("runtime"),
        (true, false) => Some(fixed.as_str()),
    };
    let modular = modulus.map(|m| Modular {
        modulus: m.parse::<Modulus>().expect("a modulus"),
        reduce: Reduce::Full,
        shift: 0,
        times: 0,
    });
    let request = Request {
        modular,
        method: Some(method.name.into()),
        ..ask::in_any_time(op, bits)
    };
    let (spec, candidate) = kernel::choose(&request, core).ok()?;
    let name = format!("{} {bits} {}", op.name(), method.name);
    let claims = candidate.program.claims.clone();
    let function = prove::kernel(core, &candidate.code, &claims);
    let proof = prove::prove_function(&spec, core, &function, Alias::Distinct);
    proof.holds().then_some(Proved {
        name,
        spec,
        insns: candidate.program.insns,
        claims,
    })
}

/// One edit; false if it changes nothing.
fn edit(core: &Core, insns: &mut Vec<Insn>, random: &mut Random) -> bool {
    let before = insns.clone();
    let at = random.below(insns.len());
    let near = (at + 1 + random.below(8)) % insns.len();
    match random.below(5) {
        0 => insns.swap(at, near),
        1 => insns.insert(near, insns[at]),
        // One of the same name, if there is one.
        2 => {
            let name = |insn: &Insn| insn.text().split(' ').next().map(String::from);
            let same = |insn: &&Insn| name(insn) == name(&before[at]);
            let alike: Vec<_> = before.iter().filter(same).collect();
            insns[at] = *alike[random.below(alike.len())];
        }
        3 => {
            let Ok(mut code) = core.encode(&[insns[at]]) else {
                return false;
            };
            let bit = random.below(8 * code.len());
            code[bit / 8] ^= 1 << (bit % 8);
            match core.decode(&code).as_deref() {
                Ok([(_, insn)]) => insns[at] = *insn,
                _ => return false,
            }
        }
        _ => {
            let end = (at + 2 + random.below(6)).min(insns.len());
            insns[at..end].rotate_left(1);
        }
    }
    *insns != before
}

/// Is it wrong on these operands? What cannot be run there is no result.
fn is_wrong(
    proved: &Proved,
    core: &Core,
    code: &[u8],
    operands: usize,
    seed: u64,
) -> Option<String> {
    let function = Function::kernel(code);
    let spec = &proved.spec;
    let call = core.calls(function);
    vectors::of(spec, operands, seed)
        .into_iter()
        .find_map(
            |sources| match call(&Operands::of(spec, &sources, Alias::Distinct), LIMIT) {
                Ok((got, _)) if spec.accepts(&sources, &got) => None,
                Ok((got, _)) => Some(format!("{sources:x?} give {got:x}")),
                Err((pc, fault)) => Some(format!("{sources:x?} stop at {pc:#x}: {fault}")),
            },
        )
}

/// Mutants of one kernel.
fn mutants(core: &Core, proved: &Proved, random: &mut Random, found: &mut Found) {
    for _ in 0..OF_A_KERNEL {
        let mut insns = proved.insns.clone();
        let mut changed = false;
        for _ in 0..1 + random.below(3) {
            changed |= edit(core, &mut insns, random);
        }
        let Ok(code) = core.encode(&insns) else {
            continue;
        };
        if !changed || insns == proved.insns {
            continue;
        }
        let mut function = prove::kernel(core, &code, &proved.claims);
        function.limit = LIMIT;
        let wrong = is_wrong(proved, core, &code, OPERANDS, random.draw());
        found.differing += usize::from(wrong.is_some());
        let proof = prove::prove_function(&proved.spec, core, &function, Alias::Distinct);
        let again = || is_wrong(proved, core, &code, MORE_OPERANDS, 1);
        match (proof.correct.is_proved(), wrong) {
            (true, wrong) => match wrong.or_else(again) {
                None => found.proved += 1,
                Some(what) => {
                    let text: Vec<_> = insns.iter().map(Insn::text).collect();
                    let text = text.join("; ");
                    let told = format!("{}: {what}: {text}", proved.name);
                    eprintln!("proved and wrong: {told}");
                    found.wrong.push(told);
                }
            },
            (false, None) => found.open += 1,
            (false, Some(_)) => {}
        }
    }
}

/// Kernels of a machine, until enough mutants differ.
fn attack(core: &Core) -> Found {
    let enough = tier::of(DIFFERING);
    let mut random = tier::random(u64::from(core.word_bits()));
    let mut found = Found::default();
    while found.differing < enough {
        let Some(proved) = some_kernel(core, &mut random) else {
            continue;
        };
        found.kernels += 1;
        if found.kernels.is_multiple_of(1000) {
            let Found {
                kernels,
                differing,
                wrong,
                ..
            } = &found;
            println!(
                "{kernels} kernels, {differing} mutants differ, {} wrong",
                wrong.len()
            );
        }
        mutants(core, &proved, &mut random, &mut found);
    }
    found
}

fn run(core: &str) {
    let names = Names {
        core: Some(core),
        ..Names::default()
    };
    let found = attack(&Target::resolve(&names).expect("a core").to_core());
    let Found {
        kernels,
        differing,
        proved,
        open,
        wrong,
    } = &found;
    println!(
        "{core}: mutants of {kernels} kernels from seed {}: {differing} differ, {} of them proved; {proved} proved and right, {open} right and open",
        tier::seed(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Some edits change nothing that is read.
    assert!(*proved > 0 && *kernels > 5, "{found:?}");
}

#[test]
fn mutants_for_avr_that_are_wrong_are_not_proved() {
    run("atmega128");
}

#[test]
fn mutants_for_arm_that_are_wrong_are_not_proved() {
    run("arm7tdmi");
}

#[test]
fn mutants_for_mips_that_are_wrong_are_not_proved() {
    run("mips-4km");
}

#[test]
fn mutants_for_riscv_that_are_wrong_are_not_proved() {
    run("rv32im");
}
