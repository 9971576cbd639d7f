//! `lozenge report`: one page with all that is known of an operation on a core.

pub mod plot;

use lozenge::draw::svg;
use lozenge::report::Report;
use lozenge::{Kernel, Request, Target, method, spec, target};
use minijinja::{Environment, context};
use serde::Serialize;

use crate::cli::arguments::ReportArgs;
use crate::cli::compare::{self, Compared};
use crate::cli::failure::Failure;
use crate::cli::page::plot::Series;
use crate::cli::progress::Progress;
use crate::cli::{draw, output, parallel};

const TEMPLATE: &str = include_str!("report.html");

/// Pictures in a page: of the fastest kernels of different methods.
const PICTURES: usize = 3;
/// Lines of the chart of cycles against size.
const LINES: usize = 5;
/// The largest operand of that chart, unless sizes are given.
const LARGEST: u32 = 1024;

/// A row of the table of methods.
#[derive(Serialize)]
struct Row {
    name: String,
    method: &'static str,
    body: String,
    call: String,
    load: u64,
    store: u64,
    mul: u64,
    add: u64,
    bytes: usize,
    stack: usize,
    verdict: &'static str,
    front: bool,
}

/// A name with what is said of it.
#[derive(Serialize)]
struct Named {
    name: &'static str,
    text: String,
}

/// Makes the page; `Ok(true)` if every kernel in it is proved.
pub fn run(args: &ReportArgs) -> Result<bool, Failure> {
    let target = args.kernel.target.resolve()?;
    let request = draw::request(&args.kernel)?;
    let best = fastest(args, &request, &target)?;
    let report = best.report();
    let cells = request.compare_small(&target)?;
    let compared = compare::judged(cells.collect());
    let made = || {
        compared
            .iter()
            .filter_map(|row| Some((row, row.outcome.as_ref().ok()?)))
    };
    let (rows, points): (Vec<_>, Vec<_>) = made()
        .map(|(row, report)| (table_row(row, report), compare::point(row, report)))
        .unzip();

    let methods = methods(made().map(|(_, report)| report));
    let mut seen = Vec::new();
    let (best_rows, other_rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row: &Row| {
        let first = !seen.contains(&row.method);
        seen.push(row.method);
        first || row.front
    });
    let title = format!(
        "{}{} on {}",
        report.spec.op,
        report.spec.size,
        report.place()
    );
    let page = context! {
        title => title,
        spec => context! { equation => &report.spec.equation, size => &report.spec.size },
        place => report.place(),
        plan => report.method_text(),
        best => context! { cycles_text => report.cycles_text(), bytes => report.bytes.call, stack_text => report.stack_text() },
        verdicts => verdicts(report),
        best_rows => best_rows,
        other_rows => other_rows,
        refused => compare::reasons(&compared),
        front => plot::front(&title, &points)?,
        growth => growth(args, &target, &methods)?,
        pictures => pictures(&request, &target, report, &methods)?,
        counts => counts(report),
        listing => best.listing()?.text(false),
        sources => sources(report, &methods),
        commands => made().map(|(_, report)| report.command.clone()).collect::<Vec<_>>(),
        version => report.version,
    };
    draw::write(&args.output, &filled(page)?)?;
    let proved = made().all(|(_, report)| report.is_proved()) && report.is_proved();
    let wrote = args.output.display();
    output::report(
        &format!(
            "{title}: {} kernels side by side in {wrote}",
            rows_of(&compared)
        ),
        proved,
    )?;
    Ok(proved)
}

fn fastest(args: &ReportArgs, request: &Request, target: &Target) -> Result<Kernel, Failure> {
    let name = args.kernel.op.name();
    let progress = Progress::of(format!("{name} for {}", target.core_name()));
    let best = request.clone().watched(progress.watch()).generate(target);
    progress.done();
    Ok(best?)
}

/// The template with its places filled.
fn filled(page: minijinja::Value) -> Result<String, Failure> {
    let mut environment = Environment::new();
    environment
        .add_template("report.html", TEMPLATE)
        .and_then(|()| environment.get_template("report.html")?.render(page))
        .map_err(|e| {
            Failure::from(format!(
                "the page cannot be made: {e} (a defect of this tool)"
            ))
        })
}

/// The first report of each method: its fastest, as the fastest come first.
fn methods<'a>(reports: impl Iterator<Item = &'a Report>) -> Vec<&'a Report> {
    let mut methods: Vec<&Report> = Vec::new();
    for report in reports {
        if !methods.iter().any(|known| known.method == report.method) {
            methods.push(report);
        }
    }
    methods
}

/// Pictures of the fastest kernel and of other methods, with what each shows in words.
fn pictures(
    request: &Request,
    target: &Target,
    best: &Report,
    methods: &[&Report],
) -> Result<Vec<minijinja::Value>, Failure> {
    let mut pictures = vec![request.picture(target)?];
    let others = methods.iter().filter(|other| other.method != best.method);
    for other in others.take(PICTURES - 1) {
        let mut like = request.clone().method(other.method);
        for (name, value) in other.params.iter() {
            like = like.param(*name, *value);
        }
        if let Some(plan) = &other.params.plan {
            like = like.planned(plan);
        }
        // A loop is drawn as the schedule that it runs.
        pictures.extend(like.picture(target).ok());
    }
    let shown = pictures.iter().map(|picture| {
        let summary = format!("{}. {}", picture.title, picture.summary);
        context! { svg => svg::svg(picture), summary }
    });
    Ok(shown.collect())
}

/// Executed instructions by what they do.
fn counts(report: &Report) -> Vec<minijinja::Value> {
    let counts = &report.instructions;
    let counts = [
        ("all", counts.total),
        ("load", counts.load),
        ("store", counts.store),
        ("mul", counts.mul),
        ("add", counts.add),
        ("move", counts.moves),
        ("other", counts.other),
    ];
    let counts = counts.into_iter();
    counts
        .map(|(name, value)| context! { name, value })
        .collect()
}

fn rows_of(compared: &[Compared]) -> usize {
    compared.iter().filter(|row| row.outcome.is_ok()).count()
}

fn table_row(row: &Compared, report: &Report) -> Row {
    let counts = &report.instructions;
    Row {
        name: compare::name(row, report),
        method: report.method,
        body: Report::span_text(&report.cycles.body),
        call: Report::span_text(&report.cycles.call),
        load: counts.load,
        store: counts.store,
        mul: counts.mul,
        add: counts.add,
        bytes: report.bytes.call,
        stack: report.stack_bytes,
        verdict: compare::verdict(report),
        front: row.front.contains(&"bytes"),
    }
}

fn verdicts(report: &Report) -> Vec<Named> {
    let verdict = &report.verdict;
    let state = |word: &str, key: &str| match report.reasons.get(key) {
        Some(reason) => format!("{word}: {reason}"),
        None => word.to_string(),
    };
    let named = |name, text| Named { name, text };
    vec![
        named(
            "CORRECT",
            state(verdict.correct.word(), "correct") + ", for all inputs",
        ),
        named(
            "MEMORY",
            state(verdict.memory.word(), "memory") + ", wherever the operands lie",
        ),
        named(
            "ABI",
            format!("{}: {}", state(verdict.abi.word(), "abi"), report.abi),
        ),
        named("CONSTANT TIME", report.time_text()),
        named("aliasing", report.aliasing_text()),
    ]
}

/// Cycles of some methods in several sizes: counted on numbers, not proved.
fn growth(
    args: &ReportArgs,
    target: &Target,
    methods: &[&Report],
) -> Result<Option<String>, Failure> {
    let Some(bits) = methods.first().map(|report| report.spec.bits) else {
        return Ok(None);
    };
    // A fixed modulus has one size.
    let op = spec::Op::from(args.kernel.op);
    if args.kernel.modular.modulus.is_some() || op.is_modular() {
        return Ok(None);
    }
    let sizes = match args.sizes.as_slice() {
        [] => {
            let usual = [64, 128, 256, 512, LARGEST];
            let mut sizes: Vec<_> = usual.into_iter().chain([bits]).collect();
            sizes.sort_unstable();
            sizes.dedup();
            sizes
        }
        given => given.to_vec(),
    };
    let names: Vec<_> = methods
        .iter()
        .take(LINES)
        .map(|report| report.method)
        .collect();
    let cells: Vec<_> = names
        .iter()
        .flat_map(|name| sizes.iter().map(move |bits| (*name, *bits)))
        .collect();
    let cycles = parallel::each(&cells, "sizes", |(name, bits)| {
        let request = Request::new(op, *bits).method(*name).variable_time();
        // A size that a method has no kernel for is no point of its line.
        Some(request.count(target).ok()?.cost.call.max)
    });
    let mut series: Vec<Series> = names
        .iter()
        .map(|name| Series {
            name: name.to_string(),
            points: Vec::new(),
        })
        .collect();
    for ((name, bits), cycles) in cells.iter().zip(cycles) {
        let line = series.iter_mut().find(|s| s.name == *name);
        if let (Some(line), Some(cycles)) = (line, cycles) {
            line.points.push((f64::from(*bits), cycles as f64));
        }
    }
    series.retain(|line| line.points.len() > 1);
    let title = format!("{} on {}", op.name(), target.core_name());
    match series.is_empty() {
        true => Ok(None),
        false => Ok(Some(plot::growth(&title, &series)?)),
    }
}

/// Who says what a cycle, a method or a verdict is.
fn sources(report: &Report, methods: &[&Report]) -> Vec<String> {
    let cores = target::cores();
    let core = cores.iter().find(|core| core.name == report.core);
    let mut list = Vec::new();
    list.extend(core.map(|core| format!("cycles of {}: {}", core.name, core.source)));
    list.extend(core.map(|core| format!("currents of {}: {}", core.name, core.energy)));
    for made in methods {
        let known = method::find(made.method);
        list.extend(known.map(|m| format!("{}: {}", m.name, m.source)));
    }
    list.push("cycles, bytes and instructions: the decoded bytes of each kernel, run over all inputs (SOUNDNESS.md)".into());
    list
}
