//! `--for p256-m`: the file of p256-m, which Mbed TLS has as its driver for P-256 (ECDH, ECDSA, keys), over a pack's kernels.
//!
//! The functions of `p256-m.h` are written anew over [`crate::pack::points`] and the kernels modulo the order.

use crate::pack::made::Made;
use crate::pack::points::Curve;

pub(super) const README: &str = "p256-m, the driver of Mbed TLS for P-256 (tried with the one of Mbed TLS 3.5.1): compile `p256_m_lozenge.c` in \
                      place of `p256-m.c`, with its folder and this one in the include path, and link the `.o` files. Random bytes come \
                      from psa_generate_random; who has others defines LOZENGE_OWN_RANDOM and p256_generate_random. Around the kernels \
                      is C: time does not depend on secrets if the compiler's code for `a & mask` has no branch.";

/// The file's name.
pub const NAME: &str = "p256_m_lozenge.c";

/// The pack that it takes.
pub const PACK: &str = "p256";

/// What the file includes.
const HEAD: &str = "#include <string.h>\n#include \"p256-m.h\"\n#ifndef LOZENGE_OWN_RANDOM\n#include \"psa/crypto.h\"\n#endif\n#include \"PREFIX.h\"\n\n";

/// The file, name and contents.
pub(super) fn file(curve: &Curve, made: &Made<'_>) -> (String, String) {
    let text = curve.file(made, HEAD, include_str!("points/p256_m.c"));
    let what = "p256-m over kernels: compile it in place of p256-m.c.";
    (NAME.into(), made.banner(what) + &text)
}
