//! `--for mbedtls`: Mbed TLS with a pack's Montgomery products, without a patch.
//!
//! RSA and `bignum_mod` call `mbedtls_mpi_core_montmul(X, A, B, B_limbs, N, AN_limbs, mm, T)`, which
//! `bignum_core.c` defines, and which it calls itself. One file includes `bignum_core.c` behind a macro of that name, which pastes a
//! prefix to argument `mm`: at a call that makes the name of our function, and at the definition, where the argument begins
//! with its type, nothing, so that the library's own function is called `mm` there and stays in reach for other sizes. A kernel takes `mm` behind the
//! modulus, so both are copied to `T`, which has `2 AN_limbs + 1` limbs.

use spec::Op;

use crate::face::Kernel;
use crate::pack::data::Wanted;
use crate::pack::made::Made;

/// Bits of a limb: Mbed TLS has none below 32, and 64 only on machines that Lozenge has no kernels for.
pub const LIMB: u32 = 32;

pub(super) const README: &str = "Mbed TLS 3.5 (tried with 3.5.1): compile `bignum_core_lozenge.c` in place of `library/bignum_core.c`, with Mbed TLS's folders \
                      `include` and `library` and this one in the include path, and link the `.o` files. Products modulo numbers of these sizes \
                      (RSA's) are the kernels' then; Mbed TLS computes all others as before.";

/// The file's name.
pub const NAME: &str = "bignum_core_lozenge.c";

/// The file: `HEADER` is the pack's header, `ARGUMENTS` the parameters of Montgomery's product, `CASES` a case for each size.
const FILE: &str = r#"#include "common.h"

#if defined(MBEDTLS_BIGNUM_C)

#include <string.h>
#include "bignum_core.h"
#include "HEADER.h"

#if !defined(MBEDTLS_HAVE_INT32)
#error "the kernels have limbs of 32 bits: define MBEDTLS_HAVE_INT32"
#endif

/* The library's own product. */
static void mm(ARGUMENTS);

/* X = A B 2^(-32 AN_limbs) mod N; k is -N^-1 mod 2^32. */
static void lozenge_montmul(ARGUMENTS);

/* A call of mbedtls_mpi_core_montmul becomes one of lozenge_montmul; where the library defines it, its name becomes `mm`. */
#define LOZENGE_mm lozenge_montmul
#define LOZENGE_mbedtls_mpi_uint
#define mbedtls_mpi_core_montmul(X, A, B, l, N, n, mm, T) LOZENGE_##mm (X, A, B, l, N, n, mm, T)

#include "bignum_core.c"

#undef mbedtls_mpi_core_montmul

static void lozenge_montmul(ARGUMENTS)
{
	/* B may have more limbs than N; they are 0, as B < N. */
	switch (B_limbs >= AN_limbs ? AN_limbs : 0) {
CASES	default:
		mm(X, A, B, B_limbs, N, AN_limbs, k, T);
	}
}

void mbedtls_mpi_core_montmul(ARGUMENTS)
{
	lozenge_montmul(X, A, B, B_limbs, N, AN_limbs, k, T);
}

#endif
"#;

const ARGUMENTS: &str =
    "mbedtls_mpi_uint *X, const mbedtls_mpi_uint *A, const mbedtls_mpi_uint *B, size_t B_limbs,
	const mbedtls_mpi_uint *N, size_t AN_limbs, mbedtls_mpi_uint k, mbedtls_mpi_uint *T";

/// Numbers of `WORDS` limbs. The modulus and `k` behind it are in T.
const CASE: &str = "	case WORDS:
		memcpy(T, N, WORDS * sizeof *T);
		T[WORDS] = k;
		if (A == B)
			SQUARE(X, A, T);
		else
			PRODUCT(X, A, B, T);
		break;
";

/// The file that is compiled in place of `bignum_core.c`, name and contents.
pub(super) fn file(made: &Made<'_>) -> (String, String) {
    let of = |op: Op| made.kernels.iter().filter(move |k| k.spec().op == op);
    let bits = |kernel: &Kernel| kernel.spec().size.a;
    let squares = |product: &Kernel| {
        let bits = bits(product);
        of(Op::Montsqr).find(move |square| square.spec().size.a == bits)
    };
    let cases = of(Op::Montmul).filter_map(|product| {
        let square = squares(product)?;
        let case = CASE
            .replace("WORDS", &(bits(product) / LIMB).to_string())
            .replace("SQUARE", square.name())
            .replace("PRODUCT", product.name());
        Some(case)
    });
    let text = FILE
        .replace("ARGUMENTS", ARGUMENTS)
        .replace("HEADER", made.file)
        .replace("CASES", &cases.collect::<String>());
    let what = "Mbed TLS with Montgomery products of a few sizes: compile it in place of library/bignum_core.c.";
    (NAME.into(), made.banner(what) + &text)
}

/// Are there Montgomery products modulo numbers that are operands, as Mbed TLS calls them?
pub fn takes(pack: &[Wanted]) -> bool {
    let is_ours = |w: &Wanted| w.op == Op::Montmul && w.modulus.as_deref() == Some("runtime");
    pack.iter().any(is_ours)
}
