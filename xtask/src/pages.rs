//! Pages of the book with figures: templates of prose, whose numbers come from `tests/paper/`.

use std::path::PathBuf;

use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};

use crate::docs::{self, root};

/// Folders in `docs/src`, and their pages that are written from `xtask/templates/NAME.md`.
const NAMES: [(&str, &str); 11] = [
    ("howto", "pack"),
    ("results", "loops"),
    ("results", "montgomery"),
    ("results", "msp430"),
    ("results", "no-multiplier"),
    ("results", "papers"),
    ("results", "products"),
    ("results", "riscv"),
    ("results", "rsa"),
    ("results", "special-primes"),
    ("results", "x25519"),
];

/// All pages: where each stands, and its text.
pub fn all() -> Result<Vec<(PathBuf, String)>, String> {
    let data = data()?;
    let environment = environment();
    let page = |name: &str| -> Result<String, String> {
        let text = std::fs::read_to_string(template(name)).map_err(|e| e.to_string())?;
        let text = environment.render_str(&text, &data);
        let text = text.map_err(|error| format!("{error:#}"))?;
        // Loops over cells leave a blank at the end of a row.
        Ok(text
            .lines()
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect())
    };
    let pages = NAMES.iter().map(|(folder, name)| {
        let text = page(name).map_err(|error| format!("xtask/templates/{name}.md: {error}"))?;
        Ok((root().join(format!("docs/src/{folder}/{name}.md")), text))
    });
    pages.collect()
}

fn template(name: &str) -> PathBuf {
    root().join(format!("xtask/templates/{name}.md"))
}

/// The figures as templates see them: each file by its name, with `_` for `-`, and the cells of papers as `repro`.
fn data() -> Result<Value, String> {
    let mut files = Vec::new();
    for (name, _) in docs::FILES {
        let table = Value::from_serialize(docs::file(name)?);
        files.push((name.replace('-', "_"), table));
    }
    let path = root().join("tests/paper/repro.csv");
    let mut reader = csv::Reader::from_path(&path).map_err(|e| format!("repro.csv: {e}"))?;
    let names = reader.headers().map_err(|e| e.to_string())?.clone();
    let mut cells = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| format!("repro.csv: {e}"))?;
        let fields = names.iter().zip(record.iter());
        cells.push(
            fields
                .map(|(name, field)| (name.to_owned(), number(field)))
                .collect::<Value>(),
        );
    }
    files.push(("repro".into(), Value::from(cells)));
    Ok(files.into_iter().collect())
}

/// A field, as a number where it is one.
fn number(field: &str) -> Value {
    field
        .parse::<u64>()
        .map_or_else(|_| field.into(), Value::from)
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_keep_trailing_newline(true);
    environment.add_function("row", row);
    environment.add_filter("beside", beside);
    environment.add_filter("millions", millions);
    environment.add_filter("kb", kb);
    environment
}

/// The only row of `list` whose values are those given; `""` is a value that a row does not have.
fn row(list: Value, wanted: Kwargs) -> Result<Value, Error> {
    let names: Vec<&str> = wanted.args().collect();
    let mut found = Vec::new();
    for row in list.try_iter()? {
        let mut fits = true;
        for name in &names {
            let value = row.get_attr(name)?;
            let asked: Value = wanted.get(name)?;
            fits &= value == asked || value.is_undefined() && asked.as_str() == Some("");
        }
        if fits {
            found.push(row);
        }
    }
    match (found.pop(), found.len()) {
        (Some(row), 0) => Ok(row),
        (_, others) => {
            let told = format!("{} rows are {wanted:?}", others + usize::from(others > 0));
            Err(Error::new(ErrorKind::InvalidOperation, told))
        }
    }
}

/// `ours`, bold where it is less than `theirs`.
fn beside(ours: u64, theirs: Option<u64>) -> String {
    match theirs {
        Some(theirs) if ours < theirs => format!("**{ours}**"),
        _ => ours.to_string(),
    }
}

/// Millions with so many digits behind the point.
fn millions(number: f64, digits: usize) -> String {
    format!("{:.digits$}", number / 1e6)
}

/// KB of bytes.
fn kb(bytes: f64) -> String {
    format!("{:.0}", bytes / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands between `opens` and `closes` is taken out.
    fn without(text: &str, opens: &str, closes: &str) -> String {
        let mut parts = text.split(opens);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |kept, part| {
            kept + part.split_once(closes).map_or("", |(_, rest)| rest)
        })
    }

    /// Prose has no figures of its own: each comes from a file, but for operand sizes and years.
    #[test]
    fn templates_hold_no_figures() {
        for (_, name) in NAMES {
            let mut text = std::fs::read_to_string(template(name)).expect("a template");
            for (opens, closes) in [("{{", "}}"), ("{%", "%}"), ("```", "```"), ("`", "`")] {
                text = without(&text, opens, closes);
            }
            // `2^255` and `SA-1100` are no figures.
            let words = text.split(|c: char| !c.is_alphanumeric() && !"^-".contains(c));
            for number in words.filter_map(|word| word.parse::<u32>().ok()) {
                let is_size = number.is_multiple_of(32) && number <= 4096;
                let is_known = number < 100 || is_size || (1990..2030).contains(&number);
                assert!(is_known, "xtask/templates/{name}.md: {number}");
            }
        }
    }

    /// The rows on record of a library.
    fn rows(library: &str) -> Value {
        let data = data().and_then(|data| data.get_attr(library).map_err(|e| e.to_string()));
        data.expect("figures").get_attr("row").expect("rows")
    }

    /// README says of micro-ecc, Mbed TLS, p256-m and BearSSL what is on record.
    #[test]
    fn readme_says_what_is_on_record() {
        let said = "its ECDH takes {{ ecdh[1] | millions(1) }} million cycles instead of {{ ecdh[0] | millions(1) }}, its \
                    signatures {{ sign[1] | millions(1) }} instead of {{ sign[0] | millions(1) }}";
        let is_p256 = |row: &Value| {
            row.get_attr("pack")
                .is_ok_and(|pack| pack.as_str() == Some("p256"))
        };
        let p256 = |library: &str| {
            rows(library)
                .try_iter()
                .expect("rows")
                .find(is_p256)
                .expect("a row")
        };
        let power = "{{ cycles[1] | millions(1) }} instead of {{ cycles[0] | millions(1) }}";
        let signature = "a signature takes {{ sign[1] | millions(1) }} instead of {{ sign[0] | millions(1) }} million cycles";
        let driver = rows("p256_m")
            .try_iter()
            .expect("rows")
            .next()
            .expect("a row");
        let product = "P-256 takes {{ cycles[1] | millions(1) }} instead of {{ cycles[0] | millions(1) }} million cycles";
        // Of both functions the one that RSA calls.
        let is_rsa = |row: &Value| {
            let function = row.get_attr("function");
            function.is_ok_and(|name| name.as_str() == Some("mbedtls_mpi_exp_mod"))
        };
        let powers = rows("mbed_tls").try_iter().expect("rows").filter(is_rsa);
        let all = powers.map(|row| (power, row)).chain([
            (said, p256("micro_ecc")),
            (product, p256("bearssl")),
            (signature, driver),
        ]);
        let readme = std::fs::read_to_string(root().join("README.md")).expect("README");
        let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
        for (said, row) in all {
            let said = environment().render_str(said, row).expect("a sentence");
            assert!(readme.contains(&said), "README: {said}");
        }
    }

    #[test]
    fn rows_are_found() {
        let row = |op: &str, ours: u64| {
            let fields = [("op", Value::from(op)), ("ours", Value::from(ours))];
            fields.into_iter().collect::<Value>()
        };
        let rows = Value::from(vec![row("a", 1), row("b", 2), row("b", 3)]);
        let data: Value = [("rows", rows)].into_iter().collect();
        let said = |text: &str| environment().render_str(text, &data);
        assert_eq!(
            said("{{ row(rows, op='a', core='').ours }}").expect("one"),
            "1"
        );
        for none in [
            "{{ row(rows, op='b') }}",
            "{{ row(rows, op='c') }}",
            "{{ row(rows, op='a', ours='') }}",
        ] {
            assert!(said(none).is_err(), "{none}");
        }
        assert_eq!(
            said("{{ 3 | beside(4) }} {{ 3 | beside(none) }} {{ 3 | beside(3) }}").expect("text"),
            "**3** 3 3"
        );
    }
}
