
/* A point in bytes: 4, x and y. */
enum { POINT = 1 + 2 * BYTES };

/* 1 if these bytes are a point of the curve. */
static uint32_t is_point(struct point *p, const unsigned char *bytes, size_t length)
{
	return length == POINT && bytes[0] == 4 && decode_point(p, bytes + 1);
}

static const unsigned char *generator(int curve, size_t *length)
{
	static const unsigned char point[POINT] = {4,BASE
	};

	(void)curve;
	*length = POINT;
	return point;
}

static const unsigned char *order(int curve, size_t *length)
{
	(void)curve;
	*length = BYTES;
	return group_order;
}

static size_t offset_of_x(int curve, size_t *length)
{
	(void)curve;
	*length = BYTES;
	return 1;
}

static uint32_t multiply_bytes(unsigned char *point, size_t length, const unsigned char *scalar, size_t scalar_length, int curve)
{
	struct point p;

	(void)curve;
	if (!is_point(&p, point, length))
		return 0;
	multiply(&p, scalar, scalar_length);
	return encode_point(point + 1, &p);
}

static size_t multiply_base(unsigned char *point, const unsigned char *scalar, size_t scalar_length, int curve)
{
	size_t length;

	memcpy(point, generator(curve, &length), POINT);
	return multiply_bytes(point, POINT, scalar, scalar_length, curve) ? POINT : 0;
}

static uint32_t multiply_and_add(unsigned char *a, const unsigned char *b, size_t length, const unsigned char *x, size_t xlen,
	const unsigned char *y, size_t ylen, int curve)
{
	struct point p, q;

	(void)curve;
	if (!is_point(&p, a, length) || !(b ? is_point(&q, b, length) : decode_point(&q, base)))
		return 0;
	multiply(&p, x, xlen);
	multiply(&q, y, ylen);
	add_points(&p, &p, &q);
	return encode_point(a + 1, &p);
}

const br_ec_impl PREFIX_bearssl = {
	(uint32_t)1 << BR_EC_NAME,
	generator,
	order,
	offset_of_x,
	multiply_bytes,
	multiply_base,
	multiply_and_add,
};
