/* BearSSL as it is measured: `measured` is a private operation of RSA by PRIVATE, or a product of the generator of CURVE by TABLE.
 * With TEST: the library's own test of these. */
#include "bearssl.h"
#ifdef OURS
#include "bearssl_lozenge.h"
#endif

#ifdef TEST
#define main all_tests
#include "test_crypto.c"
#undef main

/* What takes a kernel's place. */
void nothing(void) { }

int main(void)
{
#if defined(PRIVATE)
	test_RSA_core("RSA", PUBLIC, PRIVATE);
#else
	if (CURVE == BR_EC_curve25519)
		test_EC_c25519("X25519", &TABLE);
	else
		test_EC_KAT("points", &TABLE, (uint32_t)1 << CURVE);
#endif
	return 0;
}
#elif defined(PRIVATE)
enum { PRIME = 64 };

struct numbers {
	unsigned char x[2 * PRIME], p[PRIME], q[PRIME], dp[PRIME], dq[PRIME], iq[PRIME];
};

void measured(struct numbers *of)
{
	br_rsa_private_key key = {
		16 * PRIME, of->p, PRIME, of->q, PRIME, of->dp, PRIME, of->dq, PRIME, of->iq, PRIME,
	};
	PRIVATE(of->x, &key);
}
#else
struct numbers {
	unsigned char point[POINT_BYTES], scalar[SCALAR_BYTES];
};

void measured(struct numbers *of)
{
	size_t length;
	const unsigned char *generator = TABLE.generator(CURVE, &length);

	for (size_t i = 0; i < POINT_BYTES; i++)
		of->point[i] = generator[i];
	TABLE.mul(of->point, POINT_BYTES, of->scalar, SCALAR_BYTES, CURVE);
}
#endif
