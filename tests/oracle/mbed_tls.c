/* Mbed TLS as it is measured, of numbers of LIMBS limbs: X = A^E mod N by mbedtls_mpi_core_exp_mod, A and X times 2^(32 LIMBS); or, with
 * LOOP, by mbedtls_mpi_exp_mod, as RSA does. Without LIMBS: its own test of RSA. */
#ifdef LIMBS
#include "common.h"
#include "bignum_core.h"

struct numbers {
	mbedtls_mpi_uint x[LIMBS], a[LIMBS], n[LIMBS], e[LIMBS], rr[LIMBS], t[ROOM];
};

#ifdef LOOP
#include <string.h>
#include "mbedtls/bignum.h"

/* Where the next memory comes from, as nothing is kept between calls: a register that the compiler leaves alone. */
#ifdef __arm__
register mbedtls_mpi_uint *next __asm__("r9");
#else
register mbedtls_mpi_uint *next __asm__("tp");
#endif

void *given(size_t count, size_t size)
{
	size_t limbs = (count * size + sizeof *next - 1) / sizeof *next;
	mbedtls_mpi_uint *memory = next;

	next += limbs;
	memset(memory, 0, limbs * sizeof *memory);
	return memory;
}

void taken_back(void *memory)
{
	(void)memory;
}

void power(struct numbers *of)
{
	mbedtls_mpi_uint *before = next;
	mbedtls_mpi x, a = {of->a, 1, LIMBS}, n = {of->n, 1, LIMBS}, e = {of->e, 1, LIMBS}, rr = {of->rr, 1, LIMBS};

	next = of->t;
	mbedtls_mpi_init(&x);
	if (mbedtls_mpi_exp_mod(&x, &a, &e, &n, &rr) == 0)
		memcpy(of->x, x.p, sizeof of->x);
	next = before;
}
#else
void power(struct numbers *of)
{
	mbedtls_mpi_core_exp_mod(of->x, of->a, of->n, LIMBS, of->e, LIMBS, of->rr, of->t);
}
#endif
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
