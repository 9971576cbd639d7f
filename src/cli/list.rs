//! `lozenge list`.

use comfy_table::{Table, presets};
use lozenge::isa::avr::parts::{PARTS, SOURCES};
use lozenge::isa::riscv;
use lozenge::method::METHODS;
use lozenge::spec::Op;
use lozenge::target;
use serde_json::{Value, json};

use crate::cli::arguments::ListArgs;
use crate::cli::output;
use crate::cli::values::Topic;

/// Prints what there is.
pub fn run(args: &ListArgs) -> Result<bool, String> {
    let (key, rows) = match args.topic {
        Topic::Methods => ("methods", methods()),
        Topic::Cores => ("cores", cores()),
        Topic::Mcus => ("mcus", mcus()),
        Topic::Ops => ("ops", ops()),
    };
    if args.json {
        let text =
            serde_json::to_string_pretty(&json!({ key: rows })).map_err(|e| e.to_string())?;
        output::say(&text)?;
    } else {
        output::say(&table(&rows))?;
    }
    Ok(true)
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
    let all = PARTS.iter().map(row);
    all.chain(riscv::cores::PARTS.iter().map(riscv)).collect()
}

fn ops() -> Vec<Value> {
    Op::ALL
        .iter()
        .map(|op| json!({"name": op.name(), "equation": op.equation("n")}))
        .collect()
}

/// A table of the rows; sources are long and stay in the JSON.
fn table(rows: &[Value]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for (i, row) in rows.iter().enumerate() {
        let Value::Object(fields) = row else {
            continue;
        };
        if i == 0 {
            table.set_header(fields.keys().filter(|k| *k != "source"));
        }
        let shown = fields.iter().filter(|(key, _)| *key != "source");
        let cells = shown.map(|(_, v)| match v {
            Value::String(s) => s.clone(),
            Value::Bool(true) => "yes".into(),
            Value::Bool(false) => "no".into(),
            other => other.to_string(),
        });
        table.add_row(cells);
    }
    table.to_string()
}
