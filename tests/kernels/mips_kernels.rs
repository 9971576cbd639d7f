//! MIPS32 kernels: proved over a matrix of sizes, methods and extensions; right on numbers,
//! here and on unicorn; as fast as gk2003 counts.

use lozenge::domain::concrete::Concrete;
use lozenge::isa::mips::MipsIsa;
use lozenge::isa::mips::code::Insn;
use lozenge::isa::mips::cores::{CORES, Core};
use lozenge::isa::mips::instructions::{Feature, Op, Timing};
use lozenge::isa::mips::machine::Mips;
use lozenge::isa::mips::run::Decoded;
use lozenge::isa::{Cost, Isa};
use lozenge::lower::{Lower, LowerError};
use lozenge::make::engine::frames::frame;
use lozenge::method::{self, Method, MethodError, Params};
use lozenge::program::Claim;
use lozenge::prove::Proof;
use lozenge::spec::{Alias, Op as Operation, Spec};
use lozenge::{kernel, prove, vectors};
use num_bigint::BigUint;

use crate::kit::oracle::{self, Dialogue};
use crate::kit::tier::{self, Tier};
use crate::kit::{any, work};

const EXTENSIONS: [&[Feature]; 3] = [&[], &[Feature::WideAcc], &[Feature::MaddHl]];

fn core(name: &str, features: &[Feature]) -> Core {
    let core = Core::named(name).unwrap();
    features.iter().fold(core, |core, f| core.with(*f))
}

struct Kernel {
    name: String,
    spec: Spec,
    insns: Vec<Insn>,
    claims: Vec<Claim>,
    code: Vec<u8>,
}

fn spec(words: u32) -> Spec {
    Spec::new(Operation::Mul, 32 * words, 32).unwrap()
}

/// All kernels of `method` with `params`.
fn kernels(core: &Core, words: u32, method: &Method, params: &Params) -> Vec<Kernel> {
    let spec = spec(words);
    let schedule = match (method.schedule)(&spec, &MipsIsa::facts(core), params) {
        Ok(schedule) => schedule,
        Err(MethodError::TooLarge { .. }) => return Vec::new(),
        Err(error) => panic!("{error}"),
    };
    schedule.check().unwrap();
    let programs = match MipsIsa::lower(&schedule, core) {
        Ok(programs) => programs,
        Err(LowerError::Registers) => return Vec::new(),
        Err(error) => panic!("{}: {error}", method.name),
    };
    let kernel = |program: lozenge::program::Program<Insn>| Kernel {
        name: format!(
            "{}, {words} words, {} {params:?}",
            core.full_name(),
            method.name
        ),
        spec: spec.clone(),
        code: MipsIsa::encode(core, &program.insns).unwrap(),
        insns: program.insns,
        claims: program.claims,
    };
    programs.into_iter().map(kernel).collect()
}

/// All methods that multiply on a machine with a multiplier.
fn products() -> impl Iterator<Item = &'static Method> {
    let all = method::METHODS.iter().copied();
    all.filter(|m| m.computes(Operation::Mul) && m.name != "shift-and-add")
}

/// Those that gk2003 counts by the loop, and operand caching beside them.
fn classics() -> impl Iterator<Item = &'static Method> {
    let names = ["operand-caching", "product-scanning", "operand-scanning"];
    products().filter(move |m| names.contains(&m.name))
}

/// The kernel that is fastest, with its parameters; `None` for a size that the method has none for.
fn best(core: &Core, words: u32, method: &Method) -> Option<(Params, Kernel, Cost)> {
    let choices = (method.defaults)(&spec(words), &MipsIsa::facts(core));
    let all = choices.into_iter().flat_map(|p| {
        let made = kernels(core, words, method, &p);
        made.into_iter().map(move |k| (p.clone(), k))
    });
    let costed = all.map(|(p, k)| {
        let one = BigUint::from(1u8);
        let cost = call(core, &k, [&one, &one]).1;
        (p, k, cost)
    });
    costed.min_by_key(|(_, _, cost)| (cost.body.max, cost.call.max))
}

fn proof(core: &Core, kernel: &Kernel, alias: Alias) -> Proof {
    prove::prove_with(
        &kernel.spec,
        &any(core),
        &kernel.code,
        &kernel.claims,
        alias,
    )
}

fn call(core: &Core, kernel: &Kernel, [a, b]: [&BigUint; 2]) -> (BigUint, Cost) {
    let sources = [a.clone(), b.clone()];
    kernel::runs(&kernel.spec, &any(core), &kernel.code)(&sources, Alias::Distinct).unwrap()
}

/// Every method with every extension at these sizes, the largest first.
fn cells(
    words: impl Iterator<Item = u32>,
) -> impl Iterator<Item = (u32, &'static [Feature], &'static Method)> {
    let mut sizes: Vec<_> = words.collect();
    sizes.reverse();
    let extended = sizes
        .into_iter()
        .flat_map(|words| EXTENSIONS.map(|features| (words, features)));
    extended.flat_map(|(words, features)| products().map(move |m| (words, features, m)))
}

/// All programs of cells whose sizes `tests/kernels/matrix.rs` has not.
#[test]
fn other_sizes_are_proved_and_right() {
    check(cells([10, 11, 13, 14, 15, 24].into_iter()).collect());
}

/// Of the sizes that the matrix has, where it proves the cheapest program of a cell: one for each method and extension, all
/// programs of it.
#[test]
fn sizes_of_the_matrix_are_proved_and_right() {
    const SIZES: [u32; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 32];
    let turns = cells([1].into_iter()).enumerate();
    let turns = turns.flat_map(|(i, (_, features, method))| {
        // Long operands and short ones in turn.
        [7 * i, 7 * i + 6].map(|at| (SIZES[at % SIZES.len()], features, method))
    });
    check(turns.collect());
}

fn check(cells: Vec<(u32, &'static [Feature], &'static Method)>) {
    let cells = tier::part(cells, 2, 20);
    let proved = work::each(&cells, |(words, features, method)| {
        let mut proved = 0;
        let core = core("mips-4km", features);
        let choices = (method.defaults)(&spec(*words), &MipsIsa::facts(&core));
        let few = if *words <= 4 { choices.len() } else { 1 };
        for params in choices.iter().take(few).chain(choices.last()) {
            for kernel in kernels(&core, *words, method, params) {
                // What is proved for any a and b holds if one array is both (tests/kernels/avr_kernels.rs): proved besides
                // for few words, and run for any number of them.
                let aliases = [Alias::Distinct, Alias::AIsB].into_iter();
                for alias in aliases.take(if *words > 4 { 1 } else { 2 }) {
                    let proof = proof(&core, &kernel, alias);
                    assert!(proof.holds(), "{}, {alias:?}: {proof:?}", kernel.name);
                    proved += 1;
                }
                let on = any(&core);
                let run = kernel::runs(&kernel.spec, &on, &kernel.code);
                for [a, b] in vectors::pairs(4 * *words as usize, 4, u64::from(*words)) {
                    let same = [a.clone(), a.clone()];
                    for (sources, alias) in [([a, b], Alias::Distinct), (same, Alias::AIsB)] {
                        let (got, _) = run(&sources, alias).unwrap();
                        assert_eq!(got, &sources[0] * &sources[1], "{}, {alias:?}", kernel.name);
                    }
                }
            }
        }
        proved
    });
    println!("{} proofs", proved.iter().sum::<usize>());
}

/// Each method and extension at one of two sizes; at night at both.
#[test]
fn large_sizes_are_proved_and_right() {
    let both = cells([64, 128].into_iter()).enumerate();
    let half = cells([64].into_iter()).count();
    let taken = both.filter(|(i, _)| tier::tier() == Tier::Night || i % half % 2 == i / half);
    let cells: Vec<_> = taken.map(|(_, cell)| cell).collect();
    let cells = tier::some(cells, 21);
    let proved = work::each(&cells, |(words, features, method)| {
        let core = core("mips-4km-32x16", features);
        let choices = (method.defaults)(&spec(*words), &MipsIsa::facts(&core));
        let lowered = choices.iter().map(|p| kernels(&core, *words, method, p));
        let Some(kernel) = lowered.flatten().next() else {
            return false;
        };
        let proof = proof(&core, &kernel, Alias::Distinct);
        assert!(proof.holds(), "{}: {proof:?}", kernel.name);
        let on = any(&core);
        let run = kernel::runs(&kernel.spec, &on, &kernel.code);
        for pair in &vectors::pairs(4 * *words as usize, 10, 3) {
            let (got, _) = run(pair, Alias::Distinct).unwrap();
            assert_eq!(got, &pair[0] * &pair[1], "{}", kernel.name);
        }
        true
    });
    let proved = proved.into_iter().filter(|proved| *proved).count();
    println!("{proved} kernels of 64 and 128 words");
    assert!(proved >= tier::least(24), "{proved}");
}

#[test]
fn both_byte_orders_multiply() {
    for features in EXTENSIONS {
        for words in [1, 3, 8] {
            let little = core("mips-4km", features);
            let big = little.clone().big_endian();
            for method in products() {
                let Some((params, _, _)) = best(&little, words, method) else {
                    continue;
                };
                let [le, be] =
                    [&little, &big].map(|core| kernels(core, words, method, &params).remove(0));
                assert_eq!(le.insns, be.insns);
                let swapped: Vec<u8> = le
                    .code
                    .chunks(4)
                    .flat_map(|w| [w[3], w[2], w[1], w[0]])
                    .collect();
                assert_eq!(swapped, be.code);
                assert!(proof(&big, &be, Alias::Distinct).holds());
                for (core, kernel) in [(&big, &be), (&little, &le)] {
                    let on = any(core);
                    let run = kernel::runs(&kernel.spec, &on, &kernel.code);
                    for pair in &vectors::pairs(4 * words as usize, 200, 5) {
                        let (got, _) = run(pair, Alias::Distinct).unwrap();
                        assert_eq!(got, &pair[0] * &pair[1], "{}", kernel.name);
                    }
                }
            }
        }
    }
}

/// Kernels of plain MIPS32 give the same product on QEMU.
#[test]
fn unicorn_multiplies_the_same() {
    let mut unicorn = Dialogue::with(oracle::in_python("mips_unicorn.py"));
    for big in [false, true] {
        let little = core("mips-4km", &[]);
        let core = if big { little.big_endian() } else { little };
        for method in tier::part(products(), 2, 28) {
            for words in [1, 5, 8, 32] {
                let Some((_, kernel, _)) = best(&core, words, method) else {
                    continue;
                };
                for [a, b] in &vectors::pairs(4 * words as usize, 20, 7) {
                    // Set the arguments, call the kernel, end.
                    let n = 4 * words as i32;
                    // Behind the code, and the stack before them.
                    let at = 0x4_0000;
                    let set = |r, k: i32| {
                        let upper = Insn::immediate(Op::LUI, r, 0, k >> 16);
                        [upper, Insn::immediate(Op::ORI, r, r, k & 0xffff)]
                    };
                    let places = [(4, at), (5, at + 2 * n), (6, at + 3 * n), (29, at - 0x100)];
                    let mut start: Vec<_> =
                        (places.into_iter()).flat_map(|(r, k)| set(r, k)).collect();
                    let end = 4 * (start.len() + 4) as i32 + kernel.code.len() as i32;
                    let mut over = Insn::three(Op::J, 0, 0, 0);
                    over.ops.k = end / 4;
                    let mut into = Insn::three(Op::JAL, 0, 0, 0);
                    into.ops.k = start.len() as i32 + 4;
                    let nop = Insn::three(Op::SLL, 0, 0, 0);
                    start.extend([into, nop, over, nop]);
                    let mut code = MipsIsa::encode(&core, &start).unwrap();
                    code.extend(&kernel.code);
                    let bytes = |x: &BigUint, len: i32| {
                        let mut bytes = x.to_bytes_le();
                        bytes.resize(len as usize, 0);
                        if big {
                            bytes.chunks_mut(4).for_each(|w| w.reverse());
                        }
                        bytes
                    };
                    let data = [vec![0xa5; 2 * n as usize], bytes(a, n), bytes(b, n)].concat();
                    let at = at as usize;
                    let back = oracle::on_mips(&mut unicorn, big, &code, at, &data);
                    assert_eq!(
                        back,
                        [bytes(&(a * b), 2 * n), bytes(a, n), bytes(b, n)].concat()
                    );
                }
            }
        }
    }
}

/// Body cycles, printed, and held against gk2003: one product a column step takes less than
/// half of the FIPS inner loop's nine cycles for two, without and with a slow multiplier.
#[test]
fn cycles_stand_beside_the_paper() {
    let sizes = [5, 6, 7, 8, 16, 32];
    println!("body cycles at 160, 192, 224, 256, 512, 1024 bits");
    let cells = CORES
        .iter()
        .flat_map(|base| EXTENSIONS.map(|features| (base, features)));
    let cells = cells.flat_map(|(base, features)| classics().map(move |m| (base, features, m)));
    work::each(&tier::part(cells, 2, 12), |(base, features, method)| {
        let core = core(base.name, features);
        let made = sizes.into_iter().map(|words| best(&core, words, method));
        let Some(results) = made.collect::<Option<Vec<_>>>() else {
            return;
        };
        let cycles: Vec<_> = results.iter().map(|(_, _, c)| c.body.max).collect();
        let params: Vec<_> = results
            .iter()
            .map(|(p, _, _)| p.values().copied().collect::<Vec<_>>())
            .collect();
        println!(
            "{:<24} {:<17} {cycles:?} {params:?}",
            core.full_name(),
            method.name
        );
        for (words, (_, kernel, cost)) in sizes.into_iter().zip(&results) {
            let products = u64::from(words * words);
            let name = &kernel.name;
            match (features.first(), method.name) {
                // gk2003 loops: 9 cycles for two products. Unrolled, 3 for one, and 3 a column.
                (Some(Feature::WideAcc), "product-scanning") => {
                    assert!(
                        cost.body.max <= 3 * products + 6 * u64::from(words) + 4,
                        "{name}"
                    );
                }
                // FIOS takes at least 20 for two.
                (None, "product-scanning") => {
                    assert!(cost.body.max < 7 * products, "{name}");
                }
                (None, "operand-caching") if base.multiply.cycles < 3 => {
                    assert!(cost.body.max < 11 * products / 2, "{name}");
                }
                // FIOS takes 10 for two, 12 with the 32x16 multiplier.
                (Some(Feature::MaddHl), "operand-scanning") if base.multiply.cycles < 3 => {
                    let two = 10 + 2 * (u64::from(base.multiply.cycles) - 1);
                    assert!(cost.body.max <= two * products / 2, "{name}");
                }
                _ => {}
            }
            // Waits for the multiplier are filled: one time for all operands, where the
            // multiplier does not hold the pipeline.
            let leak = prove::leak(&kernel.spec, &any(&core), &kernel.code);
            let holds_pipeline = kernel
                .insns
                .iter()
                .any(|i| i.form().timing == Timing::MultiplyAddRegister);
            match base.name == "mips-4km" && holds_pipeline {
                true => assert!(leak.unwrap_err().contains("the time of maddl"), "{name}"),
                false => assert_eq!(leak.unwrap().body, cost.body, "{name}"),
            }
        }
    });
}

/// A loop of gk2003 on numbers: cycles of each of `rounds` iterations, and the machine after them.
fn cycles_per_round(core: &Core, body: &[Insn], round: impl Fn(&mut Mips<Concrete>, u32)) -> u64 {
    let code = MipsIsa::encode(core, body).unwrap();
    let run = |rounds: u32| {
        let mut m = Mips::new(Concrete::new(4096), true, false);
        for r in 1..32 {
            m.r[r] = lozenge::domain::concrete::Bits(0x8765_4321);
        }
        round(&mut m, rounds);
        let ran = Decoded::new(&code, core)
            .run(&mut m, code.len(), 100_000)
            .unwrap();
        assert_eq!(ran.cost.executed, u64::from(rounds) * body.len() as u64);
        ran.cost.call
    };
    let (long, short) = (run(20), run(10));
    assert_eq!(long.max - short.max, long.min - short.min);
    assert_eq!((long.max - short.max) % 10, 0);
    (long.max - short.max) / 10
}

#[test]
fn inner_loops_take_the_paper_s_cycles() {
    let lw = |t, s, k| Insn::immediate(Op::LW, t, s, k);
    let addiu = |t, s, k| Insn::immediate(Op::ADDIU, t, s, k);
    let maddu = |s, t| Insn::three(Op::MADDU, 0, s, t);
    let bne = |s, t, k| {
        let mut insn = Insn::three(Op::BNE, 0, s, t);
        insn.ops.k = k;
        insn
    };
    let [ra, rb, rn, rp, rj, rk, rz] = [8u8, 9, 10, 11, 12, 13, 14];
    // Figure 4, with its registers and offsets: A, B, N, P of 128 bytes each, one after the other.
    let fips = [
        lw(rb, rk, 0),
        lw(ra, rj, 0),
        lw(rn, rk, 128),
        maddu(ra, rb),
        lw(rp, rj, 384),
        addiu(rk, rk, -4),
        maddu(rp, rn),
        bne(rk, rz, -8),
        addiu(rj, rj, 4),
    ];
    // Section 5.3: the pointer arithmetic goes into the loads; a MADDU fills the delay slot.
    let step = |t, s, k| Insn::immediate(Op::LWI, t, s, k);
    let fips_auto = [
        step(rb, rk, -1),
        step(ra, rj, 1),
        lw(rp, rj, 380),
        maddu(ra, rb),
        lw(rn, rk, 132),
        bne(rk, rz, -6),
        maddu(rp, rn),
    ];
    let word = |k: usize| lozenge::domain::concrete::Bits::<32>(k as u64);
    let start = |m: &mut Mips<Concrete>, rounds: u32| {
        m.r[usize::from(rj)] = word(256);
        m.r[usize::from(rk)] = word(256 + 128 + 4 * (rounds as usize - 1));
        m.r[usize::from(rz)] = word(256 + 124);
    };
    let wide = [Feature::WideAcc];
    let auto = [Feature::WideAcc, Feature::AutoInc];
    for name in ["mips-4km-32x32", "mips-4km-32x16", "mips-4km-32x12"] {
        assert_eq!(
            cycles_per_round(&core(name, &wide), &fips, start),
            9,
            "{name}"
        );
        assert_eq!(
            cycles_per_round(&core(name, &auto), &fips_auto, start),
            7,
            "{name}"
        );
    }
    // FIOS, section 5.2: (u, v) = a b + t + u; (p, q) = m n + v + p; the pairs are (t, u) and (v, p).
    let [t, u, v, p, b, m, q, n] = [16u8, 17, 18, 19, 20, 21, 22, 23];
    let fios = [
        lw(t, rj, 256),
        lw(ra, rj, 0),
        lw(n, rj, 128),
        Insn::row(Op::MADDL, v, ra, b, t),
        Insn::row(Op::MADDH, u, ra, b, t),
        Insn::row(Op::MADDL, q, n, m, v),
        Insn::row(Op::MADDH, p, n, m, v),
        Insn::immediate(Op::SW, q, rj, 252),
        bne(rj, rz, -9),
        addiu(rj, rj, 4),
    ];
    let start = |m: &mut Mips<Concrete>, rounds: u32| {
        m.r[usize::from(rj)] = word(256);
        m.r[usize::from(rz)] = word(256 + 4 * (rounds as usize - 1));
    };
    let madd = [Feature::MaddHl];
    assert_eq!(
        cycles_per_round(&core("mips-4km-32x32", &madd), &fios, start),
        10
    );
    assert_eq!(
        cycles_per_round(&core("mips-4km-32x16", &madd), &fios, start),
        12
    );
}

/// Loads and stores of operand scanning: hw2018, table 2, less what the first row and kept words save.
#[test]
fn operand_scanning_loads_and_stores() {
    let method = method::find("operand-scanning").unwrap();
    let core = core("mips-4km", &[Feature::MaddHl]);
    for n in 1..=40usize {
        for params in (method.defaults)(&spec(n as u32), &MipsIsa::facts(&core)) {
            let k = params["k"];
            let schedule =
                (method.schedule)(&spec(n as u32), &MipsIsa::facts(&core), &params).unwrap();
            let counts = schedule.check().unwrap();
            assert_eq!(counts.loads, 2 * n * n + n - n - k * (n - 1));
            assert_eq!(counts.stores, n * n + n);
            assert_eq!(counts.products, n * n);
        }
    }
}

/// A word kept below the stack pointer may be overwritten by an interrupt.
#[test]
fn nothing_lies_below_the_stack_pointer() {
    let core = core("mips-4km", &[]);
    let kept = |sp: i32| {
        [
            Insn::immediate(Op::ADDIU, 29, 29, -sp),
            Insn::immediate(Op::LW, 8, 5, 0),
            Insn::immediate(Op::LW, 9, 6, 0),
            Insn::immediate(Op::SW, 16, 29, sp - 8),
            Insn::three(Op::MULTU, 0, 8, 9),
            Insn::three(Op::MFLO, 16, 0, 0),
            Insn::three(Op::MFHI, 11, 0, 0),
            Insn::immediate(Op::SW, 16, 4, 0),
            Insn::immediate(Op::LW, 16, 29, sp - 8),
            Insn::immediate(Op::SW, 11, 4, 4),
            Insn::three(Op::JR, 0, 31, 0),
            Insn::immediate(Op::ADDIU, 29, 29, sp),
        ]
    };
    let proof = |sp| {
        let code = MipsIsa::encode(&core, &kept(sp)).unwrap();
        prove::prove(&spec(1), &any(&core), &code, Alias::Distinct)
    };
    assert!(proof(8).holds(), "{:?}", proof(8));
    let reason = format!("{:?}", proof(0).memory);
    assert!(reason.contains("below the stack pointer"), "{reason}");
}

/// A carry out of HI that nobody catches, and a wait that operands decide.
#[test]
fn lost_carries_and_early_ends_are_found() {
    let wide = core("mips-4km", &[Feature::WideAcc]);
    let plain = core("mips-4km", &[]);
    let method = method::find("product-scanning").unwrap();
    let kernel = kernels(&wide, 2, method, &Params::new()).remove(0);
    // SHA without guard bits: HI to LO, 0 to HI.
    let shift = [
        Insn::three(Op::MFHI, 31, 0, 0),
        Insn::three(Op::MTLO, 0, 31, 0),
        Insn::three(Op::MTHI, 0, 0, 0),
    ];
    let mut insns = vec![Insn::three(Op::ADDU, 25, 31, 0)];
    for insn in &kernel.insns {
        match insn.op {
            Op::SHA => insns.extend(shift),
            Op::JR => insns.push(Insn::three(Op::JR, 0, 25, 0)),
            _ => insns.push(*insn),
        }
    }
    insns.insert(insns.len() - 2, Insn::three(Op::ADDU, 31, 25, 0));
    assert!(
        !kernel
            .insns
            .iter()
            .any(|i| (i.reads() | i.writes()) >> 25 & 1 == 1)
    );
    let lost = Kernel {
        code: MipsIsa::encode(&plain, &insns).unwrap(),
        ..kernel
    };
    let text = format!("{:?}", proof(&plain, &lost, Alias::Distinct).correct);
    assert!(text.contains("carry") && text.contains("maddu"), "{text}");
    // Without anything between MULTU and MFLO, small operands are faster.
    let code = [
        Insn::immediate(Op::LW, 8, 5, 0),
        Insn::immediate(Op::LW, 9, 6, 0),
        Insn::three(Op::MULTU, 0, 8, 9),
        Insn::three(Op::MFLO, 10, 0, 0),
        Insn::three(Op::MFHI, 11, 0, 0),
        Insn::immediate(Op::SW, 10, 4, 0),
        Insn::three(Op::JR, 0, 31, 0),
        Insn::immediate(Op::SW, 11, 4, 4),
    ];
    for (name, constant) in [("mips-4km", false), ("mips-4km-32x16", true)] {
        let core = core(name, &[]);
        let code = MipsIsa::encode(&core, &code).unwrap();
        assert!(prove::prove(&spec(1), &any(&core), &code, Alias::Distinct).holds());
        match prove::leak(&spec(1), &any(&core), &code) {
            Ok(cost) => assert!(constant && cost.body.min == cost.body.max),
            Err(text) => assert!(
                !constant && text.contains("multu depends on the secret b[0]"),
                "{text}"
            ),
        }
    }
}

#[test]
fn the_home_area_saves_four_registers() {
    let write = |r: u8| Insn::immediate(Op::ADDIU, r, 0, 1);
    for count in 0..=8u8 {
        let body: Vec<_> = (16..16 + count).map(write).collect();
        let core = core("mips-4km", &[]);
        let frame = frame::<MipsIsa>(&core, &body, 0).unwrap();
        let code = [frame.before, body, frame.after].concat();
        let code = MipsIsa::encode(&core, &code).unwrap();
        let proof = prove::prove(&spec(1), &any(&core), &code, Alias::Distinct);
        assert!(
            proof.abi.is_proved() && proof.memory.is_proved(),
            "{proof:?}"
        );
        // `$sp` stays a multiple of 8.
        let deep = (usize::from(count).saturating_sub(4) * 4).next_multiple_of(8);
        assert_eq!(proof.stack.bytes, deep);
    }
}
