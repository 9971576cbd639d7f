//! The winners on record (`crates/make/winners/`): a search of all methods finds nothing cheaper, and every plan there is
//! still made. `cargo xtask ledger winners` searches for all of them and writes the files.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use lozenge::facts::Style;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::cores::{ATMEGA128, ATMEGA4809, ATXMEGA32A4};
use lozenge::isa::core::Core;
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::isa::riscv::cores::Core as RiscvCore;
use lozenge::kernel::{Error, Request};
use lozenge::make::winners;
use lozenge::make::winners::Winner;
use lozenge::request::Room;
use lozenge::spec::modulus::Reduce;
use lozenge::spec::{Op, Spec};
use lozenge::{kernel, method};

use crate::kit::tier::{self, Tier};
use crate::kit::{any, ask, known, work};

/// Bits of products and squares, of their halves, and of products modulo a number that is an operand.
const SIZES: [u32; 14] = [
    128, 160, 192, 224, 256, 320, 384, 448, 512, 528, 544, 768, 1024, 2048,
];
const HALVES: [u32; 6] = [128, 160, 192, 256, 384, 512];
const RUNTIME: [u32; 7] = [160, 192, 256, 384, 512, 768, 1024];
/// Halves of what RSA's drivers reduce by folding.
const FOLDED: [u32; 2] = [512, 1024];
/// In loops, for parts without room for all products one by one.
const LOOPS: [u32; 7] = [256, 384, 512, 768, 1024, 1536, 2048];
/// Moduli with the bits of operands.
const MODULI: [(&str, u32); 12] = [
    ("secp160r1", 160),
    ("opf160", 160),
    ("p192", 192),
    ("p224", 224),
    ("25519", 256),
    ("p256", 256),
    ("secp256k1", 256),
    ("p256-order", 256),
    ("p384", 384),
    ("448", 448),
    ("p521", 528),
    ("p521", 544),
];
/// Of so many cells one is searched by day, and none larger than this.
const BY_DAY: usize = 12;
const LARGEST: u32 = 192;
const LARGEST_LOOP: u32 = 256;
/// Of cores with less use none is larger.
const FEWER: u32 = 512;

/// What is searched: plans that are written out, or all in loops.
struct Cell {
    request: Request,
    styles: &'static [Style],
}

impl Cell {
    /// The most bits that are searched by day.
    fn largest(&self) -> u32 {
        match self.styles {
            [Style::Unrolled] => LARGEST,
            _ => LARGEST_LOOP,
        }
    }
}

/// All cells that are on record, if a machine has them.
fn cells() -> Vec<Cell> {
    let cell = |styles: &'static [Style]| move |request| Cell { request, styles };
    let straight = straight().into_iter().map(cell(&[Style::Unrolled]));
    let loops = loops()
        .into_iter()
        .map(cell(&[Style::Looped, Style::Rolled]));
    let mut list: Vec<_> = straight.chain(loops).collect();
    list.iter_mut().for_each(|cell| cell.request.search = true);
    // The longest first, so that two threads end together.
    list.sort_by_key(|cell| std::cmp::Reverse(cell.request.size.a));
    list
}

fn modulo(op: Op, (modulus, bits): (&str, u32), reduce: Reduce) -> Request {
    Request {
        modular: Some(ask::modular(modulus, reduce)),
        ..ask::in_any_time(op, bits)
    }
}

fn loops() -> Vec<Request> {
    let plain = [Op::Mul, Op::Sqr].into_iter();
    let mut list: Vec<_> = plain
        .flat_map(|op| LOOPS.map(|bits| ask::in_any_time(op, bits)))
        .collect();
    for op in [Op::Montmul, Op::Montsqr] {
        for reduce in [Reduce::Full, Reduce::Almost] {
            list.extend(LOOPS.map(|bits| modulo(op, ("runtime", bits), reduce)));
        }
    }
    list
}

fn straight() -> Vec<Request> {
    let plain = |op: Op, bits: u32| ask::in_any_time(op, bits);
    let products = [Op::Mul, Op::Sqr].into_iter();
    let mut list: Vec<_> = products
        .flat_map(|op| SIZES.map(|bits| plain(op, bits)))
        .collect();
    for op in [Op::Mullo, Op::Mulhi] {
        list.extend(HALVES.map(|bits| plain(op, bits)));
    }
    for op in [Op::Montmul, Op::Montsqr] {
        for reduce in [Reduce::Full, Reduce::Almost] {
            list.extend(RUNTIME.map(|bits| modulo(op, ("runtime", bits), reduce)));
        }
    }
    list.extend(FOLDED.map(|bits| modulo(Op::Redc, ("runtime-folded", bits), Reduce::Almost)));
    for op in [Op::Montmul, Op::Montsqr, Op::Modmul, Op::Modsqr] {
        list.extend(MODULI.map(|of| modulo(op, of, Reduce::Full)));
    }
    list
}

/// A cell: what names it, style and plan, and its cycles with the bytes of code.
type Found = (String, String, (u64, usize));

/// The cheapest plan; none where the machine has no kernel.
fn search(core: &Core, cell: &Cell) -> Option<Found> {
    let spec = cell.request.spec(core.word_bits()).ok()?;
    let found = |request: &Request| -> Result<Found, Error> {
        let (spec, best) = kernel::choose(request, core)?;
        let plan = method::text(best.method.name, &best.params);
        let cost = (best.cycles(), best.code.len());
        let plan = format!("{},{plan}", best.style.name());
        Ok((winners::key(&spec), plan, cost))
    };
    let styled = cell.styles.iter().map(|style| Request {
        style: Some(*style),
        ..cell.request.clone()
    });
    let best = styled
        .filter_map(|request| found(&request).ok())
        .min_by_key(|(_, _, cost)| *cost)?;
    // Where plans cost the same, the one on record stays.
    let held = held(core, &spec, cell).and_then(|request| found(&request).ok());
    held.filter(|(_, _, cost)| *cost <= best.2).or(Some(best))
}

/// The winner on record.
fn winner(core: &Core, spec: &Spec, cell: &Cell) -> Option<Winner> {
    let list = winners::of(&core.name(), core.abi(), spec).into_iter();
    list.into_iter()
        .find(|winner| cell.styles.contains(&winner.style))
}

/// Its line in the file.
fn line(core: &Core, cell: &Cell) -> Option<String> {
    let spec = cell.request.spec(core.word_bits()).ok()?;
    let held = winner(core, &spec, cell)?;
    Some(format!("{},{}", winners::key(&spec), held.text()))
}

fn held(core: &Core, spec: &Spec, cell: &Cell) -> Option<Request> {
    let plan = winner(core, spec, cell)?;
    Some(Request {
        style: Some(plan.style),
        modular: spec.modular.clone(),
        method: Some(plan.named.method),
        params: plan.named.params,
        plan: plan.named.plan,
        ..ask::in_any_time(spec.op, spec.size)
    })
}

/// Searches cells of at most `most` bits for a file of `cores`, and compares, or writes.
fn hold(core: &Core, file: &str, cores: &[&str], most: u32) {
    let asked = std::env::var("LOZENGE_LEDGER").unwrap_or_default();
    let (bless, missing) = (asked == "bless", asked == "missing");
    let mut cells = cells();
    cells.retain(|cell| cell.request.size.a <= most);
    if missing {
        cells.retain(|cell| line(core, cell).is_none());
    } else if !bless && tier::tier() != Tier::Night {
        cells.retain(|cell| cell.request.size.a <= cell.largest());
        let mut random = tier::random(file.len() as u64);
        let count = cells.len().div_ceil(BY_DAY);
        cells = (0..count)
            .map(|_| cells.swap_remove(random.below(cells.len())))
            .collect();
    }
    let found = work::each(&cells, |cell| {
        let found = search(core, cell);
        if let (true, Some((key, plan, cost))) = (bless || missing, &found) {
            println!("{file}: {key}: {plan}: {cost:?}");
        }
        found
    });
    let found = found.into_iter().flatten();
    let mut found: BTreeSet<_> = found
        .map(|(key, plan, _)| format!("{key},{plan}"))
        .collect();
    if bless || missing {
        if missing {
            let known = winners::FILES
                .iter()
                .filter(|text| winners::is_for(text, &core.name(), core.abi()));
            found.extend(
                known
                    .flat_map(|text| text.lines().skip(1))
                    .map(String::from),
            );
        }
        let mut text = winners::head(cores, core.abi()) + "\n";
        for line in &found {
            let _ = writeln!(text, "{line}");
        }
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("crates/make/winners");
        std::fs::write(root.join(format!("{file}.csv")), text).expect("it can be written");
        return;
    }
    assert!(!found.is_empty(), "{file}");
    let held = cells.iter().filter_map(|cell| line(core, cell));
    assert_eq!(
        held.collect::<BTreeSet<_>>(),
        found,
        "{file}: another plan is cheaper, or the one on record is gone; `cargo xtask ledger winners` searches for all"
    );
}

#[test]
fn avr() {
    let cores = ["atmega128", "atmega2560"];
    hold(&any(&ATMEGA128), "atmega128", &cores, u32::MAX);
}

#[test]
fn avr_of_other_times() {
    hold(&any(&ATMEGA4809), "atmega4809", &["atmega4809"], FEWER);
    let cores = ["atxmega32a4", "atxmega128a1"];
    hold(&any(&ATXMEGA32A4), "atxmega", &cores, FEWER);
}

#[test]
fn arm() {
    hold(&any(&ARM7TDMI), "arm7tdmi", &["arm7tdmi"], u32::MAX);
}

#[test]
fn mips() {
    let core = MipsCore::named("mips-4km").expect("a core");
    hold(&any(&core), "mips-4km", &["mips-4km"], u32::MAX);
}

#[test]
fn riscv() {
    let core = RiscvCore::named("rv32im").expect("a core");
    hold(&any(core), "rv32im", &["rv32im", "rv32imc"], u32::MAX);
}

#[test]
fn files_are_read() {
    for file in winners::FILES {
        let (head, lines) = file.split_once('\n').expect("a first line");
        assert!(head.starts_with("# ") && head.contains(": "), "{head}");
        for line in lines.lines() {
            let mut cells = line.splitn(4, ',').skip(3);
            let plan = cells.next().and_then(Winner::parse);
            assert!(plan.is_some(), "{line}");
        }
    }
}

#[test]
fn a_file_is_for_its_cores_in_its_convention() {
    let file = "# a b: gcc\nmul,64,,unrolled,product-scanning\n";
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
        method: Some(plan.named.method.clone()),
        room: Some(Room {
            part: "a small part",
            flash: kernel.code.len() - 1,
            below: "",
            ram: 1 << 10,
        }),
        ..usual
    };
    let looped = made(&small);
    assert_eq!(looped.plan().named, plan.named);
    assert!(looped.style != Style::Unrolled && !looped.on_record);
}
