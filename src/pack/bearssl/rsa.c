#include <string.h>
#include "bearssl_lozenge.h"
#include "PREFIX.h"

/* Limbs of the modulus and of its primes. */
enum { WHOLE = COUNT, HALF = WHOLE / 2, LIMB = 4, WINDOW = 4 };

/* Keys of other sizes. */
#ifdef LOZENGE_ONLY
#define OTHER(call) 0
#else
#define OTHER(call) call
#endif

/* r = a b 2^-n mod m and a^2 2^-n mod m; r may be a or b. Behind m lies -m^-1 mod 2^32. */
#define half_mul PREFIX_half_mul
#define half_sqr PREFIX_half_sqr
#define whole_mul PREFIX_whole_mul
#define whole_sqr PREFIX_whole_sqr

/* The number of these bytes, the highest first, modulo 2^(32 limbs). */
static void decode(uint32_t *r, size_t limbs, const unsigned char *bytes, size_t length)
{
	size_t i;

	memset(r, 0, limbs * sizeof *r);
	for (i = 0; i < length && i < LIMB * limbs; i++)
		r[i / LIMB] |= (uint32_t)bytes[length - 1 - i] << 8 * (i % LIMB);
}

static void encode(unsigned char *bytes, size_t length, const uint32_t *a)
{
	size_t i;

	for (i = 0; i < length; i++)
		bytes[length - 1 - i] = (unsigned char)(a[i / LIMB] >> 8 * (i % LIMB));
}

/* A mask: all ones if a < b, else 0. */
static uint32_t less(const uint32_t *a, const uint32_t *b, size_t limbs)
{
	uint32_t borrow = 0;
	size_t i;

	for (i = 0; i < limbs; i++)
		borrow = (uint32_t)(((uint64_t)a[i] - b[i] - borrow) >> 63);
	return -borrow;
}

/* a -= b & mask; the borrow as a mask. */
static uint32_t subtract(uint32_t *a, const uint32_t *b, uint32_t mask, size_t limbs)
{
	uint32_t borrow = 0;
	size_t i;

	for (i = 0; i < limbs; i++) {
		uint64_t d = (uint64_t)a[i] - (b[i] & mask) - borrow;
		a[i] = (uint32_t)d;
		borrow = (uint32_t)(d >> 63);
	}
	return -borrow;
}

/* a += b & mask; the carry as a mask. */
static uint32_t add(uint32_t *a, const uint32_t *b, uint32_t mask, size_t limbs)
{
	uint64_t s = 0;
	size_t i;

	for (i = 0; i < limbs; i++) {
		s += (uint64_t)a[i] + (b[i] & mask);
		a[i] = (uint32_t)s;
		s >>= 32;
	}
	return -(uint32_t)s;
}

/* a mod m of a < 2 m, with the carry of a as a mask. */
static void reduce(uint32_t *a, uint32_t carry, const uint32_t *m, size_t limbs)
{
	subtract(a, m, carry | ~less(a, m, limbs), limbs);
}

/* 2^n mod m = 2^n - m, as the top bit of m is set. */
static void one_of(uint32_t *r, const uint32_t *m, size_t limbs)
{
	memset(r, 0, limbs * sizeof *r);
	subtract(r, m, -(uint32_t)1, limbs);
}

/* 2^(2n) mod m: 2^(n + limbs) by doubling, whose last factor five squares raise to the power of 32. */
static void square_of(uint32_t *r, const uint32_t *m, size_t limbs,
	void (*square)(uint32_t *r, const uint32_t *a, const uint32_t *m))
{
	size_t i;

	one_of(r, m, limbs);
	for (i = 0; i < limbs; i++)
		reduce(r, add(r, r, -(uint32_t)1, limbs), m, limbs);
	for (i = 0; i < 5; i++)
		square(r, r, m);
}

/* An odd number of so many limbs whose top bit is set, and -m^-1 mod 2^32 behind it: m x = 1 modulo 2^3 for x = m, and modulo
 * twice as many bits with x (2 - m x). 0 if it is no such number. */
static int modulus(uint32_t *m, const unsigned char *bytes, size_t length, size_t limbs)
{
	uint32_t x;
	int i;

	for (; length > 0 && *bytes == 0; length--)
		bytes++;
	if (length != LIMB * limbs || bytes[0] < 0x80 || bytes[length - 1] % 2 == 0)
		return 0;
	decode(m, limbs, bytes, length);
	x = m[0];
	for (i = 0; i < 4; i++)
		x *= 2 - m[0] * x;
	m[limbs] = -x;
	return 1;
}

/* The exponent of a prime; 0 if it has more limbs. */
static int exponent(uint32_t *e, const unsigned char *bytes, size_t length)
{
	size_t i;

	for (i = 0; i + LIMB * HALF < length; i++)
		if (bytes[i] != 0)
			return 0;
	decode(e, HALF, bytes, length);
	return 1;
}

/* x = x^e mod m of x times 2^n; time tells nothing of e. */
static void power(uint32_t *x, const uint32_t *e, const uint32_t *m)
{
	uint32_t table[1 << WINDOW][HALF], y[HALF];
	size_t i, j, k;

	one_of(table[0], m, HALF);
	memcpy(table[1], x, sizeof table[1]);
	for (i = 2; i < 1 << WINDOW; i++)
		half_mul(table[i], table[i - 1], x, m);
	memcpy(x, table[0], sizeof table[0]);
	for (i = 32 * HALF / WINDOW; i-- > 0;) {
		uint32_t digit = e[i * WINDOW / 32] >> i * WINDOW % 32 & ((1 << WINDOW) - 1);
		for (j = 0; j < WINDOW; j++)
			half_sqr(x, x, m);
		memset(y, 0, sizeof y);
		for (j = 0; j < 1 << WINDOW; j++) {
			uint32_t mask = -((((uint32_t)j ^ digit) - 1) >> 31);
			for (k = 0; k < HALF; k++)
				y[k] |= table[j][k] & mask;
		}
		half_mul(x, x, y, m);
	}
}

/* r = x^e mod m of x = high 2^n + low: x 2^n = high 2^(2n) + low 2^n. r2 = 2^(2n) mod m. */
static void modulo_prime(uint32_t *r, const uint32_t *x, const uint32_t *e, const uint32_t *m, uint32_t *r2)
{
	static const uint32_t one[HALF] = {1};
	uint32_t low[HALF];

	square_of(r2, m, HALF, half_sqr);
	memcpy(low, x, sizeof low);
	reduce(low, 0, m, HALF);
	half_mul(low, low, r2, m);
	memcpy(r, x + HALF, sizeof low);
	reduce(r, 0, m, HALF);
	half_mul(r, r, r2, m);
	half_mul(r, r, r2, m);
	reduce(r, add(r, low, -(uint32_t)1, HALF), m, HALF);
	power(r, e, m);
	half_mul(r, r, one, m);
}

uint32_t PREFIX_private(unsigned char *x, const br_rsa_private_key *sk)
{
	uint32_t p[HALF + 1], q[HALF + 1], dp[HALF], dq[HALF], h[HALF], t[HALF], r2[HALF], r[WHOLE];
	size_t i, j, length = (sk->n_bitlen + 7) / 8;

	if (!modulus(p, sk->p, sk->plen, HALF) || !modulus(q, sk->q, sk->qlen, HALF)
	    || !exponent(dp, sk->dp, sk->dplen) || !exponent(dq, sk->dq, sk->dqlen))
		return OTHER(br_rsa_i31_private(x, sk));
	decode(r, WHOLE, x, length);
	modulo_prime(t, r, dq, q, r2);
	modulo_prime(h, r, dp, p, r2);
	/* h = (x^dp - x^dq) / q mod p; x^dq < q < 2 p. */
	memset(r, 0, sizeof r);
	memcpy(r, t, sizeof t);
	reduce(t, 0, p, HALF);
	add(h, p, subtract(h, t, -(uint32_t)1, HALF), HALF);
	decode(t, HALF, sk->iq, sk->iqlen);
	reduce(t, 0, p, HALF);
	half_mul(h, h, t, p);
	half_mul(h, h, r2, p);
	/* r = x^dq + h q. */
	for (i = 0; i < HALF; i++) {
		uint32_t carry = 0;
		for (j = 0; j < HALF; j++) {
			uint64_t s = (uint64_t)h[i] * q[j] + r[i + j] + carry;
			r[i + j] = (uint32_t)s;
			carry = (uint32_t)(s >> 32);
		}
		r[i + HALF] = carry;
	}
	encode(x, length, r);
	return 1;
}

/* Bit i of a number of bytes, both the highest first. */
static int bit(const unsigned char *bytes, size_t i)
{
	return bytes[i / 8] >> (7 - i % 8) & 1;
}

uint32_t PREFIX_public(unsigned char *x, size_t xlen, const br_rsa_public_key *pk)
{
	static const uint32_t one[WHOLE] = {1};
	uint32_t m[WHOLE + 1], a[WHOLE], y[WHOLE];
	size_t i;

	if (!modulus(m, pk->n, pk->nlen, WHOLE))
		return OTHER(br_rsa_i31_public(x, xlen, pk));
	decode(a, WHOLE, x, xlen);
	if (xlen != LIMB * WHOLE || !less(a, m, WHOLE))
		return 0;
	square_of(y, m, WHOLE, whole_sqr);
	whole_mul(a, a, y, m);
	one_of(y, m, WHOLE);
	for (i = 0; i < 8 * pk->elen && !bit(pk->e, i); i++)
		continue;
	for (; i < 8 * pk->elen; i++) {
		whole_sqr(y, y, m);
		if (bit(pk->e, i))
			whole_mul(y, y, a, m);
	}
	whole_mul(y, y, one, m);
	encode(x, xlen, y);
	return 1;
}
