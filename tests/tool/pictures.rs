//! Pictures, listings and pages: what they show is what is counted, and they are well-formed by a parser of others.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use lozenge::draw;
use lozenge::isa::arm::cores::ARM7TDMI;
use lozenge::isa::avr::cores::{ATMEGA128, ATTINY85};
use lozenge::isa::mips::cores::Core as MipsCore;
use lozenge::lower::facts;
use lozenge::method::METHODS;
use lozenge::schedule::Counts;
use lozenge::spec::modulus::{Modular, Modulus};
use lozenge::spec::{Op, Spec};
use serde_json::Value;
use tempfile::tempdir;

use crate::kit::tier::Tier;
use crate::kit::{any, tier, work};

fn run(folder: &Path, line: &str) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {told}");
    output
}

fn printed(folder: &Path, line: &str) -> String {
    String::from_utf8(run(folder, line).stdout).expect("UTF-8")
}

/// What a script in Python prints.
fn python(script: &str, file: &Path) -> String {
    let output = Command::new("python3")
        .args(["-c", script])
        .arg(file)
        .output()
        .expect("python3 runs");
    assert!(
        output.status.success(),
        "{}: {}",
        file.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Sums of what each element of an SVG stands for: dots, loads and stores.
const COUNT: &str = "import sys, xml.etree.ElementTree as t
root = t.parse(sys.argv[1]).getroot()
assert root.tag.endswith('svg') and root.get('role') == 'img'
assert root.find('{http://www.w3.org/2000/svg}desc').text
print([sum(int(e.get('data-' + k, 0)) for e in root.iter()) for k in ('dots', 'loads', 'stores')])";

/// Methods and numbers: every method with its first parameters draws what its schedule counts.
#[test]
fn pictures_show_what_is_counted() {
    let mips = MipsCore::named("mips-4km").expect("a core");
    let cores = [any(&ATMEGA128), any(&ATTINY85), any(&ARM7TDMI), any(&mips)];
    let mut cases = Vec::new();
    for core in &cores {
        for method in METHODS.iter() {
            for op in method.ops {
                for modulus in ["p192", "runtime"] {
                    cases.push((core, method, *op, modulus));
                }
            }
        }
    }
    let drawn = work::each(&tier::some(cases, 4), |(core, method, op, modulus)| {
        let modulus: Modulus = modulus.parse().expect("a modulus");
        let modular = op.is_modular().then(|| Modular::full(modulus));
        let spec = Spec::with(*op, 192, modular, core.word_bits()).ok()?;
        let facts = facts(core);
        let params = (method.defaults)(&spec, &facts).into_iter().next()?;
        let schedule = (method.schedule)(&spec, &facts, &params).ok()?;
        let picture = draw::of(&schedule, &spec, method.name.into());
        let Counts {
            products,
            loads,
            stores,
            ..
        } = schedule.count().expect("a schedule");
        let told = [picture.products(), picture.loads(), picture.stores()];
        assert_eq!(
            told,
            [products, loads, stores],
            "{} {op:?} on {}",
            method.name,
            core.name()
        );
        let svg = draw::svg::svg(&picture);
        assert!(
            svg.len() < 2_000_000,
            "{}: {} bytes",
            method.name,
            svg.len()
        );
        Some(())
    });
    let count = drawn.iter().flatten().count();
    println!("{count} pictures");
    assert!(
        count > 0 && (count >= 150 || tier::tier() == Tier::Fast),
        "only {count} pictures"
    );
}

/// The elements of an SVG, read by Python, are as many as the JSON says; also of 256 words.
#[test]
fn svg_is_well_formed_and_counts_as_the_json() {
    let lines = [
        "mul 160 --mcu atmega128 --method operand-caching -p e=10",
        "mul 2048 --mcu atmega128 --method operand-caching",
        "mul 96 --mcu attiny85",
        "sqr 128 --mcu atmega128 --method sliding-block-doubling",
        "montmul 256 --core arm7tdmi --modulus p256 --method fips",
        "montmul 160 --mcu atmega128 --modulus opf160 --method fips",
        "modmul 256 --core rv32im --modulus 25519",
        "mul 512 --mcu atmega128 --method karatsuba",
        "mul 512 --mcu atmega328p --style rolled --method karatsuba-calls",
    ];
    work::each(&lines, |line| {
        let here = tempdir().expect("a folder");
        run(here.path(), &format!("draw {line} -o picture.svg"));
        let json: Value =
            serde_json::from_str(&printed(here.path(), &format!("draw {line} --json")))
                .expect("JSON");
        let calls = json["calls"].as_u64().expect("calls");
        let told =
            ["products", "loads", "stores"].map(|key| json[key].as_u64().expect("a count") / calls);
        let counted = python(COUNT, &here.path().join("picture.svg"));
        assert_eq!(counted.trim(), format!("{told:?}"), "{line}");
    });
}

/// In a terminal, for papers, and as a page that needs nothing else.
#[test]
fn other_forms_of_a_picture() {
    let here = tempdir().expect("a folder");
    let text = printed(here.path(), "draw mul 64 --mcu atmega128 --ansi");
    let digits = text
        .lines()
        .skip_while(|line| *line != "a * b")
        .flat_map(str::chars)
        .filter(char::is_ascii_digit);
    assert_eq!(digits.count(), 64, "a digit for each product:\n{text}");
    assert!(!text.contains('\x1b') && text.lines().all(|line| line.chars().count() <= 101));
    let wide = printed(
        here.path(),
        "draw mul 2048 --mcu atmega128 --method operand-caching --ansi",
    );
    assert!(
        wide.lines().skip(3).all(|line| line.len() <= 101),
        "fits a terminal"
    );
    let tikz = printed(here.path(), "draw mul 64 --mcu atmega128 --tikz");
    assert_eq!(tikz.matches("circle[").count(), 64);
    assert!(
        tikz.contains("\\begin{tikzpicture}") && tikz.trim_end().ends_with("\\end{tikzpicture}")
    );
    run(
        here.path(),
        "draw mul 64 --mcu atmega128 --method operand-caching --animate -o play.html",
    );
    let steps = stands_alone(&here.path().join("play.html"));
    assert!(steps.contains("\"steps\""), "the order is in the page");
}

/// A picture explains its marks, and its rules reach no other drawing of a page.
#[test]
fn pictures_explain_themselves() {
    let here = tempdir().expect("a folder");
    for (line, notes) in [
        (
            "mul 64 --mcu atmega128 --method operand-caching",
            &["A dot is a partial product", "a factor is loaded"][..],
        ),
        (
            "sqr 128 --core rv32im",
            &["A product of two different", "A strip has a square"],
        ),
        (
            "montmul 160 --mcu atmega128 --modulus opf160 --method fips",
            &["A quotient word q", "Where dots are missing"],
        ),
        (
            "mul 2048 --mcu atmega128 --method operand-caching",
            &["A cell stands for several"],
        ),
    ] {
        let svg = printed(here.path(), &format!("draw {line}"));
        for note in notes {
            assert!(svg.contains(&format!(">{note}")), "{line}: no {note:?}");
        }
        let (_, style) = svg.split_once("<style>").expect("rules");
        let style = style.split("</style>").next().unwrap_or_default();
        for rule in style.split_inclusive(['{', '}', ',']) {
            let is_selector = rule.ends_with('{') && !rule.starts_with('@');
            assert!(
                !is_selector || rule.starts_with(".schedule"),
                "{line}: {rule}"
            );
        }
    }
    // m' stands behind m, and is needed for the first quotient, as the lowest word of m is.
    let line = "draw montmul 128 --core arm7tdmi --modulus runtime --method fips --json";
    let json: Value = serde_json::from_str(&printed(here.path(), line)).expect("JSON");
    let strips = json["fetched"].as_array().expect("strips");
    let m = strips.iter().find(|strip| strip["name"] == "m");
    let words = m.expect("the modulus")["words"].clone();
    assert_eq!([&words[0], &words[4]], [1, 1], "{words}");
}

/// The text of a page that names nothing outside itself.
fn stands_alone(path: &Path) -> String {
    const LINKS: &str = "import sys, html.parser
class P(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        assert tag not in ('link', 'iframe', 'img', 'object', 'embed'), tag
        for name, value in attributes:
            if name in ('src', 'href', 'action', 'data', 'xlink:href'):
                print(tag, name, value)
p = P(convert_charrefs=True)
p.feed(open(sys.argv[1], encoding='utf-8').read())
p.close()";
    let found = python(LINKS, path);
    assert_eq!(found, "", "{} names something else", path.display());
    let text = std::fs::read_to_string(path).expect("a page");
    for word in ["url(http", "@import", "fetch(", "XMLHttpRequest"] {
        assert!(!text.contains(word), "{}: {word}", path.display());
    }
    text
}

/// A page stands alone, has no script, and says what `gen` says.
#[test]
fn reports_stand_alone() {
    let lines = [
        "mul 64 --core atmega128",
        "sqr 96 --core rv32im",
        "montmul 128 --core arm7tdmi --modulus runtime",
    ];
    work::each(&tier::some(lines, 1), |line| {
        let here = tempdir().expect("a folder");
        run(here.path(), &format!("report {line} -o page.html"));
        let text = stands_alone(&here.path().join("page.html"));
        assert!(
            !text.contains("<script") && text.contains("prefers-color-scheme"),
            "{line}"
        );
        let made: Value = serde_json::from_str(&printed(
            here.path(),
            &format!("gen {line} --json --variable-time"),
        ))
        .expect("JSON");
        let most = made["cycles"]["call"]["max"].to_string();
        assert!(text.contains(&most), "{line}: no {most} in the page");
        assert!(
            text.matches("<svg").count() >= 3,
            "{line}: charts and pictures"
        );
        assert!(
            text.contains("CONSTANT TIME") && text.contains("lozenge gen"),
            "{line}"
        );
    });
}

/// Cycles of the lines of a listing are those of the call; what is stored and live makes sense.
#[test]
fn listings_add_up() {
    let lines = [
        "mul 64 --mcu atmega128",
        "mul 128 --mcu atmega128 --style rolled --method hybrid -p d=4",
        "sqr 128 --core arm7tdmi --variable-time",
        "mul 128 --core mips-4km",
        "montmul 128 --core rv32im --modulus runtime",
        "mul 64 --mcu attiny85",
    ];
    work::each(&tier::some(lines, 1), |line| {
        let here = tempdir().expect("a folder");
        let shown = line.replace(" --variable-time", "");
        let listing: Value =
            serde_json::from_str(&printed(here.path(), &format!("show {shown} --json")))
                .expect("JSON");
        let made: Value =
            serde_json::from_str(&printed(here.path(), &format!("gen {line} --json")))
                .expect("JSON");
        let rows = listing["lines"].as_array().expect("lines");
        let sum = |key: &str| {
            rows.iter()
                .map(|row| row[key].as_u64().expect("a number"))
                .sum::<u64>()
        };
        let most = made["cycles"]["call"]["max"].as_u64();
        assert_eq!(Some(sum("cycles")), most, "{line}");
        let bytes: usize = rows
            .iter()
            .map(|row| row["code"].as_array().expect("bytes").len())
            .sum();
        assert_eq!(Some(bytes as u64), made["bytes"]["call"].as_u64(), "{line}");
        let stored = rows.iter().filter(|row| {
            row["does"]
                .as_str()
                .is_some_and(|does| does.starts_with("r["))
        });
        assert!(stored.count() > 0, "{line}: a store of the result");
        let last = rows.last().expect("a line");
        assert_eq!(
            last["live"].as_array().map(Vec::len),
            Some(0),
            "{line}: nothing is read behind the return"
        );
        // The same of the object, of which only what is executed is shown.
        let symbol = made["spec"]["symbol"].as_str().expect("a name");
        let words: Vec<_> = line.split(' ').collect();
        let target = words[2..4].join(" ");
        let modulus = if line.contains("--modulus") {
            "--modulus runtime"
        } else {
            ""
        };
        let file = format!(
            "show {symbol}.o {} --symbol {symbol} --op {} {target} {modulus} --json",
            words[1], words[0]
        );
        let other: Value = serde_json::from_str(&printed(here.path(), &file)).expect("JSON");
        let cycles: u64 = other["lines"]
            .as_array()
            .expect("lines")
            .iter()
            .filter_map(|row| row["cycles"].as_u64())
            .sum();
        assert_eq!(Some(cycles), most, "{file}");
    });
}

/// Operands of two sizes make a parallelogram.
#[test]
fn pictures_of_two_sizes() {
    let core = any(&ATMEGA128);
    let spec = Spec::new(Op::Mul, lozenge::spec::Size { a: 64, b: 32 }, 8).expect("a spec");
    let method = lozenge::method::find("product-scanning").expect("a method");
    let schedule =
        (method.schedule)(&spec, &facts(&core), &Default::default()).expect("a schedule");
    let picture = draw::of(&schedule, &spec, "two sizes".into());
    assert_eq!(picture.products(), 8 * 4);
    assert_eq!(picture.columns(), 10);
}
