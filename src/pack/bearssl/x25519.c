#include <string.h>
#include "bearssl_lozenge.h"
#include "x25519.h"

enum { BYTES = 32 };

/* u = 9. */
static const unsigned char base[BYTES] = {9};

/* What scalars are below: the order itself has no use here, and the library's own tables say the same. */
static const unsigned char bound[BYTES] = {
	0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};

static const unsigned char *generator(int curve, size_t *length)
{
	(void)curve;
	*length = BYTES;
	return base;
}

static const unsigned char *order(int curve, size_t *length)
{
	(void)curve;
	*length = BYTES;
	return bound;
}

static size_t offset_of_x(int curve, size_t *length)
{
	(void)curve;
	*length = BYTES;
	return 0;
}

/* point = scalar point; bytes, the lowest first. */
static uint32_t multiply(unsigned char *point, size_t length, const unsigned char *scalar, size_t scalar_length, int curve)
{
	unsigned char whole[BYTES] = {0};

	(void)curve;
	if (length != BYTES || scalar_length > BYTES)
		return 0;
	memcpy(whole, scalar, scalar_length);
	x25519(point, whole, point);
	memset(whole, 0, sizeof whole);
	return 1;
}

static size_t multiply_base(unsigned char *point, const unsigned char *scalar, size_t scalar_length, int curve)
{
	memcpy(point, base, BYTES);
	return multiply(point, BYTES, scalar, scalar_length, curve) ? BYTES : 0;
}

/* A sum of two products is for signatures, which this form of the curve has none of. */
static uint32_t multiply_and_add(unsigned char *a, const unsigned char *b, size_t length, const unsigned char *x, size_t xlen,
	const unsigned char *y, size_t ylen, int curve)
{
	(void)a, (void)b, (void)length, (void)x, (void)xlen, (void)y, (void)ylen, (void)curve;
	return 0;
}

const br_ec_impl x25519_bearssl = {
	(uint32_t)1 << BR_EC_curve25519,
	generator,
	order,
	offset_of_x,
	multiply,
	multiply_base,
	multiply_and_add,
};
