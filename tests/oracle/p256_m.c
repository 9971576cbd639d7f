/* p256-m as it is measured: one operation a call, on numbers that the one before left. */
#include <string.h>
#include "p256-m.h"
#include "psa/crypto.h"

struct numbers {
	uint32_t operation;
	int32_t result;
	uint8_t priv[32], pub[64], secret[32], sig[64], hash[32];
};

/* The same bytes at each call, as nothing is kept between calls. */
psa_status_t psa_generate_random(uint8_t *output, size_t length)
{
	for (size_t i = 0; i < length; i++)
		output[i] = (uint8_t)(i * i * 37 + 101 * i + 59);
	return PSA_SUCCESS;
}

void mbedtls_platform_zeroize(void *bytes, size_t length)
{
	volatile uint8_t *each = bytes;

	while (length-- > 0)
		*each++ = 0;
}

void measured(struct numbers *of)
{
	switch (of->operation) {
	case 0:
		of->result = p256_gen_keypair(of->priv, of->pub);
		break;
	case 1:
		of->result = p256_ecdh_shared_secret(of->secret, of->priv, of->pub);
		break;
	case 2:
		of->result = p256_ecdsa_sign(of->sig, of->priv, of->hash, sizeof of->hash);
		break;
	case 3:
		of->result = p256_ecdsa_verify(of->sig, of->pub, of->hash, sizeof of->hash);
		break;
	case 4:
		of->result = p256_public_from_private(of->pub, of->priv);
		break;
	default:
		/* A short hash. */
		of->result = p256_ecdsa_sign(of->sig, of->priv, of->hash, 20);
	}
}
