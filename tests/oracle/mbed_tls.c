/* Mbed TLS as it is measured: X = A^E mod N of numbers of LIMBS limbs, A and X times 2^(32 LIMBS). Without LIMBS: its own test of
 * RSA. */
#ifdef LIMBS
#include "common.h"
#include "bignum_core.h"

struct numbers {
	mbedtls_mpi_uint x[LIMBS], a[LIMBS], n[LIMBS], e[LIMBS], rr[LIMBS], t[ROOM];
};

void power(struct numbers *of)
{
	mbedtls_mpi_core_exp_mod(of->x, of->a, of->n, LIMBS, of->e, LIMBS, of->rr, of->t);
}
#else
#include "mbedtls/rsa.h"

/* A kernel that does nothing. */
#ifdef BROKEN
void BROKEN(void) { }
#endif

int main(void)
{
	return mbedtls_rsa_self_test(1);
}
#endif
