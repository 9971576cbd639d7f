//! `lozenge compare`: every method with its sensible parameters, proved and counted side by side.

use comfy_table::{Table, presets};
use lozenge::facts::Style;
use lozenge::report::Report;
use lozenge::report::energy::joules;
use lozenge::target::Names;
use lozenge::{Candidate, Error, Request, Target, method, spec};
use serde_json::{Value, json};

use crate::cli::arguments::CompareArgs;
use crate::cli::failure::Failure;
use crate::cli::page::plot::{self, Point};
use crate::cli::values::SortArg;
use crate::cli::{draw, generate, output, parallel, pareto};

/// A candidate's kernel, or why there is none.
pub(super) struct Compared {
    pub cell: Candidate,
    pub outcome: Result<Report, String>,
    /// The sizes in which no other row beats it.
    pub front: Vec<&'static str>,
}

/// Compares; `Ok(true)` if every kernel there is is proved.
pub fn run(args: &CompareArgs) -> Result<bool, Failure> {
    let request = request(args)?;
    let mut cells = Vec::new();
    for target in targets(args)? {
        match args.pareto {
            true => cells.extend(request.compare_small(&target)?),
            false => cells.extend(request.compare(&target)?),
        }
    }
    let mut rows = judged(cells);
    if let Some(path) = &args.plot {
        let size = generate::size(args.size, &args.modular, args.op.name())?;
        let title = format!("{} {size}", args.op.name());
        draw::write(path, &chart(&title, &rows)?)?;
    }
    if args.pareto {
        rows.retain(|row| !row.front.is_empty());
    }
    sort(&mut rows, args.sort);
    let cycles = rows
        .iter()
        .filter_map(|row| Some(row.outcome.as_ref().ok()?.cycles.call.max));
    let best = cycles.min().ok_or("no method has a kernel here")?;
    let made = || rows.iter().filter_map(|row| row.outcome.as_ref().ok());
    if args.json {
        let rows: Result<Vec<_>, _> = rows.iter().map(|row| json_row(row, best)).collect();
        let text = serde_json::to_string_pretty(&json!({ "rows": rows? }));
        output::say(&text.map_err(|e| e.to_string())?)?;
    } else {
        let proved = made().all(Report::is_proved);
        output::report(&table(&rows, best, args.csv), proved)?;
    }
    if let Some(report) = made().find(|report| !report.keeps_its_time()) {
        output::tell(&format!(
            "warning: time depends on the operands on {}: --variable-time accepts that, for operands that are no \
             secrets",
            report.place()
        ));
    }
    Ok(made().all(Report::is_proved))
}

/// A kernel as a point of cycles against bytes.
pub(super) fn point(row: &Compared, report: &Report) -> Point {
    Point {
        x: report.bytes.call as f64,
        y: report.cycles.call.max as f64,
        name: report.method.into(),
        front: row.front.contains(&"bytes"),
    }
}

/// Cycles against bytes.
fn chart(title: &str, rows: &[Compared]) -> Result<String, Failure> {
    let points = rows
        .iter()
        .filter_map(|row| Some(point(row, row.outcome.as_ref().ok()?)));
    Ok(plot::front(title, &points.collect::<Vec<_>>())?)
}

/// All of `cells`, judged, the fastest first, with what each is not beaten in.
pub(super) fn judged(cells: Vec<Candidate>) -> Vec<Compared> {
    let mut rows = judge_all(cells);
    mark(&mut rows);
    sort(&mut rows, SortArg::Cycles);
    rows
}

/// Sorts; what is no kernel comes last.
fn sort(rows: &mut [Compared], by: SortArg) {
    rows.sort_by(|a, b| match (&a.outcome, &b.outcome) {
        (Ok(a), Ok(b)) => in_order(by, a, b),
        (Ok(_), Err(_)) => std::cmp::Ordering::Less,
        (Err(_), Ok(_)) => std::cmp::Ordering::Greater,
        (Err(_), Err(_)) => std::cmp::Ordering::Equal,
    });
}

/// Which of two is first: by what is asked, then by cycles and bytes. A core whose currents are not known is last.
fn in_order(by: SortArg, a: &Report, b: &Report) -> std::cmp::Ordering {
    let energy = |report: &Report| {
        let energy = report.energy.as_ref();
        energy.map_or(f64::INFINITY, |energy| energy.call.nanojoules[1])
    };
    let first = match by {
        SortArg::Cycles => std::cmp::Ordering::Equal,
        SortArg::Bytes => a.bytes.call.cmp(&b.bytes.call),
        SortArg::Stack => a.stack_bytes.cmp(&b.stack_bytes),
        SortArg::Energy => energy(a).total_cmp(&energy(b)),
    };
    let cycles = |report: &Report| (report.cycles.call.max, report.bytes.call);
    first.then_with(|| cycles(a).cmp(&cycles(b)))
}

/// Says of each row in what it is not beaten.
fn mark(rows: &mut [Compared]) {
    let reports: Vec<_> = rows
        .iter()
        .filter_map(|row| row.outcome.as_ref().ok())
        .collect();
    let front = |row: &Compared| match &row.outcome {
        Ok(report) => pareto::fronts(report, &reports),
        Err(_) => Vec::new(),
    };
    let fronts: Vec<_> = rows.iter().map(front).collect();
    for (row, front) in rows.iter_mut().zip(fronts) {
        row.front = front;
    }
}

fn targets(args: &CompareArgs) -> Result<Vec<Target>, Failure> {
    let names = |mcu, core| Names {
        mcu,
        core,
        extensions: &args.isa_ext,
        big_endian: false,
        abi: args.abi.as_deref(),
        irq: args.irq.as_deref(),
    };
    let mcus = args.mcu.iter().map(|mcu| names(Some(mcu.as_str()), None));
    let cores = args
        .core
        .iter()
        .map(|core| names(None, Some(core.as_str())));
    let mut all: Vec<_> = mcus.chain(cores).collect();
    if all.is_empty() {
        all.push(names(None, None));
    }
    all.iter()
        .map(|names| Target::resolve(names).map_err(Failure::from))
        .collect()
}

/// What the arguments ask of every method.
fn request(args: &CompareArgs) -> Result<Request, Failure> {
    let op = spec::Op::from(args.op);
    let size = generate::size(args.size, &args.modular, op.name())?;
    let mut request = Request::new(op, size);
    request = generate::modular(request, &args.modular)?;
    if let Some(count) = args.max_regs {
        request = request.max_registers(count);
    }
    if let Some(style) = args.style {
        request = request.style(style);
    }
    if let Some(path) = &args.energy {
        request = request.currents(generate::currents(path)?);
    }
    if args.constant_time {
        request = request.constant_time();
    }
    Ok(match args.variable_time {
        true => request.variable_time(),
        false => request,
    })
}

/// Generates and proves one cell.
fn judge(cell: &Candidate) -> Result<Report, String> {
    match cell.prove() {
        Ok(kernel) => Ok(kernel.report().clone()),
        Err(Error::Unproved(report)) => Ok(*report),
        Err(error) => Err(Failure::from(error).message().to_string()),
    }
}

/// All cells.
fn judge_all(cells: Vec<Candidate>) -> Vec<Compared> {
    let outcomes = parallel::each(&cells, "kernels", judge);
    cells
        .into_iter()
        .zip(outcomes)
        .map(|(cell, outcome)| Compared {
            cell,
            outcome,
            front: Vec::new(),
        })
        .collect()
}

fn json_row(row: &Compared, best: u64) -> Result<Value, String> {
    match &row.outcome {
        Ok(report) => {
            let mut value = serde_json::to_value(report).map_err(|e| e.to_string())?;
            value["pareto"] = json!(row.front);
            value["ratio"] = json!(report.cycles.call.max as f64 / best as f64);
            Ok(value)
        }
        Err(reason) => Ok(json!({
            "core": row.cell.target().core_name(), "mcu": row.cell.target().part_name(),
            "method": row.cell.method(), "params": row.cell.params(), "unsupported": reason,
        })),
    }
}

const HEAD: [&str; 14] = [
    "core", "method", "body", "call", "load", "store", "mul", "add", "bytes", "stack", "energy",
    "verdict", "ratio", "pareto",
];

/// Method, parameters, and the style if it is not straight code.
pub(super) fn name(row: &Compared, report: &Report) -> String {
    let named = method::text(row.cell.method(), row.cell.params());
    match report.style == Style::Unrolled.name() {
        true => named,
        false => format!("{named}, {}", report.style),
    }
}

/// What is proved, in two words.
pub(super) fn verdict(report: &Report) -> &'static str {
    match (
        report.is_sound(),
        report.time(&report.core),
        report.variable_time,
    ) {
        (false, ..) => "NOT PROVED",
        (true, "proved", _) => "proved, constant time",
        (true, _, true) => "proved, variable time",
        (true, _, false) => "NOT CONSTANT TIME",
    }
}

fn fields(row: &Compared, best: u64) -> Vec<String> {
    let core = row.cell.target().core_name();
    match &row.outcome {
        Ok(report) => {
            let counts = &report.instructions;
            vec![
                core,
                name(row, report),
                Report::span_text(&report.cycles.body),
                Report::span_text(&report.cycles.call),
                counts.load.to_string(),
                counts.store.to_string(),
                counts.mul.to_string(),
                counts.add.to_string(),
                report.bytes.call.to_string(),
                report.stack_bytes.to_string(),
                match &report.energy {
                    Some(energy) => joules(energy.call.nanojoules),
                    None => "no data".into(),
                },
                verdict(report).into(),
                format!("{:.3}", report.cycles.call.max as f64 / best as f64),
                row.front.join(" "),
            ]
        }
        Err(reason) => {
            let mut fields = vec![core, row.cell.method().into()];
            fields.resize(HEAD.len() - 3, String::new());
            fields.extend([format!("— {reason}"), String::new(), String::new()]);
            fields
        }
    }
}

fn table(rows: &[Compared], best: u64, csv: bool) -> String {
    // A method that is refused for one reason takes one line, whatever its parameters.
    let mut lines: Vec<_> = rows.iter().map(|row| fields(row, best)).collect();
    lines.dedup();
    if csv {
        let quote = |field: &String| match field.contains([',', '"']) {
            true => format!("\"{}\"", field.replace('"', "\"\"")),
            false => field.clone(),
        };
        let line = |fields: Vec<String>| fields.iter().map(quote).collect::<Vec<_>>().join(",");
        let all = std::iter::once(HEAD.join(",")).chain(lines.into_iter().map(line));
        return all.collect::<Vec<_>>().join("\n");
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(HEAD);
    for row in rows.iter().filter(|row| row.outcome.is_ok()) {
        table.add_row(fields(row, best));
    }
    let mut parts = vec![table.to_string()];
    parts.extend(reasons(rows));
    parts.join("\n")
}

/// Why methods have no kernel: a sentence, which in a column would make all lines long.
pub(super) fn reasons(rows: &[Compared]) -> Vec<String> {
    let mut list: Vec<(String, &str, Vec<&str>)> = Vec::new();
    for row in rows {
        let Err(text) = &row.outcome else { continue };
        let (core, name) = (row.cell.target().core_name(), row.cell.method());
        let reason = text.strip_prefix(name).and_then(|t| t.strip_prefix(": "));
        let reason = reason.unwrap_or(text);
        match list.iter_mut().find(|(c, r, _)| *c == core && *r == reason) {
            Some((_, _, names)) if names.contains(&name) => {}
            Some((_, _, names)) => names.push(name),
            None => list.push((core, reason, vec![name])),
        }
    }
    let line = |(core, reason, names): (String, &str, Vec<&str>)| {
        format!(" {core}  no {}: {reason}", names.join(", "))
    };
    list.into_iter().map(line).collect()
}
