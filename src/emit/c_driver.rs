//! A driver in C: the same steps on the same area, for a compiler.

use std::fmt::Write;

use make::driver::{Action, Cell, Driver, MultiplyAdd, To};
use num_bigint::BigUint;

/// Passes over numbers, without a branch on what is in them. `@` is the word, `#` its bits, `$` a type of twice as many.
const PASSES: &str = "
typedef @ word;
typedef $ twice;

/* What the driver counts and selects with; next and entry count words from the start of the area. */
struct cells { unsigned digit, next, left, entry, outer, inner; word word, carry, borrow, halves; };

static void copy(word *r, const word *a, unsigned n)
{
	while (n--)
		*r++ = *a++;
}

static void number(word *r, word value, unsigned n)
{
	for (; n; n--, value = 0)
		*r++ = value;
}

/* r = r + (a & mask) + carry, a = 0 if it is null; returns the carry. */
static word add(word *r, const word *a, unsigned n, word mask, word carry)
{
	for (unsigned i = 0; i < n; i++) {
		twice t = (twice)r[i] + (word)(a ? a[i] & mask : 0) + carry;
		r[i] = (word)t;
		carry = (word)(t >> #);
	}
	return carry;
}

/* r = r - (a & mask) - borrow; returns the borrow. */
static word subtract(word *r, const word *a, unsigned n, word mask, word borrow)
{
	for (unsigned i = 0; i < n; i++) {
		twice t = (twice)r[i] - (word)(a ? a[i] & mask : 0) - borrow;
		r[i] = (word)t;
		borrow = (word)(t >> #) & 1;
	}
	return borrow;
}

/* r = table[digit], every entry read. */
static void look_up(word *r, const word *table, unsigned n, unsigned entries, unsigned digit)
{
	number(r, 0, n);
	for (unsigned e = 0; e < entries; e++) {
		word mask = (word)(((twice)(word)(e ^ digit) - 1) >> #);
		for (unsigned i = 0; i < n; i++)
			r[i] |= *table++ & mask;
	}
}

/* Exchanges a and b if the digit is 1. */
static void swap(word *a, word *b, unsigned n, unsigned digit)
{
	word mask = (word)(0 - (word)digit);
	while (n--) {
		word d = (word)((*a ^ *b) & mask);
		*a++ ^= d;
		*b++ ^= d;
	}
}

/* r = r + x for an x that may be negative: what the sum lacks above r. */
static word add_word(word *r, unsigned n, word x)
{
	word sign = (word)(0 - (x >> (# - 1)));
	word carry = 0;
	while (n--) {
		twice s = (twice)((twice)*r + x + carry);
		*r++ = (word)s;
		carry = (word)(s >> #);
		x = sign;
	}
	return (word)(0 - carry - sign);
}

/* 1 if a is not 0, else 0. */
static word not_zero(const word *a, unsigned n)
{
	word all = 0;
	while (n--)
		all |= *a++;
	return (word)((word)(all | (word)(0 - all)) >> (# - 1));
}

/* digit = 2 digit + the next bit of the exponent, from the top. */
static void bit(const word *m, struct cells *c)
{
	if (!c->left) {
		c->word = m[--c->next];
		c->left = #;
	}
	c->left--;
	c->digit = 2 * c->digit + (c->word >> (# - 1));
	c->word = (word)(c->word << 1);
}
";

/// The C text of `driver`, a function called `symbol` on a struct of that name, calling `kernels`.
pub fn text(driver: &Driver, symbol: &str, kernels: &[String]) -> String {
    let bits = 8 * driver.word;
    let mut text = format!("#include \"{symbol}.h\"\n");
    for kernel in kernels {
        text += &format!("#include \"{kernel}.h\"\n");
    }
    let passes = PASSES
        .replace('@', &format!("uint{bits}_t"))
        .replace('$', &format!("uint{}_t", 2 * bits))
        .replace('#', &bits.to_string());
    // What no step uses would be a warning.
    text += &used(&passes, driver);
    let c = Text { driver, kernels };
    for (i, steps) in driver.routines.iter().enumerate().skip(1) {
        let _ = write!(
            text,
            "\nstatic void routine{i}(word *m, struct cells *c)\n{{\n"
        );
        c.steps(&mut text, steps, 1);
        text += "}\n";
    }
    let _ = write!(
        text,
        "\nvoid {symbol}(struct {symbol} *numbers)\n{{\n\tword *m = (word *)numbers;\n\
         \tstruct cells cells = {{0}}, *c = &cells;\n"
    );
    c.steps(&mut text, &driver.routines[0], 1);
    text + "}\n"
}

/// Those of the passes that a step uses.
fn used(passes: &str, driver: &Driver) -> String {
    let steps = driver.steps();
    let has = |name: &str| {
        steps.iter().any(|step| match step {
            Action::Lookup { .. } => matches!(name, "look_up" | "number"),
            Action::Swap { .. } => name == "swap",
            Action::AddWord { .. } => name == "add_word",
            Action::NotZero { .. } => name == "not_zero",
            Action::Bit => name == "bit",
            Action::Copy { .. } | Action::Pick { .. } | Action::Take(_) => name == "copy",
            Action::Number { .. } => name == "number",
            Action::MultiplyAdd(sum) => name == if sum.subtract { "subtract" } else { "add" },
            _ => false,
        })
    };
    let parts = passes.split("\n\n").filter(|part| {
        let line = part.lines().find(|line| line.starts_with("static"));
        let name = line.and_then(|line| line.split('(').next());
        name.and_then(|line| line.split(' ').next_back())
            .is_none_or(has)
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

struct Text<'a> {
    driver: &'a Driver,
    kernels: &'a [String],
}

fn cell(cell: Cell) -> &'static str {
    match cell {
        Cell::Digit => "c->digit",
        Cell::Next => "c->next",
        Cell::Left => "c->left",
        Cell::Word => "c->word",
        Cell::Entry => "c->entry",
        Cell::Carry => "c->carry",
        Cell::Borrow => "c->borrow",
        Cell::Halves => "c->halves",
        Cell::Outer => "c->outer",
        Cell::Inner => "c->inner",
    }
}

impl Text<'_> {
    /// Words of so many bytes.
    fn words(&self, bytes: usize) -> usize {
        bytes / self.driver.word
    }

    /// `m + 18`: the place of byte `at`.
    fn at(&self, at: usize) -> String {
        format!("m + {}", self.words(at))
    }

    fn steps(&self, text: &mut String, steps: &[Action], depth: usize) {
        for step in steps {
            self.step(text, step, depth);
        }
    }

    fn step(&self, text: &mut String, step: &Action, depth: usize) {
        let tabs = "\t".repeat(depth);
        let line = match step {
            Action::Call { kernel, pointers } => {
                let pointers: Vec<_> = pointers.iter().map(|at| self.at(*at)).collect();
                format!("{}({});", self.kernels[*kernel], pointers.join(", "))
            }
            Action::Do(routine) => format!("routine{routine}(m, c);"),
            Action::Repeat {
                times,
                counter,
                body,
            } => {
                let i = cell(*counter);
                *text += &format!("{tabs}for ({i} = {times}; {i}; {i}--) {{\n");
                self.steps(text, body, depth + 1);
                "}".into()
            }
            Action::IfDigit {
                least,
                body,
                otherwise,
            } => {
                *text += &format!("{tabs}if (c->digit >= {least}) {{\n");
                self.steps(text, body, depth + 1);
                if !otherwise.is_empty() {
                    *text += &format!("{tabs}}} else {{\n");
                    self.steps(text, otherwise, depth + 1);
                }
                "}".into()
            }
            Action::Rewind(exponent) => {
                let end = self.words(exponent.at + exponent.bytes);
                format!("c->next = {end}, c->left = 0;")
            }
            Action::Bit => "bit(m, c);".into(),
            Action::Take(to) => {
                let (to, n) = (self.at(to.at), self.words(to.bytes));
                format!("copy({to}, m + c->next, {n}), c->next += {n};")
            }
            Action::NoDigit => "c->digit = 0;".into(),
            Action::Copy { to, from } => {
                let (a, n) = (self.at(from.at), self.words(from.bytes));
                match to {
                    To::Place(at) => format!("copy({}, {a}, {n});", self.at(*at)),
                    To::Entry => format!("copy(m + c->entry, {a}, {n}), c->entry += {n};"),
                }
            }
            Action::Table(at) => format!("c->entry = {};", self.words(*at)),
            Action::Number { to, value } => {
                format!(
                    "number({}, {value}, {});",
                    self.at(to.at),
                    self.words(to.bytes)
                )
            }
            Action::Constant { to, value } => {
                let words = self.words(to.bytes);
                for i in 0..words {
                    let bits = 8 * self.driver.word;
                    let word = (value >> (bits * i)) % (BigUint::from(1u8) << bits);
                    let at = self.words(to.at) + i;
                    *text += &format!("{tabs}m[{at}] = {word:#x};\n");
                }
                return;
            }
            Action::Lookup { to, table, entries } => {
                let (r, t, n) = (self.at(to.at), self.at(*table), self.words(to.bytes));
                format!("look_up({r}, {t}, {n}, {entries}, c->digit);")
            }
            Action::Pick { to, table, less } => {
                let (r, t, n) = (self.at(to.at), self.at(*table), self.words(to.bytes));
                format!("copy({r}, {t} + (c->digit - {less}) * {n}, {n});")
            }
            Action::Swap { a, b } => {
                let n = self.words(a.bytes);
                format!("swap({}, {}, {n}, c->digit);", self.at(a.at), self.at(*b))
            }
            Action::MultiplyAdd(sum) => self.sum(sum),
            Action::AddWord { to, word, lacks } => {
                let (r, n, w) = (self.at(to.at), self.words(to.bytes), self.at(*word));
                format!("{} = add_word({r}, {n}, *({w}));", cell(*lacks))
            }
            Action::NotZero { to, of } => {
                let (a, n) = (self.at(of.at), self.words(of.bytes));
                format!("{} = not_zero({a}, {n});", cell(*to))
            }
            Action::Fewer(from, less) => {
                let (from, less) = (cell(*from), cell(*less));
                format!("{from} = (word)({from} - {less});")
            }
            Action::Differ(to, from) => format!("{} ^= {};", cell(*to), cell(*from)),
        };
        *text += &format!("{tabs}{line}\n");
    }

    fn sum(&self, sum: &MultiplyAdd) -> String {
        let name = if sum.subtract { "subtract" } else { "add" };
        let (r, n) = (self.at(sum.to.at), self.words(sum.to.bytes));
        let from = sum.from.map_or("0".into(), |at| self.at(at));
        let mask = sum
            .times
            .map_or("(word)-1".into(), |c| format!("(word)(0 - {})", cell(c)));
        let carry = sum.carry.map_or("0", cell);
        let out = sum.out.map_or(String::new(), |c| format!("{} = ", cell(c)));
        format!("{out}{name}({r}, {from}, {n}, {mask}, {carry});")
    }
}
