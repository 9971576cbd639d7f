//! `lozenge list`.

use std::collections::BTreeSet;
use std::sync::Arc;

use comfy_table::{ContentArrangement, Table, presets};
use lozenge::isa::avr::parts::{PARTS, SOURCES};
use lozenge::isa::{msp430, riscv};
use lozenge::method::{METHODS, Method, Parameter, find};
use lozenge::plans::{self, Plan};
use lozenge::spec::Op;
use lozenge::spec::modulus::NAMES;
use lozenge::spec::nearest::nearest;
use lozenge::target;
use serde_json::{Value, json};

use crate::cli::arguments::ListArgs;
use crate::cli::values::Topic;
use crate::cli::{output, show_plan};

/// Columns of a table.
const WIDTH: u16 = 100;

/// Prints what there is, or all that is known of the one that is named.
pub fn run(args: &ListArgs) -> Result<bool, String> {
    let (key, mut rows) = match args.topic {
        Topic::Methods => ("methods", methods()),
        Topic::Cores => ("cores", cores()),
        Topic::Mcus => ("mcus", mcus()),
        Topic::Ops => ("ops", ops()),
        Topic::Plans => ("plans", plans()),
        Topic::Moduli => ("moduli", moduli()),
    };
    if let Some(name) = &args.name {
        let near = nearest(name, rows.iter().filter_map(|row| row["name"].as_str()));
        let near = near.map_or(String::new(), |near| format!("{near}, or "));
        rows.retain(|row| row["name"] == name.as_str());
        if rows.is_empty() {
            return Err(format!(
                "{key} has no {name}: try {near}`lozenge list {key}`"
            ));
        }
    }
    if args.json {
        let text =
            serde_json::to_string_pretty(&json!({ key: rows })).map_err(|e| e.to_string())?;
        output::say(&text)?;
        return Ok(true);
    }
    let text = match (args.topic, &args.name) {
        (Topic::Methods, Some(name)) => method(find(name).ok_or("no such method")?),
        (Topic::Plans, Some(name)) => {
            let plan = plans::find(name).ok_or("no such plan")?;
            show_plan::text(plan).trim_end().into()
        }
        (_, Some(_)) => rows.iter().map(all_of).collect::<Vec<_>>().join("\n"),
        (Topic::Methods, None) => methods_in_short(args.all),
        (_, None) => table(&rows),
    };
    output::say(&text)?;
    Ok(true)
}

/// What a method computes: families of operations by one name.
fn families(ops: &[Op]) -> String {
    const MONTGOMERY: [Op; 5] = [Op::Montmul, Op::Montsqr, Op::Redc, Op::Tomont, Op::Frommont];
    const SUMS: [Op; 4] = [Op::Modadd, Op::Modsub, Op::Modneg, Op::Modhalf];
    let mut list = Vec::new();
    for (name, family) in [
        ("all of Montgomery's", &MONTGOMERY[..]),
        ("modular sums", &SUMS),
    ] {
        if family.iter().all(|op| ops.contains(op)) {
            return name.into();
        }
    }
    list.extend(ops.iter().map(|op| op.name()));
    list.join(" ")
}

/// A product with a reduction behind it: the rule says these, no line of their own.
fn is_compound(method: &Method) -> bool {
    method.name.contains('+')
}

/// Methods in lines of at most [`WIDTH`] columns: name, operations, what it does. Compounds one by one, or by their rules.
fn methods_in_short(all: bool) -> String {
    let mut table = plain_table();
    table.set_header(["method", "operations", "what it does"]);
    for method in METHODS.iter().filter(|m| all || !is_compound(m)) {
        table.add_row([method.name, &families(method.ops), method.summary]);
    }
    if all {
        return table.to_string();
    }
    for (rule, ops, text) in RULES {
        table.add_row([rule, ops, text]);
    }
    format!(
        "{table}\n\nlozenge list methods NAME   all about one method, with its parameters\n\
         lozenge list methods --all  with every X+sps, X+sos and X+fold"
    )
}

/// What stands for the compounds.
const RULES: [(&str, &str, &str); 3] = [
    (
        "X+sps",
        "montmul montsqr",
        "Montgomery: the product or square X whole, then a reduction by columns",
    ),
    (
        "X+sos",
        "montmul montsqr",
        "Montgomery: the product or square X whole, then a reduction by rows",
    ),
    (
        "X+fold",
        "modmul modsqr",
        "modulo a special prime: the product or square X whole, then its upper half folded",
    ),
];

fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(WIDTH);
    table
}

/// All that is known of a method.
fn method(method: &Method) -> String {
    let mut text = format!("{}: {}\n", method.name, method.summary);
    let ops = method.ops.iter();
    let ops = ops.map(|op| format!("  {:<9} {}\n", op.name(), op.equation("n")));
    text += &format!("\ncomputes\n{}", ops.collect::<String>());
    let parameters = match method.parameters {
        [] => "  none\n".to_string(),
        list => {
            let line = |p: &Parameter| wrapped(&format!("  {:<9} ", p.name), p.meaning);
            list.iter().map(line).collect()
        }
    };
    text += &format!("\nparameters (-p NAME=VALUE)\n{parameters}");
    if method.name == "karatsuba" {
        text += "\nwhat a plan decides\n";
        text += TREE;
        text += "  lozenge list plans names them, lozenge show plan NAME draws one, -p plan=NAME makes a kernel by it\n";
    }
    text += &wrapped("\nsource      ", method.source);
    let op = method.ops.first().map_or("mul", |op| op.name());
    let modulus = match method.ops.first().is_some_and(|op| op.is_modular()) {
        true => " --modulus p192",
        false => "",
    };
    text += &format!(
        "example     lozenge gen {op} 192 --mcu atmega328p --method {}{modulus}",
        method.name
    );
    text
}

/// What is decided where a number is halved.
const TREE: &str = "  a b of 2n bits
  |- halve it, and where does M come: before L and H, or last?
  |- L = a_low b_low  ---  at the bottom: rows or columns, of which factor, in which direction
  |- H = a_high b_high --  are differences made before it?
  '- M = (a_low - a_high) (b_high - b_low)
                           when are signs corrected, and what is added in its columns?
";

/// `text` behind `head`, in lines of at most [`WIDTH`] columns that begin below each other.
fn wrapped(head: &str, text: &str) -> String {
    let indent = head.trim_start_matches('\n').chars().count();
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > 0 && indent + last + 1 + word.chars().count() > usize::from(WIDTH) {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    format!(
        "{head}{}\n",
        lines.join(&format!("\n{}", " ".repeat(indent)))
    )
}

/// Every field of a row on a line.
fn all_of(row: &Value) -> String {
    let Value::Object(fields) = row else {
        return row.to_string();
    };
    let line = |(key, value): (&String, &Value)| wrapped(&format!("{key:<12}"), &cell(value));
    let lines: String = fields.iter().map(line).collect();
    lines.trim_end().to_string()
}

/// A value in a cell.
fn cell(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Array(list) => list.iter().map(cell).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}

fn methods() -> Vec<Value> {
    let row = |m: &&lozenge::method::Method| {
        let parameters: Vec<_> = m
            .parameters
            .iter()
            .map(|p| format!("{}: {}", p.name, p.meaning))
            .collect();
        let ops: Vec<_> = m.ops.iter().map(|op| op.name()).collect();
        json!({"name": m.name, "ops": ops.join(", "), "parameters": parameters.join("; "),
               "summary": m.summary, "source": m.source})
    };
    METHODS.iter().map(row).collect()
}

fn cores() -> Vec<Value> {
    target::cores().iter().map(|core| json!(core)).collect()
}

fn mcus() -> Vec<Value> {
    let row = |p: &lozenge::isa::avr::parts::Part| {
        let read = ("read", p.read());
        let sources: Value = SOURCES.into_iter().chain([read]).collect();
        json!({"name": p.name, "core": p.core.name, "flash": p.flash, "ram": p.ram,
               "ram_start": format!("{:#x}", p.ram_start), "mul": p.has_mul(),
               "rampz": p.has_rampz(), "eind": p.has_eind(), "datasheet": p.datasheet, "source": sources})
    };
    let riscv = |p: &riscv::cores::Part| {
        let multiplies = riscv::cores::Core::named(p.core).is_some_and(|c| c.features.multiply);
        json!({"name": p.name, "core": p.core, "flash": p.flash, "ram": p.ram, "ram_start": "",
               "mul": multiplies, "rampz": false, "eind": false, "datasheet": "", "source": [p.source]})
    };
    let msp430 = |p: &msp430::cores::Part| {
        let core = msp430::cores::Core::named(p.core);
        let multiplies = core.is_some_and(|core| core.multiplier.is_some());
        let [near_flash, near_ram] = p.near;
        json!({"name": p.name, "core": p.core, "flash": p.flash, "ram": p.ram, "ram_start": "",
               "mul": multiplies, "rampz": false, "eind": false, "datasheet": p.source, "source": [p.source],
               "near_flash": near_flash, "near_ram": near_ram})
    };
    let all = PARTS.iter().map(row);
    let all = all.chain(riscv::cores::PARTS.iter().map(riscv));
    all.chain(msp430::cores::PARTS.iter().map(msp430)).collect()
}

fn plans() -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let first = plans::PLANS
        .iter()
        .filter(|plan| seen.insert(plan.name.clone()));
    let row = |plan: &Arc<Plan>| json!({"name": plan.name, "use": plan.used, "found": plan.found, "on": plan.on});
    first.map(row).collect()
}

fn moduli() -> Vec<Value> {
    let row = |(name, text): &(&str, &str)| json!({"name": name, "value": text});
    NAMES.iter().map(row).collect()
}

fn ops() -> Vec<Value> {
    Op::ALL
        .iter()
        .map(|op| json!({"name": op.name(), "equation": op.equation("n")}))
        .collect()
}

/// What stays in the JSON and in the list of one: sources are long, and only some parts have memory above 64 KB.
const BESIDE: [&str; 3] = ["source", "near_flash", "near_ram"];

/// A table of the rows.
fn table(rows: &[Value]) -> String {
    let mut table = plain_table();
    for (i, row) in rows.iter().enumerate() {
        let Value::Object(fields) = row else {
            continue;
        };
        if i == 0 {
            let shown = fields.keys().filter(|key| !BESIDE.contains(&key.as_str()));
            table.set_header(shown);
        }
        let shown = fields
            .iter()
            .filter(|(key, _)| !BESIDE.contains(&key.as_str()));
        let cells = shown.map(|(_, value)| cell(value));
        table.add_row(cells);
    }
    table.to_string()
}
