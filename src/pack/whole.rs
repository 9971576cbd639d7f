//! A pack that is a whole computation: X25519 as one function of bytes, over a driver and its kernels.
//!
//! The function in C does what RFC 7748, section 5, says of bytes: it makes numbers of them, without the top bit of u, and bytes
//! of the result. All else is in the driver, whose area lies on the stack and is cleared.

use machine::isa::core::Core;
use num_bigint::BigUint;

use crate::driver::build::Built;
use crate::driver::x25519;
use crate::emit::driver::DriverReport;

/// A driver, with what is known of it and its files.
#[derive(Debug)]
pub struct Whole {
    /// Costs and verdicts.
    pub report: DriverReport,
    files: Vec<(String, Vec<u8>)>,
    word_bits: u32,
}

/// The header: `CYCLES`, `STACK` and `CORE` are replaced.
const HEADER: &str = "#ifndef LOZENGE_X25519_H
#define LOZENGE_X25519_H

#include <stdint.h>

/* Cycles on CORE, beside those of the C function around them; and bytes of stack. */
#define X25519_CYCLES CYCLESUL
#define X25519_STACK_BYTES STACK

#ifdef __cplusplus
extern \"C\" {
#endif

/* out = X25519(scalar, point), RFC 7748, section 5. Of a public key the point is 9, then 31 bytes 0. The arrays may be one.
 * Neither time nor addresses depend on the bytes. A point of small order gives 0: where both sides must contribute, compare
 * the result with 0 (section 6.1). */
#if defined(__cplusplus)
extern void x25519(uint8_t *out, const uint8_t *scalar, const uint8_t *point);
#else
extern void x25519(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32]);
#endif

#ifdef __cplusplus
}
#endif

#endif
";

/// The function; `WORD` is the type of a word.
const FUNCTION: &str = "#include \"x25519.h\"
#include \"x25519_numbers.h\"

typedef WORD word;

enum { BYTES = sizeof(word), WORDS = 32 / BYTES };

/* A number of 32 bytes, the lowest first. */
static void from_bytes(word *number, const uint8_t *bytes)
{
	for (unsigned i = 0; i < WORDS; i++) {
		number[i] = 0;
		for (unsigned k = 0; k < BYTES; k++)
			number[i] |= (word)((word)bytes[BYTES * i + k] << 8 * k);
	}
}

static void to_bytes(uint8_t *bytes, const word *number)
{
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(number[i / BYTES] >> 8 * (i % BYTES));
}

static void clear(volatile word *number)
{
	for (unsigned i = 0; i < WORDS; i++)
		number[i] = 0;
}

void x25519(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32])
{
	struct x25519_numbers numbers;

	from_bytes(numbers.scalar, scalar);
	from_bytes(numbers.u, point);
	numbers.u[WORDS - 1] &= (word)-1 >> 1;
	x25519_numbers(&numbers);
	to_bytes(out, numbers.result);
	clear(numbers.scalar);
	clear(numbers.result);
}
";

/// The test: `GIVEN` and `WANTED` are bytes, `COUNT` says how often.
const TEST: &str = "
#include \"x25519.h\"

/* Scalar and point, of RFC 7748, section 5.2, and a number above the prime. */
static const uint8_t x25519_given[] TABLE = {GIVEN};

static const uint8_t x25519_wanted[] TABLE = {WANTED};

static uint8_t fetch_byte(const uint8_t *table)
{
#ifdef __AVR__
	return pgm_read_byte(table);
#else
	return *table;
#endif
}

static void test_x25519(void)
{
	uint8_t given[64], out[32];
	unsigned wrong = 0;
	for (unsigned i = 0; i < COUNT; i++) {
		for (unsigned k = 0; k < 64; k++)
			given[k] = fetch_byte(x25519_given + 64 * i + k);
		x25519(out, given, given + 32);
		for (unsigned k = 0; k < 32; k++)
			wrong |= out[k] != fetch_byte(x25519_wanted + 32 * i + k);
	}
	tell(\"x25519\", wrong);
}
";

/// Scalars and points of RFC 7748, section 5.2, as bytes; and a scalar with the number `p + 9`.
const GIVEN: [[&str; 2]; 3] = [
    [
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
    ],
    [
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
        "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
    ],
    [
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
        "f6ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ],
];

/// A number of 32 bytes, the lowest first.
fn number(hex: &str) -> BigUint {
    let digits = (0..hex.len()).step_by(2);
    let byte = |i: usize| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok();
    let bytes: Vec<u8> = digits.filter_map(byte).collect();
    BigUint::from_bytes_le(&bytes)
}

/// The bytes of a number, as C reads them.
fn bytes(number: &BigUint) -> String {
    let mut bytes = number.to_bytes_le();
    bytes.resize(32, 0);
    let lines = bytes.chunks(16).map(|line| {
        let each = line.iter().map(|byte| format!("0x{byte:02x}"));
        each.collect::<Vec<_>>().join(", ")
    });
    format!("\n\t{},", lines.collect::<Vec<_>>().join(",\n\t"))
}

impl Whole {
    /// The C function.
    pub const NAME: &'static str = "x25519";
    /// What the driver is called, and what kernels' names begin with.
    pub const DRIVER: &'static str = "x25519_numbers";
    /// See [`Whole::DRIVER`].
    pub const PREFIX: &'static str = "x25519_";

    /// Numbers to run the driver on, and the result: the first of RFC 7748, section 5.2.
    pub fn case() -> ([(&'static str, BigUint); 2], BigUint) {
        let [scalar, u] = GIVEN[0].map(number);
        let want = x25519::value(&scalar, &u);
        ([("scalar", scalar), ("u", u)], want)
    }

    /// Of a driver with this report.
    ///
    /// # Errors
    /// What cannot be written (a defect of this tool).
    pub fn new(mut report: DriverReport, built: &Built, core: &Core) -> Result<Self, String> {
        let name = Self::DRIVER;
        let names = ["S", "o", "h"].map(|end| format!("{name}.{end}"));
        report.files = names.to_vec();
        let contents = [
            report.assembly(built, core).into_bytes(),
            report.object(built, core, &core.object_format())?,
            report.header().into_bytes(),
        ];
        Ok(Self {
            files: names.into_iter().zip(contents).collect(),
            word_bits: core.word_bits(),
            report,
        })
    }

    /// The files of driver and function for this core; `banner` makes the first comment of a C file from what it is.
    pub(super) fn files(
        &self,
        core: &str,
        banner: impl Fn(&str) -> String,
    ) -> Vec<(String, Vec<u8>)> {
        let mut list = self.files.clone();
        let header = HEADER
            .replace("CORE", core)
            .replace("CYCLESUL", &format!("{}UL", self.report.cycles))
            .replace(
                "STACK_BYTES STACK",
                &format!("STACK_BYTES {}", self.report.ram.total),
            );
        let function = FUNCTION.replace("WORD word", &format!("uint{}_t word", self.word_bits));
        let texts = [
            ("x25519.h", "the header of X25519.", header),
            (
                "x25519.c",
                "X25519 of bytes, over a driver in assembly.",
                function,
            ),
        ];
        list.extend(texts.map(|(name, what, text)| {
            let text = banner(&format!("{name}: {what}")) + &text;
            (name.to_string(), text.into_bytes())
        }));
        list
    }

    /// The part of the self-test.
    pub(super) fn test(&self) -> String {
        let (mut given, mut wanted) = (String::new(), String::new());
        for case in GIVEN {
            let [scalar, point] = case.map(number);
            given += &(bytes(&scalar) + &bytes(&point));
            let u = point % (BigUint::from(1u8) << 255);
            wanted += &bytes(&x25519::value(&scalar, &u));
        }
        TEST.replace("GIVEN", &format!("{given}\n"))
            .replace("WANTED", &format!("{wanted}\n"))
            .replace("COUNT", &GIVEN.len().to_string())
    }

    /// What the README says of it.
    pub(super) fn readme(&self) -> String {
        let report = &self.report;
        format!(
            "`x25519(out, scalar, point)` of `x25519.h` takes {} cycles, {} bytes of flash and {} bytes of RAM, all of it stack \
             ({} of numbers). Compile `x25519.c`, which makes numbers of bytes, and link the `.o` files.\n\n",
            report.cycles, report.flash.total, report.ram.total, report.ram.area
        )
    }
}
