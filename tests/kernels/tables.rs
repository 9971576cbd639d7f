//! The kernels of the book's tables and of `tests/paper/` in the ledger: cycles, bytes, stack and verdicts of each. Those
//! files hold the figures in print beside ours, and `tests/figures/` compares them exactly.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lozenge::candidate::Budget;
use lozenge::isa::core::Core;
use lozenge::kernel::Request;
use lozenge::spec::modulus::{Modular, Reduce};
use lozenge::spec::{Op, Size};
use lozenge::target::{Names, Target};
use toml::Value;

use crate::kernels::matrix::{FIGURES, line, none, reason};
use crate::kit::tier::{self, Tier};
use crate::kit::{ask, known};
use crate::ledger::{Line, Sheet};

const COLUMNS: &str = "core,op,size,modulus,plan,style,budget,body,call,bytes,stack,known";
/// Cells that are made where a sample is.
const SAMPLED: usize = 4;

/// A kernel as one types it.
#[derive(Clone, Default)]
struct Asked {
    core: String,
    /// Words for `--isa-ext`.
    extensions: Vec<String>,
    op: String,
    size: String,
    /// Modulus, reduction and shift; empty for numbers.
    modulus: String,
    reduce: Reduce,
    shift: u32,
    /// The method and its parameters: `operand-caching e=10`; empty for the cheapest of all.
    plan: String,
    /// Empty for the usual one.
    style: String,
    flash: Option<usize>,
}

impl Asked {
    fn of(core: &str, op: &str, bits: impl ToString, plan: &str) -> Self {
        Self {
            core: core.into(),
            op: op.into(),
            size: bits.to_string(),
            plan: plan.into(),
            ..Self::default()
        }
    }

    fn modulo(self, modulus: &str) -> Self {
        Self {
            modulus: modulus.into(),
            ..self
        }
    }

    fn rolled(self) -> Self {
        Self {
            style: "rolled".into(),
            ..self
        }
    }

    /// A row of `special.toml` or `small.toml`; its core and style if it does not say.
    fn row(row: &Value, core: &str, style: &str) -> Self {
        let text = |key: &str, other: &str| {
            let text = row.get(key).map_or(other, |t| t.as_str().expect("a text"));
            text.to_string()
        };
        let number = |key: &str| row.get(key).map(|n| n.as_integer().expect("a number"));
        let reduce = text("reduce", "full");
        let op = text("op", "");
        let runtime = if op.starts_with("mont") {
            "runtime"
        } else {
            ""
        };
        Self {
            core: text("core", core),
            size: number("bits").expect("bits").to_string(),
            modulus: text("modulus", runtime),
            reduce: reduce_named(&reduce),
            shift: number("shift").unwrap_or(0) as u32,
            plan: text("plan", ""),
            style: text("style", style),
            op,
            ..Self::default()
        }
    }

    fn key(&self) -> String {
        let core = match self.extensions.is_empty() {
            true => self.core.clone(),
            false => format!("{} {}", self.core, self.extensions.join(" ")),
        };
        let modulus = match (self.modulus.is_empty(), self.shift) {
            (true, _) => String::new(),
            (false, 0) => format!("{} {}", self.modulus, self.reduce.name()),
            (false, shift) => format!("{} {} shift {shift}", self.modulus, self.reduce.name()),
        };
        let budget = self
            .flash
            .map_or(String::new(), |most| format!("flash {most}"));
        let Self {
            op,
            size,
            plan,
            style,
            ..
        } = self;
        format!("{core},{op},{size},{modulus},{plan},{style},{budget}")
    }

    fn request(&self) -> Request {
        let op = Op::ALL.into_iter().find(|op| op.name() == self.op);
        let modular = || Modular {
            modulus: self.modulus.parse().expect("a modulus"),
            reduce: self.reduce,
            shift: self.shift,
            times: 0,
        };
        let style = || self.style.parse().expect("a style");
        let asked = Request {
            modular: (!self.modulus.is_empty()).then(modular),
            style: (!self.style.is_empty()).then(style),
            budget: Budget {
                flash: self.flash,
                stack: None,
            },
            ..ask::in_any_time(
                op.expect("an operation"),
                self.size.parse::<Size>().expect("a size"),
            )
        };
        match self.plan.is_empty() {
            true => asked,
            false => ask::by(&self.plan, asked),
        }
    }

    /// Is it too much for the day?
    fn is_of_the_night(&self) -> bool {
        let size: Size = self.size.parse().expect("a size");
        let words = size.a
            / if self.core.starts_with('a') && self.core != "arm7tdmi" {
                8
            } else {
                32
            };
        // A search of all methods, or within a budget, makes hundreds.
        let searched = self.plan.is_empty() || self.flash.is_some();
        words > if searched { 24 } else { 64 } || size.a > 512
    }
}

fn reduce_named(name: &str) -> Reduce {
    let reduce = Reduce::ALL.into_iter().find(|r| r.name() == name);
    reduce.expect("a reduction")
}

impl Asked {
    /// What becomes of it on its core.
    fn line(&self, core: &Core) -> Line {
        match known::generate(&self.request(), core) {
            Ok(kernel) => line(self.key(), &kernel),
            Err(error) => {
                let told = reason(&error).unwrap_or_else(|| panic!("{}: {error}", self.key()));
                none(self.key(), &told)
            }
        }
    }
}

/// Hutter, Wenger 2018, and the figures beside theirs.
fn products(list: &mut Vec<Asked>) {
    let plans = [
        "product-scanning",
        "operand-scanning k=0",
        "operand-scanning k=19",
        "hybrid carry=0 d=4",
        "hybrid carry=1 d=4",
        "hybrid carry=2 d=4",
        "operand-caching e=2",
        "operand-caching e=4",
        "operand-caching e=8",
        "operand-caching e=10",
        "consecutive-operand-caching",
    ];
    for plan in plans {
        let sizes = [160, 192, 256, 512, 1024, 2048].into_iter();
        list.extend(sizes.map(|bits| Asked::of("atmega128", "mul", bits, plan)));
    }
    for core in ["arm7tdmi-hw2018", "arm7tdmi"] {
        for plan in ["product-scanning", "operand-caching", "hybrid d=2"] {
            let sizes = [160, 192, 256].into_iter();
            list.extend(sizes.map(|bits| Asked::of(core, "mul", bits, plan)));
        }
    }
    for (op, sizes) in [
        ("mul", &[160, 192, 256][..]),
        ("sqr", &[192, 256, 512, 1024]),
        ("mullo", &[256, 384, 512]),
    ] {
        list.extend(
            sizes
                .iter()
                .map(|bits| Asked::of("atmega128", op, bits, "")),
        );
    }
    for style in ["looped", "rolled"] {
        let asked = |bits: &u32| Asked {
            style: style.into(),
            ..Asked::of("atmega128", "mul", bits, "operand-caching")
        };
        list.extend([160, 192, 256].iter().map(asked));
    }
    for bits in [64, 128, 160, 256] {
        for core in ["attiny85", "attiny10"] {
            list.push(Asked::of(core, "mul", bits, "shift-and-add"));
        }
    }
    list.push(Asked::of("attiny85", "sqr", 160, "shift-and-add"));
}

/// Montgomery's: Seo, Kim 2014, Grossschaedl and others 2005, Grossschaedl and Kamendje 2003.
fn montgomery(list: &mut Vec<Asked>) {
    let products = [
        "fips",
        "product-scanning+sps",
        "operand-caching+sps",
        "consecutive-operand-caching+sps",
    ];
    for modulus in ["opf160", "secp160r1"] {
        for plan in products.iter().chain(&["karatsuba+sps"]) {
            list.push(Asked::of("atmega128", "montmul", 160, plan).modulo(modulus));
        }
        for plan in [
            "fips",
            "sliding-block-doubling+sps",
            "karatsuba-squaring+sps",
        ] {
            list.push(Asked::of("atmega128", "montsqr", 160, plan).modulo(modulus));
        }
    }
    for bits in [160, 192, 256] {
        for plan in products.iter().chain(&["hfips"]) {
            list.push(Asked::of("atmega128", "montmul", bits, plan).modulo("runtime"));
        }
    }
    for bits in [192, 224, 256] {
        for op in ["montmul", "montsqr"] {
            let asked = Asked::of("atmega128", op, bits, "fips");
            list.push(asked.modulo(&format!("opf{bits}")));
        }
    }
    for op in ["montmul", "montsqr"] {
        for plan in ["cios", "kcm levels=1"] {
            list.push(Asked::of("arm7tdmi", op, 512, plan).modulo("runtime"));
        }
    }
    let table = include_str!("../paper/groszschaedl-kamendje-2003.toml");
    let table: Value = toml::from_str(table).expect("TOML");
    for row in table["row"].as_array().expect("rows") {
        let text = |key: &str| row[key].as_str().expect("text");
        let words = row["extension"].as_array().expect("a list").iter();
        let words: Vec<String> = words.map(|e| e.as_str().expect("a word").into()).collect();
        let unroll = row["unroll"].as_integer().expect("a number");
        for multiplier in ["32x32", "32x16", "32x12"] {
            let core = format!("mips-4km-{multiplier}");
            let asked = Asked {
                extensions: words.clone(),
                ..Asked::of(&core, text("op"), 1024, text("method")).modulo("runtime")
            };
            list.push(match unroll {
                0 => asked,
                _ => Asked {
                    plan: format!("{} unroll={unroll}", text("method")),
                    ..asked.rolled()
                },
            });
        }
    }
}

/// The book's tables of loops and of small code.
fn loops(list: &mut Vec<Asked>) {
    for (op, plan) in [
        ("mul", "product-scanning"),
        ("mul", "operand-scanning"),
        ("sqr", "square-product-scanning"),
        ("montmul", "fips"),
        ("montsqr", "fips"),
    ] {
        let modulus = if op.starts_with("mont") {
            "runtime"
        } else {
            ""
        };
        let asked = |plan: &str| Asked::of("arm7tdmi", op, 1024, plan).modulo(modulus);
        list.extend([asked(plan), asked(plan).rolled()]);
        list.push(asked(&format!("{plan} unroll=1")).rolled());
    }
    for core in ["arm7tdmi", "atmega128"] {
        for (op, bits) in [("mul", 1024), ("mul", 2048), ("sqr", 1024), ("sqr", 2048)] {
            list.push(Asked::of(core, op, bits, ""));
            list.push(Asked {
                flash: Some(1536),
                ..Asked::of(core, op, bits, "")
            });
        }
    }
    let table: Value = toml::from_str(include_str!("../paper/small.toml")).expect("TOML");
    let rows = table["kernel"].as_array().expect("rows").iter();
    list.extend(rows.map(|row| Asked::row(row, "", "rolled")));
}

/// All of them, each once.
fn asked() -> Vec<Asked> {
    let mut list = Vec::new();
    products(&mut list);
    montgomery(&mut list);
    loops(&mut list);
    let table: Value = toml::from_str(include_str!("../paper/special.toml")).expect("TOML");
    let rows = table["kernel"].as_array().expect("rows").iter();
    list.extend(rows.map(|row| Asked::row(row, "atmega128", "")));
    let mut known = std::collections::BTreeSet::new();
    list.retain(|asked| known.insert(asked.key()));
    list
}

fn made(file: &str, list: Vec<Asked>, tier: Tier) {
    let list = tier::sample(file, list, SAMPLED);
    let (next, lines) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(asked) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let names = Names {
                        core: Some(&asked.core),
                        extensions: &asked.extensions,
                        ..Names::default()
                    };
                    let line = asked.line(&Target::resolve(&names).expect("a core").to_core());
                    println!("{file}: {}: {}", line.key, line.known);
                    lines.lock().expect("no thread panicked").push(line);
                }
            });
        }
    });
    let sheet = Sheet {
        name: file.into(),
        columns: COLUMNS,
        figures: FIGURES,
    };
    let lines = lines.into_inner().expect("no thread panicked");
    sheet.hold(lines, tier != Tier::Fast);
}

#[test]
fn what_readme_and_the_papers_show() {
    let tier = tier::tier();
    let (night, day): (Vec<_>, Vec<_>) = asked().into_iter().partition(Asked::is_of_the_night);
    assert!(day.len() > 100 && night.len() > 100);
    made("tables", day, tier);
    if tier == Tier::Night {
        made("night/tables", night, tier);
    }
}
