
/* As Mbed TLS has it; who has another source of random bytes defines LOZENGE_OWN_RANDOM and this function. */
#ifndef LOZENGE_OWN_RANDOM
int p256_generate_random(uint8_t *output, unsigned output_size)
{
	return psa_generate_random(output, output_size) == PSA_SUCCESS ? P256_SUCCESS : P256_RANDOM_FAILED;
}
#endif

#define order_mul PREFIX_order_mul
#define order_add PREFIX_order_add
#define order_sqr PREFIX_order_sqr
#define order_to PREFIX_order_to

/* Clears a secret, also where the compiler sees that nobody reads it any more. */
static void clear(volatile void *secret, size_t length)
{
	volatile unsigned char *bytes = secret;

	while (length-- > 0)
		*bytes++ = 0;
}

/* A number from 1 to n - 1, n the order: 1 if it is one. */
static uint32_t decode_scalar(uint32_t *s, const uint8_t *bytes)
{
	static const uint32_t zero[LIMBS];

	decode(s, bytes);
	return less(s, group_order) & (1 ^ equal(s, zero));
}

/* a mod n of a < 2^256 < 2 n. */
static void reduce(uint32_t *a)
{
	uint32_t n[LIMBS], mask = less(a, group_order) - 1, borrow = 0;
	size_t i;

	decode(n, group_order);
	for (i = 0; i < LIMBS; i++) {
		uint64_t d = (uint64_t)a[i] - (n[i] & mask) - borrow;
		a[i] = (uint32_t)d;
		borrow = (uint32_t)(d >> 63);
	}
}

/* The first 256 bits of a hash, modulo n (SEC 1, section 4.1.3). */
static void from_hash(uint32_t *e, const uint8_t *hash, size_t length)
{
	uint8_t bytes[BYTES] = {0};
	size_t used = length < BYTES ? length : BYTES;

	memcpy(bytes + BYTES - used, hash, used);
	decode(e, bytes);
	reduce(e);
}

/* x and y of the product of the generator. */
static void multiply_base(uint8_t *bytes, const uint8_t *scalar)
{
	struct point p;

	decode_point(&p, base);
	multiply(&p, scalar, BYTES);
	encode_point(bytes, &p);
}

int p256_gen_keypair(uint8_t priv[32], uint8_t pub[64])
{
	uint32_t s[LIMBS], found = 0;
	unsigned tries;

	/* A number of 256 bits is none with a probability of 2^-32. */
	for (tries = 0; tries < 4 && !found; tries++) {
		if (p256_generate_random(priv, BYTES) != 0)
			return P256_RANDOM_FAILED;
		found = decode_scalar(s, priv);
	}
	clear(s, sizeof s);
	if (!found)
		return P256_RANDOM_FAILED;
	multiply_base(pub, priv);
	return P256_SUCCESS;
}

int p256_public_from_private(uint8_t pub[64], const uint8_t priv[32])
{
	if (p256_validate_privkey(priv) != P256_SUCCESS)
		return P256_INVALID_PRIVKEY;
	multiply_base(pub, priv);
	return P256_SUCCESS;
}

int p256_ecdh_shared_secret(uint8_t secret[32], const uint8_t priv[32], const uint8_t pub[64])
{
	struct point p;
	uint8_t bytes[2 * BYTES];

	if (p256_validate_privkey(priv) != P256_SUCCESS)
		return P256_INVALID_PRIVKEY;
	if (!decode_point(&p, pub))
		return P256_INVALID_PUBKEY;
	multiply(&p, priv, BYTES);
	encode_point(bytes, &p);
	memcpy(secret, bytes, BYTES);
	clear(bytes, sizeof bytes);
	clear(&p, sizeof p);
	return P256_SUCCESS;
}

/* s = (e + r d) / k, r = x of k G. */
int p256_ecdsa_sign(uint8_t sig[64], const uint8_t priv[32], const uint8_t *hash, size_t hlen)
{
	static const uint32_t zero[LIMBS];
	uint32_t k[LIMBS], d[LIMBS], e[LIMBS], r[LIMBS];
	uint8_t nonce[BYTES], point[2 * BYTES];
	int made = p256_gen_keypair(nonce, point);

	if (made == P256_SUCCESS && !decode_scalar(d, priv))
		made = P256_INVALID_PRIVKEY;
	if (made == P256_SUCCESS) {
		decode(r, point);
		reduce(r);
		from_hash(e, hash, hlen);
		encode(sig, r);
		/* Products with a number times 2^256 are as they would be without. */
		order_to(d, d);
		order_mul(d, d, r);
		order_add(e, e, d);
		decode(k, nonce);
		order_to(k, k);
		inverse(k, k, group_order, order_mul, order_sqr);
		order_mul(e, e, k);
		encode(sig + BYTES, e);
		if (equal(r, zero) | equal(e, zero))
			made = P256_RANDOM_FAILED;
	}
	clear(nonce, sizeof nonce);
	clear(k, sizeof k);
	clear(d, sizeof d);
	return made;
}

/* r = x of (e / s) G + (r / s) Q. */
int p256_ecdsa_verify(const uint8_t sig[64], const uint8_t pub[64], const uint8_t *hash, size_t hlen)
{
	uint32_t r[LIMBS], s[LIMBS], e[LIMBS];
	uint8_t first[BYTES], second[BYTES], point[2 * BYTES];
	struct point p, q;

	if (!(decode_scalar(r, sig) & decode_scalar(s, sig + BYTES)))
		return P256_INVALID_SIGNATURE;
	if (!decode_point(&q, pub))
		return P256_INVALID_PUBKEY;
	order_to(s, s);
	inverse(s, s, group_order, order_mul, order_sqr);
	from_hash(e, hash, hlen);
	order_mul(e, e, s);
	encode(first, e);
	order_mul(e, r, s);
	encode(second, e);
	decode_point(&p, base);
	multiply(&p, first, BYTES);
	multiply(&q, second, BYTES);
	add_points(&p, &p, &q);
	if (!encode_point(point, &p))
		return P256_INVALID_SIGNATURE;
	decode(e, point);
	reduce(e);
	return equal(e, r) ? P256_SUCCESS : P256_INVALID_SIGNATURE;
}

int p256_validate_pubkey(const uint8_t pub[64])
{
	struct point p;

	return decode_point(&p, pub) ? P256_SUCCESS : P256_INVALID_PUBKEY;
}

int p256_validate_privkey(const uint8_t priv[32])
{
	uint32_t s[LIMBS], valid = decode_scalar(s, priv);

	clear(s, sizeof s);
	return valid ? P256_SUCCESS : P256_INVALID_PRIVKEY;
}
