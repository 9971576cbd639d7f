//! Hutter and Wenger's formulas, at sizes, beside what our schedules count: tables 1 and 2, equations 1 to 4, and the
//! column of table 5 that no chip has. Figures 6 and 7 are tables 4 and 5, drawn.

use lozenge::facts::Facts;
use lozenge::lower;
use lozenge::method::{self, Params};
use lozenge::schedule::{Block, Blocks, Counts, Part, Schedule};
use lozenge::spec::{Op, Spec};
use lozenge::target::Target;

use crate::cli::repro::cell::{Cell, Printed, Slip, Table};
use crate::cli::repro::made::Book;

/// Words of an operand, and cached words: those of table 3, those of figure 4 and those of 2048 bits.
const SHAPES: [[usize; 2]; 3] = [[20, 10], [8, 3], [256, 10]];

/// Words of the sizes of table 4.
const SIZES: [usize; 6] = [20, 24, 32, 64, 128, 256];

/// What no cell of ours is for.
const NO_CHIP: &str = "no AVR has 43 registers";

/// A schedule of a method, as its blocks.
fn blocks(name: &str, n: usize, params: &[(&'static str, usize)]) -> Result<Blocks, String> {
    let core = Target::core("atmega128").map_err(|e| e.to_string())?;
    // As many registers as the parameters ask for: a count needs no chip that has them.
    let facts = Facts {
        free_registers: 2 * n + 8,
        ..lower::facts(&core.to_core())
    };
    let found = method::find(name).ok_or(format!("no method {name}"))?;
    let spec = Spec::new(Op::Mul, 8 * n as u32, 8).map_err(|e| e.to_string())?;
    let params: Params = params.iter().copied().collect();
    let schedule = (found.schedule)(&spec, &facts, &params).map_err(|e| e.to_string())?;
    match schedule {
        Schedule::Blocks(blocks) => Ok(blocks),
        _ => Err(format!("{name} is not in blocks")),
    }
}

fn counts(name: &str, n: usize, params: &[(&'static str, usize)]) -> Result<Counts, String> {
    blocks(name, n, params)?.check().map_err(|e| e.to_string())
}

fn cell(row: &str, column: &str, printed: Printed, ours: Result<usize, String>) -> Cell {
    Cell {
        row: row.into(),
        column: column.into(),
        printed,
        formula: None,
        rule: None,
        base: None,
        ours: ours.map(|n| n as f64),
        decimals: 0,
        basis: None,
        command: None,
        plan: None,
    }
}

/// All of them, in the order of the paper.
pub fn tables(book: &Book) -> Vec<Table> {
    vec![parts(), methods(book), equations(book)]
}

/// The hybrid product of `n` words: its schedule leaves loads to the machine, so its code is counted.
fn hybrid(n: usize, [d, carry]: [usize; 2]) -> String {
    let bits = 8 * n;
    format!("gen mul {bits} --core atmega128 --method hybrid -p d={d} -p carry={carry}")
}

/// Catchers of carries, as in table 3.
const CAUGHT: [usize; 2] = [4, 2];

/// Blocks for `f` registers, 3 d + 2, which leave none to catch carries.
fn running(f: usize) -> [usize; 2] {
    [(f - 2) / 3, 0]
}

/// The commands that make the cells of one of the tables, or of all.
pub fn commands(wanted: Option<&str>) -> Vec<String> {
    let mut all = Vec::new();
    if wanted.is_none_or(|id| id == "2") {
        all.extend(SIZES.map(|n| hybrid(n, CAUGHT)));
    }
    if wanted.is_none_or(|id| id == "equations") {
        all.extend(BUDGETS.map(|[n, f]| hybrid(n, running(f))));
    }
    all
}

/// What a command's code loads and stores, in place of a schedule's.
fn accesses(book: &Book, command: &str) -> Result<Counts, String> {
    let counts = &book.get(command)?.counts;
    Ok(Counts {
        loads: counts.load as usize,
        stores: counts.store as usize,
        ..Counts::default()
    })
}

/// Table 1: loads and stores of the parts of each row.
fn parts() -> Table {
    let mut cells = Vec::new();
    for [n, e] in SHAPES.into_iter().take(2) {
        let counted = blocks("operand-caching", n, &[("e", e)]).map(|blocks| by_part(&blocks, e));
        let r = n / e;
        let mut formulas = Vec::new();
        if n > r * e {
            formulas.push(("b_init".to_string(), 2 * (n - r * e), 2 * (n - r * e)));
        }
        for p in (0..r).rev() {
            let long = n - e * (p + 1);
            for (part, loads, stores) in [
                (1, 2 * e, e),
                (2, 2 * long, long),
                (3, 2 * long, long),
                (4, 0, e),
            ] {
                formulas.push((format!("p = {p}, part {part}"), loads, stores));
            }
        }
        for (name, loads, stores) in formulas {
            let row = format!("n = {n}, e = {e}: {name}");
            let of = |which: usize| {
                let counted = counted.as_ref().map_err(Clone::clone)?;
                let found = counted.iter().find(|(part, _)| *part == name);
                let empty = loads + stores == 0;
                match found {
                    Some((_, accesses)) => Ok(accesses[which]),
                    None if empty => Ok(0),
                    None => Err(format!("our schedule has no {name}")),
                }
            };
            let total = of(0).and_then(|loads| Ok(loads + of(1)?));
            cells.push(cell(&row, "load", Printed::whole(loads as f64), of(0)));
            cells.push(cell(&row, "store", Printed::whole(stores as f64), of(1)));
            let printed = Printed::whole((loads + stores) as f64);
            cells.push(cell(&row, "total", printed, total));
        }
    }
    Table {
        id: "1".into(),
        title: "memory accesses of operand caching by part, its formulas at 160 bits and at figure 4's size".into(),
        unit: "instructions".into(),
        cells,
        why: Vec::new(),
    }
}

/// Loads and stores of a schedule of operand caching by the names of parts.
fn by_part(blocks: &Blocks, e: usize) -> Vec<(String, [usize; 2])> {
    let mut all: Vec<(String, [usize; 2])> = Vec::new();
    for block in &blocks.blocks {
        let Block::Columns(block) = block else {
            continue;
        };
        for (at, column) in block.columns.iter().enumerate() {
            let name = match block.part {
                Part::Whole | Part::Clear => continue,
                Part::Init => "b_init".to_string(),
                Part::Row(p) => {
                    let long = blocks.n - e * (p + 1);
                    let part = match at {
                        at if at < e => 1,
                        at if at < e + long => 2,
                        at if at < e + 2 * long => 3,
                        _ => 4,
                    };
                    format!("p = {p}, part {part}")
                }
            };
            let operands = column.products.iter();
            let operands = operands.map(|p| usize::from(p.load_a) + usize::from(p.load_b));
            let loads = operands.sum::<usize>() + usize::from(column.reload);
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, [l, s])) => {
                    *l += loads;
                    *s += 1;
                }
                None => all.push((name, [loads, 1])),
            }
        }
    }
    all
}

/// A row of table 2: its name, our method and its parameter, and the formulas at `n` words.
struct Formulas {
    name: &'static str,
    method: &'static str,
    params: &'static [(&'static str, usize)],
    loads: fn(f64) -> f64,
    stores: fn(f64) -> f64,
}

const FORMULAS: [Formulas; 4] = [
    Formulas {
        name: "operand scanning",
        method: "operand-scanning",
        params: &[("k", 0)],
        loads: |n| 2.0 * n * n + n,
        stores: |n| n * n + n,
    },
    Formulas {
        name: "product scanning",
        method: "product-scanning",
        params: &[],
        loads: |n| 2.0 * n * n,
        stores: |n| 2.0 * n,
    },
    Formulas {
        name: "hybrid (d = 4)",
        method: "hybrid",
        params: &[("d", 4)],
        loads: |n| 2.0 * (n * n / 4.0).ceil(),
        stores: |n| 2.0 * n,
    },
    Formulas {
        name: "operand caching (e = 10)",
        method: "operand-caching",
        params: &[("e", 10)],
        loads: |n| n * n / 5.0,
        stores: |n| n * n / 10.0 + n,
    },
];

/// Why ours differ from the formulas of a row.
fn why_not(row: &str) -> String {
    let text = if row.starts_with("operand scanning") {
        "the first row reads no result"
    } else if row.starts_with("operand caching") {
        "the formulas are the bounds of equations 1 and 2, which hold where e divides n only: where it does not, the sums \
         before them are ours"
    } else if row.starts_with("hybrid") {
        "blocks that share words keep them; loads and stores of the code, as our schedule leaves them to the machine"
    } else {
        "serpentine columns keep the words at their ends"
    };
    text.into()
}

/// Table 2: memory accesses of each method.
fn methods(book: &Book) -> Table {
    let mut cells = Vec::new();
    for n in SIZES {
        for formulas in &FORMULAS {
            let [loads, stores] = [formulas.loads, formulas.stores].map(|f| f(n as f64));
            let counted = match formulas.method {
                "hybrid" => accesses(book, &hybrid(n, CAUGHT)),
                method => counts(method, n, formulas.params),
            };
            let of = |read: fn(&Counts) -> usize| counted.as_ref().map(read).map_err(Clone::clone);
            let row = format!("{}, n = {n}", formulas.name);
            let printed = |value: f64| Printed::Figure(value, usize::from(value.fract() != 0.0));
            cells.push(cell(&row, "load", printed(loads), of(|c| c.loads)));
            cells.push(cell(&row, "store", printed(stores), of(|c| c.stores)));
            let memory = printed(loads + stores);
            cells.push(cell(&row, "memory", memory, of(|c| c.loads + c.stores)));
        }
    }
    let mut why: Vec<_> = cells
        .iter()
        .map(|c| (c.row.clone(), why_not(&c.row)))
        .collect();
    why.dedup();
    Table {
        id: "2".into(),
        title: "memory accesses by method, its formulas at the words of table 4's sizes".into(),
        unit: "instructions".into(),
        cells,
        why,
    }
}

/// `2 (n - r e) + sum (4 n - 4 p e - 2 e)` and `2 (n - r e) + sum (2 n - 2 p e)`, p from 0 to r - 1.
fn sums(n: usize, e: usize) -> [usize; 2] {
    let r = n / e;
    let init = 2 * (n - r * e);
    let loads: usize = (0..r).map(|p| 4 * n - 4 * p * e - 2 * e).sum();
    let stores: usize = (0..r).map(|p| 2 * n - 2 * p * e).sum();
    [init + loads, init + stores]
}

/// `2 n + 4 r n - 2 e r^2 - 2 e r` and `2 n + 2 r n - e r^2 - e r`.
fn closed(n: usize, e: usize) -> [usize; 2] {
    let r = n / e;
    [
        2 * n + 4 * r * n - 2 * e * r * r - 2 * e * r,
        2 * n + 2 * r * n - e * r * r - e * r,
    ]
}

/// Words and registers of equation 4.
const BUDGETS: [[usize; 2]; 3] = [[20, 23], [64, 23], [256, 23]];

/// Both sides of equation 4: `2 ceil(n^2 / floor((f - 2) / 3)) + 2 n` and `6 n^2 / (f - 3) + n`.
fn memories(n: usize, f: usize) -> [f64; 2] {
    let (m, free) = (n as f64, f as f64);
    [
        2.0 * (m * m / ((free - 2.0) / 3.0).floor()).ceil() + 2.0 * m,
        6.0 * m * m / (free - 3.0) + m,
    ]
}

/// Equations 1 to 4 beside counts.
fn equations(book: &Book) -> Table {
    let mut cells = Vec::new();
    let mut why = Vec::new();
    for [n, e] in SHAPES {
        let counted = counts("operand-caching", n, &[("e", e)]);
        let row = format!("n = {n}, e = {e}");
        let of = |read: fn(&Counts) -> usize| counted.as_ref().map(read).map_err(Clone::clone);
        let sides = [of(|c| c.loads), of(|c| c.stores)];
        for (at, ours) in sides.into_iter().enumerate() {
            let (sum, closed) = (sums(n, e)[at] as f64, closed(n, e)[at] as f64);
            let number = at + 1;
            let mut equation = cell(&row, &format!("({number})"), Printed::whole(closed), ours);
            equation.formula = Some(sum);
            cells.push(equation);
        }
        why.push((
            row,
            "printed is the closed form, `formula` the sum before it".into(),
        ));
    }
    same_registers(&mut cells, &mut why);
    // (4): with f registers the hybrid method takes more memory accesses than operand caching.
    for [n, f] in BUDGETS {
        let d = (f - 2) / 3;
        let e = (f - 3) / 2;
        let memory = |counts: Counts| counts.loads + counts.stores;
        let hybrid = accesses(book, &hybrid(n, running(f))).map(memory);
        let caching = counts("operand-caching", n, &[("e", e)]).map(memory);
        let row = format!("n = {n}, f = {f}");
        let [left, right] = memories(n, f);
        let printed = |value: f64| Printed::Figure(value, usize::from(value.fract() != 0.0));
        cells.push(cell(&row, "(4) hybrid", printed(left), hybrid));
        cells.push(cell(&row, "(4) operand caching", printed(right), caching));
        let text = format!(
            "d = {d}, e = {e}; what our hybrid product's code accesses, whose blocks keep words they share; the right side \
             is a bound that holds where e divides n"
        );
        why.push((row, text));
    }
    Table {
        id: "equations".into(),
        title: "equations 1 to 4 beside the counts of our schedules".into(),
        unit: "memory accesses, of (3) registers".into(),
        cells,
        why,
    }
}

/// Equation 3: f = 2 e + 3 = 3 d + 2, so e = (3 d - 1) / 2.
fn same_registers(cells: &mut Vec<Cell>, why: &mut Vec<(String, String)>) {
    for d in [1, 3, 5, 7] {
        let e = (3 * d - 1) / 2;
        let n = 2 * e;
        let row = format!("d = {d}");
        let resident = counts("operand-caching", n, &[("e", e)]).map(|c| c.resident + 3);
        let mut equation = cell(&row, "(3)", Printed::whole((3 * d + 2) as f64), resident);
        equation.formula = Some((2 * e + 3) as f64);
        cells.push(equation);
        let text = format!(
            "registers f by d (printed) and by e = {e} (`formula`); ours are the operand words that a schedule of n = {n} \
             keeps, and the accumulator's three"
        );
        why.push((row, text));
    }
}

/// Table 5's last row: what our schedule with e = 20 takes by a fit to the paper's cells, as its `formula`.
pub fn fit(table: &mut Table) {
    let e = 20;
    for cell in table.cells.iter_mut().filter(|cell| cell.row == "e = 20") {
        let n = cell.column.parse::<usize>().map_or(0, |bits| bits / 8);
        cell.ours = Err(NO_CHIP.into());
        cell.formula = counts("operand-caching", n, &[("e", e)]).ok().map(|c| {
            let added = 3 * c.products + 2 * c.reloads;
            let rest = 15 + 30 * (n / e) + if n.is_multiple_of(e) { 0 } else { 22 };
            (2 * (c.loads + c.stores + c.products) + added + rest) as f64
        });
    }
}

/// Bounds that do not hold.
pub fn slips() -> Vec<Slip> {
    let [n, e] = SHAPES[1];
    let (m, k) = (n as f64, e as f64);
    let sides = closed(n, e).map(|side| side as f64);
    let bounds = [2.0 * m * m / k, m * m / k + m];
    let mut slips = Vec::new();
    let excess = ["2 x (1 - x / e)", "x (1 - x / e)"];
    for (at, (side, bound)) in sides.into_iter().zip(bounds).enumerate() {
        if side > bound {
            slips.push(Slip {
                place: format!("equation {}", at + 1),
                printed: ["<= 2 n^2 / e", "<= n^2 / e + n"][at].into(),
                right: ["<= 2 n^2 / e + e / 2", "<= n^2 / e + n + e / 4"][at].into(),
                why: format!(
                    "at n = {n}, e = {e} (figure 4) the left side is {side} and the bound {bound:.1}; with n = r e + x it \
                     is above by {}",
                    excess[at]
                ),
            });
        }
    }
    let f = BUDGETS[0][1];
    let fails = |n: &usize| {
        let [left, right] = memories(*n, f);
        left <= right
    };
    if let Some(n) = (1..=SIZES[5]).find(fails) {
        let [left, right] = memories(n, f);
        slips.push(Slip {
            place: "equation 4".into(),
            printed: "2 ceil(n^2 / floor((f - 2) / 3)) + 2 n > 6 n^2 / (f - 3) + n".into(),
            right: "so for n < d (3 d - 1) / 2 alone, where f = 3 d + 2".into(),
            why: format!(
                "at f = {f} (d = 7, e = 10) it fails from n = {n} on, {left:.0} against {right:.1}: 2 / d < 3 / e, so operand \
                 caching has more memory accesses than the hybrid method for long operands, if each has all its registers"
            ),
        });
    }
    slips
}
