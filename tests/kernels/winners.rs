//! The winners on record (`crates/make/winners/`): a search of all methods finds nothing cheaper, and every plan there is
//! still made. `cargo xtask ledger winners` searches for all of them and writes the files.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use lozenge::facts::Style;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::cores::ATMEGA128;
use lozenge::isa::core::Core;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::isa::riscv::cores::Core as RiscvCore;
use lozenge::kernel::{Error, Request};
use lozenge::make::winners;
use lozenge::request::Room;
use lozenge::spec::modulus::Reduce;
use lozenge::spec::{Op, Spec};
use lozenge::{kernel, method};

use crate::kit::tier::{self, Tier};
use crate::kit::{any, ask, known, work};

/// Bits of products and squares, of their halves, and of products modulo a number that is an operand.
const SIZES: [u32; 11] = [128, 160, 192, 224, 256, 320, 384, 448, 512, 768, 1024];
const HALVES: [u32; 6] = [128, 160, 192, 256, 384, 512];
const RUNTIME: [u32; 7] = [160, 192, 256, 384, 512, 768, 1024];
/// Moduli with the bits of operands.
const MODULI: [(&str, u32); 9] = [
    ("secp160r1", 160),
    ("opf160", 160),
    ("p192", 192),
    ("p224", 224),
    ("25519", 256),
    ("p256", 256),
    ("secp256k1", 256),
    ("p256-order", 256),
    ("p384", 384),
];
/// Of so many cells one is searched by day, and none larger than this.
const BY_DAY: usize = 12;
const LARGEST: u32 = 192;

/// All cells that are on record, if a machine has them.
fn cells() -> Vec<Request> {
    let plain = |op: Op, bits: u32| ask::in_any_time(op, bits);
    let products = [Op::Mul, Op::Sqr].into_iter();
    let mut list: Vec<_> = products
        .flat_map(|op| SIZES.map(|bits| plain(op, bits)))
        .collect();
    for op in [Op::Mullo, Op::Mulhi] {
        list.extend(HALVES.map(|bits| plain(op, bits)));
    }
    let modulo = |op: Op, (modulus, bits): (&str, u32), reduce| Request {
        modular: Some(ask::modular(modulus, reduce)),
        ..plain(op, bits)
    };
    for op in [Op::Montmul, Op::Montsqr] {
        for reduce in [Reduce::Full, Reduce::Almost] {
            list.extend(RUNTIME.map(|bits| modulo(op, ("runtime", bits), reduce)));
        }
    }
    for op in [Op::Montmul, Op::Montsqr, Op::Modmul, Op::Modsqr] {
        list.extend(MODULI.map(|of| modulo(op, of, Reduce::Full)));
    }
    list.iter_mut().for_each(|request| request.search = true);
    // The longest first, so that two threads end together.
    list.sort_by_key(|request| std::cmp::Reverse(request.size.a));
    list
}

/// A cell: what names it, the plan, and its cycles with the bytes of code.
type Found = (String, String, (u64, usize));

/// The cheapest plan; none where the machine has no kernel.
fn search(core: &Core, request: &Request) -> Option<Found> {
    let spec = request.spec(core.word_bits()).ok()?;
    let found = |request: &Request| -> Result<Found, Error> {
        let (spec, best) = kernel::choose(request, core)?;
        assert_eq!(best.style, Style::Unrolled, "{}", winners::key(&spec));
        let plan = method::text(best.method.name, &best.params);
        let cost = (best.cycles(), best.code.len());
        Ok((winners::key(&spec), plan, cost))
    };
    let best = found(request).ok()?;
    // Where plans cost the same, the one on record stays.
    let held = held(core, &spec).and_then(|request| found(&request).ok());
    held.filter(|(_, _, cost)| *cost <= best.2).or(Some(best))
}

/// What is on record.
fn held(core: &Core, spec: &Spec) -> Option<Request> {
    let plan = winners::of(&core.name(), core.abi(), spec)?;
    Some(Request {
        modular: spec.modular.clone(),
        method: Some(plan.method),
        params: plan.params,
        plan: plan.plan,
        ..ask::in_any_time(spec.op, spec.size)
    })
}

fn hold(core: &Core, file: &str, cores: &[&str]) {
    let bless = std::env::var("LOZENGE_LEDGER").as_deref() == Ok("bless");
    let mut cells = cells();
    if !bless && tier::tier() != Tier::Night {
        cells.retain(|request| request.size.a <= LARGEST);
        let mut random = tier::random(file.len() as u64);
        let count = cells.len().div_ceil(BY_DAY);
        cells = (0..count)
            .map(|_| cells.swap_remove(random.below(cells.len())))
            .collect();
    }
    let found = work::each(&cells, |request| {
        let found = search(core, request);
        if let (true, Some((key, plan, cost))) = (bless, &found) {
            println!("{file}: {key}: {plan}: {cost:?}");
        }
        found
    });
    let found: BTreeMap<_, _> = found
        .into_iter()
        .flatten()
        .map(|(key, plan, _)| (key, plan))
        .collect();
    if bless {
        let mut text = winners::head(cores, core.abi()) + "\n";
        for (key, plan) in &found {
            let _ = writeln!(text, "{key},{plan}");
        }
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("crates/make/winners");
        std::fs::write(root.join(format!("{file}.csv")), text).expect("it can be written");
        return;
    }
    assert!(!found.is_empty(), "{file}");
    for request in &cells {
        let spec = request.spec(core.word_bits()).expect("a size");
        let key = winners::key(&spec);
        let held = winners::of(&core.name(), core.abi(), &spec);
        let held = held.map(|held| held.text());
        assert_eq!(
            held.as_ref(),
            found.get(&key),
            "{file}: {key}: another plan is cheaper, or the one on record is gone; `cargo xtask ledger winners` searches for all"
        );
    }
}

#[test]
fn avr() {
    hold(&any(&ATMEGA128), "atmega128", &["atmega128", "atmega2560"]);
}

#[test]
fn arm() {
    hold(&any(&ARM7TDMI), "arm7tdmi", &["arm7tdmi"]);
}

#[test]
fn mips() {
    let core = MipsCore::named("mips-4km").expect("a core");
    hold(&any(&core), "mips-4km", &["mips-4km"]);
}

#[test]
fn riscv() {
    let core = RiscvCore::named("rv32im").expect("a core");
    hold(&any(core), "rv32im", &["rv32im", "rv32imc"]);
}

#[test]
fn files_are_read() {
    for file in winners::FILES {
        let (head, lines) = file.split_once('\n').expect("a first line");
        assert!(head.starts_with("# ") && head.contains(": "), "{head}");
        for line in lines.lines() {
            let mut cells = line.splitn(4, ',').skip(3);
            let plan = cells.next().and_then(winners::Winner::parse);
            assert!(plan.is_some(), "{line}");
        }
    }
}

#[test]
fn a_file_is_for_its_cores_in_its_convention() {
    let file = "# a b: gcc\nmul,64,,product-scanning\n";
    assert!(winners::is_for(file, "b", "gcc"));
    assert!(!winners::is_for(file, "a b", "gcc") && !winners::is_for(file, "a", "iar"));
    assert!(!winners::is_for("mul,64,,x\n", "a", "gcc"));
}

/// A kernel with the plan on record says so, whether its methods were searched or not; another method's does not, nor the
/// same plan in loops, which a part with little room gets.
#[test]
fn a_kernel_says_that_its_plan_is_on_record() {
    let usual = Request {
        modular: Some(ask::modular("runtime", Reduce::Full)),
        ..ask::in_any_time(Op::Montmul, 160)
    };
    let made = |request: &Request| known::generate(request, &any(&ARM7TDMI)).expect("a kernel");
    let kernel = made(&usual);
    assert!(kernel.on_record && kernel.style == Style::Unrolled);
    let searched = Request {
        search: true,
        ..usual.clone()
    };
    assert!(made(&searched).on_record);
    let other = Request {
        method: Some("cios".into()),
        ..usual.clone()
    };
    assert!(!made(&other).on_record);
    let plan = kernel.plan();
    let small = Request {
        method: Some(plan.method.clone()),
        room: Some(Room {
            part: "a small part",
            flash: kernel.code.len() - 1,
            ram: 1 << 10,
        }),
        ..usual
    };
    let looped = made(&small);
    assert_eq!(looped.plan(), plan);
    assert!(looped.style != Style::Unrolled && !looped.on_record);
}
