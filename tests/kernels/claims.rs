//! Signed Karatsuba is proved, with and without claims; what is wrong is not.

use lozenge::isa::Isa;
use lozenge::isa::avr::AvrIsa;
use lozenge::isa::avr::code::Insn;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::avr::instructions::Op as Name;
use lozenge::lower::Lower;
use lozenge::method::{self, Params};
use lozenge::plans::tree::Tree;
use lozenge::program::{Claim, Program, Term};
use lozenge::spec::{Alias, Op, Spec};
use lozenge::vectors::{self, Random};
use lozenge::{kernel, prove};

use crate::kit::{any, ask, tier, work};
use crate::naive::{Style, karatsuba, karatsuba_square};

const CORE: &lozenge::isa::avr::cores::Core = &ATMEGA128;

fn spec(n: usize) -> Spec {
    Spec::new(Op::Mul, 8 * n as u32, 8).expect("a size")
}

fn is_right(spec: &Spec, code: &[u8], alias: Alias) -> bool {
    let pairs = vectors::pairs(spec.source_bytes()[0], 200, 7);
    let on = any(CORE);
    let run = kernel::runs(spec, &on, code);
    pairs.into_iter().all(|[a, b]| {
        let b = if alias == Alias::AIsB { a.clone() } else { b };
        let pair = [a, b];
        run(&pair, alias).is_ok_and(|(got, _)| got == &pair[0] * &pair[1])
    })
}

#[test]
fn one_level_is_proved() {
    for n in 2..=9 {
        for merge in [false, true] {
            let style = Style {
                leaf: n,
                claims: false,
                merge,
            };
            let program = karatsuba(n, style);
            let code = AvrIsa::encode(CORE, &program.insns).expect("encodes");
            let spec = spec(n);
            assert!(
                is_right(&spec, &code, Alias::Distinct),
                "{n} {style:?} computes a product"
            );
            for alias in [Alias::Distinct, Alias::AIsB] {
                let proof = prove::prove(&spec, &any(CORE), &code, alias);
                assert!(proof.holds(), "{n} {style:?} {alias:?}: {proof:?}");
            }
        }
    }
}

#[test]
fn nested_levels_are_proved() {
    for (n, leaf) in [(4, 1), (8, 2), (7, 2), (11, 3), (13, 2), (16, 2)] {
        for merge in [false, true] {
            let style = Style {
                leaf,
                claims: true,
                merge,
            };
            let program = karatsuba(n, style);
            let code = AvrIsa::encode(CORE, &program.insns).expect("encodes");
            let spec = spec(n);
            assert!(
                is_right(&spec, &code, Alias::Distinct),
                "{n} {style:?} computes a product"
            );
            for alias in [Alias::Distinct, Alias::AIsB] {
                let proof = prove::prove_with(&spec, &any(CORE), &code, &program.claims, alias);
                assert!(proof.holds(), "{n} {style:?} {alias:?}: {proof:?}");
            }
        }
    }
}

/// `r = a^2` is `r = a b` with `a` and `b` in the same place.
#[test]
fn squares_are_proved() {
    for (n, leaf) in [
        (2, 1),
        (3, 2),
        (4, 2),
        (6, 3),
        (8, 4),
        (8, 2),
        (11, 3),
        (16, 2),
        (64, 8),
    ] {
        let style = Style {
            leaf,
            claims: true,
            merge: false,
        };
        let program = karatsuba_square(n, style);
        let code = AvrIsa::encode(CORE, &program.insns).expect("encodes");
        let spec = spec(n);
        assert!(is_right(&spec, &code, Alias::AIsB), "{n} {style:?} squares");
        let proof = prove::prove_with(&spec, &any(CORE), &code, &program.claims, Alias::AIsB);
        assert!(proof.holds(), "{n} {leaf}: {proof:?}");
    }
}

/// 1024 bits, four levels: over 100,000 instructions.
#[test]
fn large_operands_are_proved_in_time() {
    let style = Style {
        leaf: 8,
        claims: true,
        merge: true,
    };
    let program = karatsuba(128, style);
    let code = AvrIsa::encode(CORE, &program.insns).expect("encodes");
    let start = std::time::Instant::now();
    let proof = prove::prove_with(
        &spec(128),
        &any(CORE),
        &code,
        &program.claims,
        Alias::Distinct,
    );
    println!(
        "{} instructions in {:?}",
        program.insns.len(),
        start.elapsed()
    );
    assert!(proof.holds(), "{proof:?}");
    assert!(start.elapsed().as_secs() < 20);
}

/// One fault: an instruction dropped, exchanged with the next, of another name or on another register.
fn fault(program: &Program<Insn>, kind: usize, at: usize, random: &mut Random) -> Program<Insn> {
    let mut out = program.clone();
    let insn = &mut out.insns[at];
    match kind {
        0 => {
            out.remove(at);
        }
        1 => out.insns.swap(at, (at + 1).min(program.insns.len() - 1)),
        2 => {
            insn.op = match insn.op {
                Name::ADC => Name::ADD,
                Name::ADD => [Name::ADC, Name::SUB][random.below(2)],
                Name::SBC => [Name::SUB, Name::ADC][random.below(2)],
                Name::SUB => Name::SBC,
                Name::AND => [Name::OR, Name::EOR, Name::MOV][random.below(3)],
                Name::MOV => Name::AND,
                Name::MUL => Name::MOV,
                Name::EOR => Name::AND,
                other => other,
            }
        }
        _ => {
            let register = &mut [&mut insn.ops.d, &mut insn.ops.r][random.below(2)];
            **register = [10, 12, 13, 14, 16, 17, 20, 21, 22, 23, 24][random.below(11)];
        }
    }
    out
}

/// Karatsuba's product of the method, the middle product of absolute values first.
fn middle_first(n: usize) -> Program<Insn> {
    let spec = spec(n);
    let method = method::find("karatsuba").expect("a method");
    let tree = Tree {
        last: 0,
        ..Tree::default()
    };
    let params = ask::planned(Params::from([("levels", 1)]), tree);
    let facts = AvrIsa::facts(CORE);
    let schedule = (method.schedule)(&spec, &facts, &params).expect("a schedule");
    let programs = AvrIsa::lower(&schedule, CORE).expect("programs");
    programs.into_iter().next().expect("a program")
}

/// A claim that says something else.
fn lie(claim: &mut Claim, others: &[Claim], random: &mut Random) {
    let other = &others[random.below(others.len())];
    let word = other.words[random.below(other.words.len())];
    let count = claim.words.len();
    if let (Some(made), 0) = (&mut claim.magnitude, random.below(2)) {
        match random.below(2) {
            0 => made.mask = word,
            _ => made.wrapped[0] = word,
        }
        return;
    }
    match random.below(7) {
        0 => claim.words[random.below(count)] = word,
        1 => claim.words.swap(random.below(count), random.below(count)),
        2 => {
            claim.words.truncate(count - 1);
        }
        3 => claim.words.push(word),
        4 => claim.terms[0].sign *= -1,
        5 => claim.terms[0].shift += 1,
        _ => claim.terms.push(Term::number(vec![word])),
    }
}

/// Code of `program` is proved only if it is right; returns whether it is proved.
fn judge(
    (spec, alias): (&Spec, Alias),
    program: &Program<Insn>,
    claims: &[Claim],
    what: &str,
) -> bool {
    let Ok(code) = AvrIsa::encode(CORE, &program.insns) else {
        return false;
    };
    let proved = prove::prove_with(spec, &any(CORE), &code, claims, alias).holds();
    assert!(
        !proved || is_right(spec, &code, alias),
        "PROVED BUT WRONG: {what}"
    );
    proved
}

#[test]
fn wrong_kernels_are_rejected_whatever_is_claimed() {
    let mut kernels = vec![(4, middle_first(4), Alias::Distinct)];
    for (n, leaf, merge, square) in [
        (2, 1, true, false),
        (3, 2, false, false),
        (5, 2, true, false),
        (3, 1, false, true),
        (4, 2, false, true),
    ] {
        let style = Style {
            leaf,
            claims: true,
            merge,
        };
        kernels.push(match square {
            true => (n, karatsuba_square(n, style), Alias::AIsB),
            false => (n, karatsuba(n, style), Alias::Distinct),
        });
    }
    let kernels = kernels.into_iter().map(|(n, original, alias)| {
        let code = AvrIsa::encode(CORE, &original.insns).expect("encodes");
        (n, spec(n), original, alias, code)
    });
    let kernels: Vec<_> = kernels.collect();
    let places = kernels.iter().enumerate();
    let places = places.flat_map(|(of, kernel)| (0..kernel.2.insns.len()).map(move |at| (of, at)));
    let tried = work::each(&tier::some(places, 11), |(of, at)| {
        let (n, spec, original, alias, code) = &kernels[*of];
        let mut random = tier::random((of << 16 | at) as u64);
        let (mut faults, mut proved) = (0, 0);
        for kind in (0..4).cycle().take(tier::of_each(4)) {
            let mutant = fault(original, kind, *at, &mut random);
            if AvrIsa::encode(CORE, &mutant.insns).is_ok_and(|bytes| bytes == *code) {
                continue;
            }
            let what = format!("{n} words: kind {kind} at {at}");
            let mut lies = mutant.claims.clone();
            for claim in &mut lies {
                if random.below(3) == 0 {
                    lie(claim, &mutant.claims, &mut random);
                }
            }
            let task = (spec, *alias);
            faults += 1;
            proved += usize::from(judge(task, &mutant, &mutant.claims, &what));
            judge(task, &mutant, &lies, &format!("{what}, {lies:?}"));
        }
        [faults, proved]
    });
    let [faults, proved] = [0, 1].map(|i| tried.iter().map(|counts| counts[i]).sum::<usize>());
    println!("{faults} faults, {proved} harmless");
    // One fault in four or five changes nothing, and is none.
    assert!(faults > tier::of([300, 4000, 40_000]) && proved * 3 < faults);
}

/// False claims are not used: what is proved with them is proved without the words they are about.
#[test]
fn false_claims_change_no_verdict_for_the_better() {
    let style = Style {
        leaf: 2,
        claims: true,
        merge: true,
    };
    let program = karatsuba(6, style);
    let spec = spec(6);
    let mut random = tier::random(3);
    let mut open = 0;
    for index in 0..program.claims.len() {
        for _ in 0..tier::of_each(20) {
            let mut claims = program.claims.clone();
            lie(&mut claims[index], &program.claims, &mut random);
            let what = format!("claim {index}: {:?}", claims[index]);
            open += usize::from(!judge((&spec, Alias::Distinct), &program, &claims, &what));
        }
    }
    // Without a claim that is needed nothing is proved.
    assert!(open > 20, "{open} of the lies were missed as claims");
    assert!(!judge((&spec, Alias::Distinct), &program, &[], "no claims"));
}
