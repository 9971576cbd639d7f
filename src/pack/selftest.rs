//! The self-test of a pack: a C program that calls every kernel on numbers whose results are known.
//!
//! The results are what the operation is by its definition, in big integers; no kernel was run for them, but where one is reduced
//! below `2^n` or `2 m` only, so that a residue has several numbers: then its own is taken, if it is one of them. On an AVR it prints to
//! the first UART, which simavr shows, and sleeps; elsewhere it is a program for `stdio.h`, or for a
//! `SELFTEST_PUT` of one's own, and it may be called by another `main` (`SELFTEST_MAIN`).

use num_bigint::BigUint;
use spec::modulus::Reduce;

use crate::face::Kernel;
use crate::pack::made::Made;
use crate::pack::whole::Whole;

/// What is before the tables: with `HEADER` and `WORD` to be replaced.
const BEFORE: &str = r#"#include "HEADER.h"

typedef WORD word;

#ifdef __AVR__
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#define TABLE PROGMEM
static word fetch(const word *table) { return pgm_read_byte(table); }
#else
#define TABLE
static word fetch(const word *table) { return *table; }
#endif

#if defined(__AVR__) && !defined(SELFTEST_PUT)
static void end(void) { cli(); sleep_mode(); }
#else
static void end(void) { }
#endif

#ifndef SELFTEST_MAIN
#define SELFTEST_MAIN main
#endif

#if defined(SELFTEST_PUT)
extern void SELFTEST_PUT(char c);
static void put(char c) { SELFTEST_PUT(c); }
#elif defined(UDR0)
static void put(char c) { UDR0 = c; }
#elif defined(__AVR__)
static void put(char c) { (void)c; }
#else
#include <stdio.h>
static void put(char c) { putchar(c); }
#endif

static void say(const char *text) { while (*text) put(*text++); }

static void copy(word *to, const word *table, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = fetch(table + i);
}

static unsigned differ(const word *x, const word *table, unsigned n)
{
	unsigned wrong = 0;
	for (unsigned i = 0; i < n; i++)
		wrong |= x[i] != fetch(table + i);
	return wrong;
}

static unsigned failed;

static void tell(const char *name, unsigned wrong)
{
	say(name);
	say(wrong ? " FAIL\n" : " ok\n");
	failed |= wrong;
}
"#;

/// The file.
pub fn selftest(made: &Made<'_>) -> String {
    let word = format!("uint{}_t", made.target.word_bits());
    let mut text = made.banner(&format!(
        "Self-test of the pack {}: every function on numbers with known results.",
        made.name
    ));
    text += &BEFORE.replace("HEADER", made.file).replace("WORD", &word);
    made.kernels.iter().for_each(|kernel| text += &test(kernel));
    if let Some(whole) = made.whole {
        text += &whole.test();
    }
    text += "\nint SELFTEST_MAIN(void)\n{\n";
    for kernel in made.kernels {
        text += &format!("\ttest_{}();\n", kernel.name());
    }
    if made.whole.is_some() {
        text += &format!("\ttest_{}();\n", Whole::NAME);
    }
    text + "\tsay(failed ? \"FAIL\\n\" : \"PASS\\n\");\n\tend();\n\treturn (int)failed;\n}\n"
}

/// Words of a number, least significant first.
fn words(value: &BigUint, bits: u32, word_bits: u32) -> Vec<String> {
    let digits = word_bits as usize / 4;
    (0..bits.div_ceil(word_bits))
        .map(|i| {
            let word = (value >> (i * word_bits)) % (BigUint::from(1u8) << word_bits);
            format!("0x{word:0digits$x}")
        })
        .collect()
}

/// A table of words in lines that are not too long.
fn table(words: &[String]) -> String {
    let lines: Vec<_> = words.chunks(12).map(|line| line.join(", ")).collect();
    format!("{{\n\t{}\n}}", lines.join(",\n\t"))
}

/// What a kernel must give.
fn value(kernel: &Kernel, operands: &[BigUint]) -> BigUint {
    let spec = kernel.spec();
    let reduce = spec
        .modular
        .as_ref()
        .map_or(Reduce::Full, |modular| modular.reduce);
    let own = match reduce {
        Reduce::Full => None,
        Reduce::Almost | Reduce::Lazy => kernel.run(operands).ok(),
    };
    let own = own
        .map(|run| run.result)
        .filter(|result| spec.accepts(operands, result));
    own.unwrap_or_else(|| spec.value(operands))
}

/// The tables and the test of one kernel.
fn test(kernel: &Kernel) -> String {
    let (spec, name) = (kernel.spec(), kernel.name());
    let w = spec.word_bits;
    let sources = spec.sources();
    let returns = spec.op.returns();
    let result = spec.result_bits() + if returns { w } else { 0 };
    let (mut given, mut wanted) = (Vec::new(), Vec::new());
    let vectors = Made::vectors(kernel);
    for operands in &vectors {
        for (value, source) in operands.iter().zip(&sources) {
            given.extend(words(value, source.bits, w));
        }
        wanted.extend(words(&value(kernel, operands), result, w));
    }
    let count = |bits: u32| bits / w;
    let arrays = sources
        .iter()
        .map(|s| format!("{}[{}]", s.name, count(s.bits)));
    let copies = sources.iter().scan(0, |at, s| {
        let line = format!(
            "\t\tcopy({}, {name}_given + i * {} + {at}, {});\n",
            s.name,
            sources.iter().map(|s| count(s.bits)).sum::<u32>(),
            count(s.bits)
        );
        *at += count(s.bits);
        Some(line)
    });
    let names: Vec<_> = sources.iter().map(|s| s.name).collect();
    let (keep, check) = match returns {
        true => (
            "word c = ",
            format!(
                "\t\twrong |= c != fetch({name}_wanted + i * {} + {});\n",
                count(result),
                count(spec.result_bits())
            ),
        ),
        false => ("", String::new()),
    };
    format!(
        "\nstatic const word {name}_given[] TABLE = {};\n\nstatic const word {name}_wanted[] TABLE = {};\n\n\
         static void test_{name}(void)\n{{\n\tword r[{}], {};\n\tunsigned wrong = 0;\n\
         \tfor (unsigned i = 0; i < {}; i++) {{\n{}\t\t{keep}{name}(r, {});\n\
         \t\twrong |= differ(r, {name}_wanted + i * {}, {});\n{check}\t}}\n\ttell(\"{name}\", wrong);\n}}\n",
        table(&given),
        table(&wanted),
        count(spec.result_bits()),
        arrays.collect::<Vec<_>>().join(", "),
        vectors.len(),
        copies.collect::<String>(),
        names.join(", "),
        count(result),
        count(spec.result_bits()),
    )
}
