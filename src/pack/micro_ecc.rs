//! `--for micro-ecc`: the library with a pack's products of its field, without a patch.
//!
//! micro-ecc calls `uECC_vli_modMult_fast(r, a, b, curve)` for every product of the field, and defines it with the parameter
//! `uECC_Curve curve`. One file includes `uECC.c` behind a macro of that name, which pastes a prefix to the last argument: at a
//! call that makes the name of our function, and at the definition nothing, so that the library's own one is called `curve` there
//! and stays in reach for other curves. (With `uECC_SQUARE_FUNC` 0 a square is a call with `a == b`.)

use crate::pack::made::Made;

/// A curve, as the library calls it.
#[derive(Debug)]
pub struct Curve(&'static str);

/// The curves of micro-ecc, by the packs that have them.
const CURVES: [(&str, &str); 5] = [
    ("secp160r1", "secp160r1"),
    ("p192", "secp192r1"),
    ("p224", "secp224r1"),
    ("p256", "secp256r1"),
    ("secp256k1", "secp256k1"),
];

/// The file's name.
pub const NAME: &str = "uECC_lozenge.c";

pub(super) const README: &str = "micro-ecc: compile `uECC_lozenge.c` in place of `uECC.c`, with micro-ecc's folder and this one in the \
                      include path, and link the `.o` files. It enables this curve (and on AVR secp160r1, without which its assembly does not compile); define \
                      uECC_SUPPORTS_... for others, which \
                      the library then computes itself. Products are in constant time; the rest is micro-ecc's. Points of others must \
                      be valid (uECC_valid_public_key), as coordinates are to be below the modulus.";

/// The file: `@` is the curve, `$` what functions of the pack begin with, `HEADER` its header.
const FILE: &str = r#"/* One curve where that compiles, unless you say otherwise. */
DEFAULTS
#define uECC_SQUARE_FUNC 0
#ifndef uECC_OPTIMIZATION_LEVEL
#define uECC_OPTIMIZATION_LEVEL 2
#endif
COMPRESSED
#include "uECC.h"
#include "HEADER.h"

/* r = a b in the field of the curve c. */
static void lozenge_multiply(uint#_t *r, const uint#_t *a, const uint#_t *b, uECC_Curve c);

/* r = a b modulo m, numbers of n words. */
static void lozenge_multiply_modulo(uint#_t *r, const uint#_t *a, const uint#_t *b, const uint#_t *m, int8_t n);

/* A call of uECC_vli_modMult_fast becomes one of lozenge_multiply; where the library defines it, its name becomes `curve`.
 * So do calls of uECC_vli_modMult; where the library defines it, its name becomes `num_words`. */
#define LOZENGE_curve lozenge_multiply
#define LOZENGE_uECC_Curve
#define uECC_vli_modMult_fast(r, a, b, c) LOZENGE_##c (r, a, b, c)
#define LOZENGE_num_n_words lozenge_multiply_modulo
#define LOZENGE_num_words lozenge_multiply_modulo
#define LOZENGE_wordcount_t
#define uECC_vli_modMult(r, a, b, m, n) LOZENGE_##n (r, a, b, m, n)

#include "uECC.c"

CALL

#if uECC_WORD_SIZE != BYTES
#error "this pack has words of # bits: define uECC_WORD_SIZE as BYTES"
#endif

static void lozenge_multiply(uint#_t *r, const uint#_t *a, const uint#_t *b, uECC_Curve c)
{
	if (c != &curve_@)
		curve(r, a, b, c);
	else if (a == b)
		LOZENGE_CALL(r, c->num_words, $sqr, a);
	else
		LOZENGE_CALL(r, c->num_words, $mul, a, b);
}

static void lozenge_multiply_modulo(uint#_t *r, const uint#_t *a, const uint#_t *b, const uint#_t *m, int8_t n)
{
	uint#_t t[sizeof curve_@.n / sizeof curve_@.n[0]];

	/* Factors are below the order, but for what a signature takes of a point. */
	if (m != curve_@.n || uECC_vli_cmp(m, a, n) != 1 || uECC_vli_cmp(m, b, n) != 1) {
		num_words(r, a, b, m, n);
	} else {
		$order_to(t, a);
		LOZENGE_CALL(r, n, $order_mul, t, b);
	}
}
"#;

/// How a product is called whose result may lie where an operand is, and one whose result may not.
const IN_PLACE: &str = "#define LOZENGE_CALL(r, n, f, ...) f(r, __VA_ARGS__)\n";
const APART: &str = "\
/* These products do not write where they read. */
#define LOZENGE_CALL(r, n, f, ...) do { \\
		uint#_t apart[uECC_MAX_WORDS]; \\
		f(apart, __VA_ARGS__); \\
		uECC_vli_set(r, apart, n); \\
	} while (0)
";

/// The curve of the pack called `name`; the names of the packs that have one of its curves, if it is none of them.
///
/// # Errors
/// These names.
pub fn curve(name: &str) -> Result<Curve, Vec<&'static str>> {
    let found = CURVES.iter().find(|(pack, _)| *pack == name);
    let (_, curve) = found.ok_or_else(|| CURVES.map(|(pack, _)| pack).to_vec())?;
    Ok(Curve(curve))
}

impl Curve {
    /// The file, name and contents.
    pub fn file(&self, made: &Made<'_>) -> (String, String) {
        let bits = made.target.word_bits();
        let default = |curve: &str| {
            // On AVR its assembly has a syntax error where all curves have as many words (`"r0",` before the closing
            // parenthesis); secp160r1 has others for its order.
            let is = u8::from(curve == self.0 || (curve == "secp160r1" && bits == 8));
            format!("#ifndef uECC_SUPPORTS_{curve}\n#define uECC_SUPPORTS_{curve} {is}\n#endif")
        };
        let defaults = CURVES.map(|(_, curve)| default(curve)).join("\n");
        // Its roots are taken by calls that name the curve.
        let compressed = match self.0 {
            "secp224r1" => "#define uECC_SUPPORT_COMPRESSED_POINT 0",
            _ => "",
        };
        // micro-ecc's results often take the place of an operand.
        let products = ["mul", "sqr", "order_mul"].map(|name| format!("{}_{name}", made.file));
        let mut kernels = made.kernels.iter();
        let apart =
            kernels.any(|k| products.iter().any(|name| name == k.name()) && !Made::in_place(k));
        let what = format!(
            "micro-ecc with the products of {} in its field: compile it in place of uECC.c.",
            self.0
        );
        let text = FILE
            .replace("DEFAULTS", &defaults)
            .replace("COMPRESSED\n", &format!("{compressed}\n"))
            .replace("CALL\n", if apart { APART } else { IN_PLACE })
            .replace("HEADER", made.file)
            .replace("uint#_t", &format!("uint{bits}_t"))
            .replace("words of # bits", &format!("words of {bits} bits"))
            .replace("BYTES", &(bits / 8).to_string())
            .replace('@', self.0)
            .replace('$', &format!("{}_", made.file));
        (NAME.into(), made.banner(&what) + &text)
    }
}
