//! `lozenge reference`: the pages of the book that say what there is, made by the tool itself.

use clap::Command;
use lozenge::draw::svg;
use lozenge::isa::avr::parts::PARTS;
use lozenge::isa::{msp430, riscv};
use lozenge::method::METHODS;
use lozenge::plans::PLANS;
use lozenge::spec::modulus::{Modular, Modulus, NAMES, Reduce};
use lozenge::spec::{Op, Spec};
use lozenge::{Request, Target, target};

use crate::cli::arguments::ReferenceArgs;
use crate::cli::failure::Failure;
use crate::cli::{help, output, schema};

/// Behind the title of every page.
const MADE: &str = "This page is written by `lozenge reference`; a test keeps it so.\n";

/// Writes the pages.
pub fn run(args: &ReferenceArgs) -> Result<bool, Failure> {
    let pages = [
        ("commands.md", commands()),
        ("json.md", json()),
        ("operations.md", operations()?),
        ("methods.md", methods()),
        ("cores.md", cores()),
        ("parts.md", parts()),
        ("moduli.md", moduli()),
    ];
    let mut files: Vec<_> = pages
        .into_iter()
        .map(|(name, text)| (name.to_string(), text.into_bytes()))
        .collect();
    for (name, picture) in pictures()? {
        files.push((name, picture.into_bytes()));
    }
    output::write_all(&args.output, &files, true).map_err(Failure::file)?;
    let folder = args.output.display();
    output::report(&format!("{} files in {folder}", files.len()), true)?;
    Ok(true)
}

fn page(title: &str, text: &str) -> String {
    format!("# {title}\n\n{MADE}\n{}\n", text.trim_end())
}

/// Columns of the help in the page.
const WIDTH: usize = 100;

fn commands() -> String {
    let mut text = String::from(
        "`lozenge` has these commands. Each prints its help with `--help`. Exit codes: 0 proved, 1 not proved, 2 usage.\n\n",
    );
    let mut all = help::command().term_width(WIDTH);
    all.build();
    for command in all.get_subcommands() {
        let about = command.get_about().map(ToString::to_string);
        let name = command.get_name();
        text += &format!("- [`{name}`](#{name}): {}\n", about.unwrap_or_default());
    }
    let commands: Vec<Command> = all.get_subcommands().cloned().collect();
    for command in commands {
        let name = command.get_name().to_string();
        let mut command = command.term_width(WIDTH);
        let shown = command.render_help().to_string();
        let lines: Vec<_> = shown.lines().map(str::trim_end).collect();
        text += &format!(
            "\n## {name}\n\n```text\n{}\n```\n",
            lines.join("\n").trim_end()
        );
    }
    page("Commands", &text)
}

fn json() -> String {
    let text = format!(
        "Every command that makes, checks or lists something takes `--json` and prints one object then. What went wrong is an \
         object, too: `{{\"error\": {{\"kind\", \"message\", \"try\"}}}}`. This is the schema, which `lozenge schema` prints:\n\n\
         ```json\n{}\n```\n",
        schema::SCHEMA.trim_end()
    );
    page("JSON", &text)
}

fn operations() -> Result<String, Failure> {
    let mut text = String::from(
        "Numbers are arrays of words, the least significant first. `n` is the number of bits of an operand, which the command \
         line says. `m` is the modulus. A size that is no whole number of words is rounded up where the operation is the same for \
         operands with zeros on top; the header says the rule then.\n\n| operation | computes | operands | a size that is no whole \
         number of words |\n|---|---|---|---|\n",
    );
    for op in Op::ALL {
        let operands = match op.factors() {
            1 => "a",
            _ => "a, b",
        };
        let rounded = if op.takes_shorter() {
            "rounded up"
        } else {
            "refused"
        };
        text += &format!(
            "| `{}` | `{}` | {operands} | {rounded} |\n",
            op.name(),
            op.equation("n")
        );
    }
    text += "\n`add` and `sub` are for `check`; they return the carry or the borrow. `mul` takes two sizes, too: `256x64`.\n\n\
             ## What operands and result are below\n\n\
             `--reduce` says it for an operation modulo a number. For 256 bits:\n\n| operation | `--reduce` | modulus a number | \
             modulus at run time |\n|---|---|---|---|\n";
    for op in Op::ALL.into_iter().filter(|op| op.is_modular()) {
        for reduce in [Reduce::Full, Reduce::Almost, Reduce::Lazy] {
            let contract = |name: &str| {
                let modulus: Modulus = name.parse().ok()?;
                let modular = Modular {
                    reduce,
                    times: if op == Op::Modtimes { 121_665 } else { 0 },
                    ..Modular::full(modulus)
                };
                Spec::with(op, 256, Some(modular), 32).ok()?.contract()
            };
            // 2^253 - 165 leaves room for 4 m.
            let folds = matches!(op, Op::Modmul | Op::Modsqr | Op::Modtimes);
            let cell = |text: Option<String>| {
                text.map_or("not made".into(), |text| {
                    format!("`{}`", text.replace('|', "\\|"))
                })
            };
            // A fold follows from the form of a modulus that is known.
            let runtime = contract("runtime").filter(|_| !folds);
            let fixed = contract("2^253-165");
            text += &format!(
                "| `{}` | `{}` | {} | {} |\n",
                op.name(),
                reduce.name(),
                cell(fixed),
                cell(runtime)
            );
        }
    }
    text += "\nWithout `--alias` the result lies apart from the operands; the header says which operands may coincide.\n";
    Ok(page("Operations", &text))
}

fn methods() -> String {
    let mut text = String::from(
        "A method is the order in which partial products are made. `--method NAME` makes a kernel by one, `-p NAME=VALUE` sets a \
         parameter of it; without them the cheapest of all is made. [The methods](../explanation/methods.md) explains them.\n",
    );
    for method in METHODS.iter().filter(|method| !method.name.contains('+')) {
        let ops: Vec<_> = method
            .ops
            .iter()
            .map(|op| format!("`{}`", op.name()))
            .collect();
        text += &format!(
            "\n## {}\n\n{}.\n\nComputes {}. Source: {}.\n",
            method.name,
            capital(method.summary),
            ops.join(", "),
            method.source
        );
        if !method.parameters.is_empty() {
            text += "\n| parameter | meaning |\n|---|---|\n";
            for p in method.parameters {
                text += &format!("| `{}` | {} |\n", p.name, p.meaning.replace('|', "\\|"));
            }
        }
    }
    text += "\n## X+sps, X+sos, X+fold\n\nAny product or square `X` whole, then a reduction behind it: Montgomery's by columns \
             (`sps`) or by rows (`sos`), or a fold modulo a special prime (`fold`). They take the parameters of `X`.\n\n";
    let compounds = METHODS.iter().filter(|method| method.name.contains('+'));
    text += &compounds
        .map(|method| format!("`{}`", method.name))
        .collect::<Vec<_>>()
        .join(", ");
    text += ".\n\n## Plans\n\nA plan says how the products of a method are made: `--method karatsuba -p levels=2 -p plan=k160-a`. `lozenge show plan \
             NAME` draws it and says what each choice means.\n\n| plan | tried for | found | on |\n|---|---|---|---|\n";
    for plan in PLANS.iter() {
        text += &format!(
            "| `{}` | {} | by {} | {} |\n",
            plan.name, plan.used, plan.found, plan.on
        );
    }
    page("Methods", &text)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn cores() -> String {
    let mut text = String::from(
        "`--core NAME`. Cycles are from the source that is named. A core without published currents has no energy in its \
         reports.\n",
    );
    for core in target::cores() {
        let extensions = match core.extensions.as_str() {
            "" => String::new(),
            names => format!(" `--isa-ext`: {names}."),
        };
        text += &format!(
            "\n## {}\n\n{}. Words of {} bits.{extensions} Cycles: {}. Currents: {}.\n",
            core.name, core.summary, core.word_bits, core.source, core.energy
        );
    }
    page("Cores", &text)
}

fn parts() -> String {
    let mut text = String::from(
        "`--mcu NAME`. Sizes are in bytes.\n\n| part | core | flash | RAM | multiplier |\n|---|---|---|---|---|\n",
    );
    let yes = |has: bool| if has { "yes" } else { "no" };
    for part in PARTS.iter() {
        let multiplies = yes(part.has_mul());
        text += &format!(
            "| `{}` | `{}` | {} | {} | {multiplies} |\n",
            part.name, part.core.name, part.flash, part.ram
        );
    }
    for part in riscv::cores::PARTS.iter() {
        let core = riscv::cores::Core::named(part.core);
        let multiplies = yes(core.is_some_and(|core| core.features.multiply));
        text += &format!(
            "| `{}` | `{}` | {} | {} | {multiplies} |\n",
            part.name, part.core, part.flash, part.ram
        );
    }
    for part in msp430::cores::PARTS.iter() {
        let core = msp430::cores::Core::named(part.core);
        let multiplies = yes(core.is_some_and(|core| core.multiplier.is_some()));
        text += &format!(
            "| `{}` | `{}` | {} | {} | {multiplies} |\n",
            part.name, part.core, part.flash, part.ram
        );
    }
    let parts = msp430::cores::PARTS.iter();
    let far = parts.filter(|p| p.near != [p.flash, p.ram]);
    let far = far.map(|p| format!("| `{}` | {} | {} |\n", p.name, p.near[0], p.near[1]));
    text += &format!(
        "\nOf an MSP430X's memory above 64 KB the small memory model uses nothing. What limits a program there is:\n\n\
         | part | flash below 64 KB | RAM below 64 KB |\n|---|---|---|\n{}",
        far.collect::<String>()
    );
    page("Parts", &text)
}

fn moduli() -> String {
    let mut text = String::from(
        "`--modulus` takes a name, a number (`0x..` is hexadecimal), a sum of powers of 2 such as `2^255-19` or `52542*2^144+1`, or \
         `runtime`, `runtime-bare` and `runtime-folded` for a modulus that is an operand \
         ([Calculate modulo a number](../howto/modulus.md)).\n\n| name | value |\n|---|---|\n",
    );
    for (name, value) in NAMES {
        text += &format!("| `{name}` | `{value}` |\n");
    }
    page("Moduli", &text)
}

/// Pictures that the book shows: a name, and what is drawn.
fn pictures() -> Result<Vec<(String, String)>, Failure> {
    let avr = Target::core("atmega128")?;
    let arm = Target::core("arm7tdmi")?;
    let list = [
        (
            "operand-scanning",
            Request::mul(64).method("operand-scanning"),
            &avr,
        ),
        (
            "product-scanning",
            Request::mul(64).method("product-scanning"),
            &avr,
        ),
        (
            "hybrid",
            Request::mul(96).method("hybrid").param("d", 4),
            &avr,
        ),
        (
            "operand-caching",
            Request::mul(160).method("operand-caching").param("e", 10),
            &avr,
        ),
        (
            "karatsuba",
            Request::mul(128).method("karatsuba").param("levels", 1),
            &avr,
        ),
        (
            "square",
            Request::sqr(128).method("sliding-block-doubling"),
            &avr,
        ),
        (
            "montgomery",
            Request::montmul(256, "p256").method("fips"),
            &arm,
        ),
    ];
    let mut drawn = Vec::new();
    for (name, request, target) in list {
        let picture = request.variable_time().picture(target)?;
        drawn.push((format!("{name}.svg"), svg::svg(&picture)));
    }
    Ok(drawn)
}
