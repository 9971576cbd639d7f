/* Limbs of a number, bytes of a coordinate. */
enum { LIMBS = COUNT, LIMB = 4, BYTES = (BITS + 7) / 8, WINDOW = 4 };

/* The prime, the order, and b of y^2 = x^3 - 3 x + b. */
static const unsigned char prime[BYTES] = {PRIME};
static const unsigned char group_order[BYTES] = {ORDER};
static const unsigned char curve_b[BYTES] = {B};

/* x and y of the generator. */
static const unsigned char base[2 * BYTES] = {BASE
};

#define mul PREFIX_mul
#define add PREFIX_add
#define sub PREFIX_sub
#define sqr PREFIX_sqr

/* x / z and y / z; where z is 0 and y is not, the neutral element. */
struct point {
	uint32_t x[LIMBS], y[LIMBS], z[LIMBS];
};

/* The number of these bytes, the highest first. */
static void decode(uint32_t *r, const unsigned char *bytes)
{
	size_t i;

	memset(r, 0, LIMB * LIMBS);
	for (i = 0; i < BYTES; i++)
		r[i / LIMB] |= (uint32_t)bytes[BYTES - 1 - i] << 8 * (i % LIMB);
}

static void encode(unsigned char *bytes, const uint32_t *a)
{
	size_t i;

	for (i = 0; i < BYTES; i++)
		bytes[BYTES - 1 - i] = (unsigned char)(a[i / LIMB] >> 8 * (i % LIMB));
}

/* 1 if a = b. */
static uint32_t equal(const uint32_t *a, const uint32_t *b)
{
	uint32_t differs = 0;
	size_t i;

	for (i = 0; i < LIMBS; i++)
		differs |= a[i] ^ b[i];
	return 1 ^ (differs | -differs) >> 31;
}

/* 1 if a < m, whose bytes are given. */
static uint32_t less(const uint32_t *a, const unsigned char *m)
{
	uint32_t b[LIMBS], borrow = 0;
	size_t i;

	decode(b, m);
	for (i = 0; i < LIMBS; i++)
		borrow = (uint32_t)(((uint64_t)a[i] - b[i] - borrow) >> 63);
	return borrow;
}

/* r = a^(m - 2), the inverse of a modulo m or 0, by products of the kind that `multiply` and `square` make; m is given in bytes, has BITS
 * bits, and its low limb is above 1. */
static void inverse(uint32_t *r, const uint32_t *a, const unsigned char *m,
	void (*multiply)(uint32_t *r, const uint32_t *a, const uint32_t *b), void (*square)(uint32_t *r, const uint32_t *a))
{
	uint32_t e[LIMBS], x[LIMBS];
	size_t i;

	decode(e, m);
	e[0] -= 2;
	memcpy(x, a, sizeof x);
	for (i = BITS - 1; i-- > 0;) {
		square(x, x);
		if (e[i / 32] >> i % 32 & 1)
			multiply(x, x, a);
	}
	memcpy(r, x, sizeof x);
}

/* r = 3 a; r is not a. */
static void thrice(uint32_t *r, const uint32_t *a)
{
	add(r, a, a);
	add(r, r, a);
}

/* Of a sum, or of a double: xx = x x', and so on, and xy = x y' + x' y. */
struct terms {
	uint32_t xx[LIMBS], yy[LIMBS], zz[LIMBS], xy[LIMBS], xz[LIMBS], yz[LIMBS];
};

/* The complete addition of Renes, Costello and Batina (2016), for a = -3. With
 *   u = 3 (xz - b zz),  v = 3 (b xz - 3 zz - xx),  w = 3 (xx - zz):
 *   X = xy (yy + u) - yz v,  Y = (yy + u) (yy - u) + w v,  Z = yz (yy - u) + xy w.
 * Of a double, Z = 4 yy yz. */
static void combine(struct point *r, struct terms *t, int is_double)
{
	uint32_t b[LIMBS], u[LIMBS], v[LIMBS], w[LIMBS], s[LIMBS];

	decode(b, curve_b);
	mul(s, b, t->zz);
	sub(s, t->xz, s);
	thrice(u, s);
	thrice(s, t->zz);
	mul(v, b, t->xz);
	sub(v, v, s);
	sub(v, v, t->xx);
	thrice(w, v);
	memcpy(v, w, sizeof v);
	sub(t->xx, t->xx, t->zz);
	thrice(w, t->xx);
	add(s, t->yy, u);
	sub(u, t->yy, u);
	mul(r->x, t->xy, s);
	mul(r->y, s, u);
	mul(s, t->yz, v);
	sub(r->x, r->x, s);
	mul(s, w, v);
	add(r->y, r->y, s);
	if (is_double) {
		mul(s, t->yy, t->yz);
		add(u, s, s);
		add(r->z, u, u);
	} else {
		mul(s, t->yz, u);
		mul(r->z, t->xy, w);
		add(r->z, r->z, s);
	}
}

/* r = a b' + a' b of numbers with the products aa' and bb': (a + b) (a' + b') - aa' - bb'. */
static void cross(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *a2, const uint32_t *b2,
	const uint32_t *aa, const uint32_t *bb)
{
	uint32_t s[LIMBS];

	add(r, a, b);
	add(s, a2, b2);
	mul(r, r, s);
	sub(r, r, aa);
	sub(r, r, bb);
}

static void add_points(struct point *r, const struct point *p, const struct point *q)
{
	struct terms t;

	mul(t.xx, p->x, q->x);
	mul(t.yy, p->y, q->y);
	mul(t.zz, p->z, q->z);
	cross(t.xy, p->x, p->y, q->x, q->y, t.xx, t.yy);
	cross(t.xz, p->x, p->z, q->x, q->z, t.xx, t.zz);
	cross(t.yz, p->y, p->z, q->y, q->z, t.yy, t.zz);
	combine(r, &t, 0);
}

static void double_point(struct point *p)
{
	struct terms t;
	uint32_t s[LIMBS];

	sqr(t.xx, p->x);
	sqr(t.yy, p->y);
	sqr(t.zz, p->z);
	mul(s, p->x, p->y);
	add(t.xy, s, s);
	mul(s, p->x, p->z);
	add(t.xz, s, s);
	mul(s, p->y, p->z);
	add(t.yz, s, s);
	combine(p, &t, 1);
}

/* p = scalar p; neither time nor addresses tell anything of the scalar's bytes, which are the highest first. */
static void multiply(struct point *p, const unsigned char *scalar, size_t length)
{
	struct point table[1 << WINDOW], q;
	size_t i, j, k;

	memset(&table[0], 0, sizeof table[0]);
	table[0].y[0] = 1;
	table[1] = *p;
	for (i = 2; i < 1 << WINDOW; i++)
		add_points(&table[i], &table[i - 1], p);
	*p = table[0];
	for (i = 0; i < 2 * length; i++) {
		uint32_t digit = scalar[i / 2] >> (i % 2 ? 0 : 4) & 15;
		for (j = 0; j < WINDOW; j++)
			double_point(p);
		memset(&q, 0, sizeof q);
		for (j = 0; j < 1 << WINDOW; j++) {
			uint32_t mask = -((((uint32_t)j ^ digit) - 1) >> 31);
			for (k = 0; k < LIMBS; k++) {
				q.x[k] |= table[j].x[k] & mask;
				q.y[k] |= table[j].y[k] & mask;
				q.z[k] |= table[j].z[k] & mask;
			}
		}
		add_points(p, p, &q);
	}
}

/* 1 if these bytes are x and y of a point of the curve. */
static uint32_t decode_point(struct point *p, const unsigned char *bytes)
{
	uint32_t s[LIMBS], t[LIMBS];

	decode(p->x, bytes);
	decode(p->y, bytes + BYTES);
	memset(p->z, 0, sizeof p->z);
	p->z[0] = 1;
	if (!(less(p->x, prime) & less(p->y, prime)))
		return 0;
	sqr(s, p->x);
	mul(s, s, p->x);
	thrice(t, p->x);
	sub(s, s, t);
	decode(t, curve_b);
	add(s, s, t);
	sqr(t, p->y);
	return equal(s, t);
}

/* 1 if it is not the neutral element, of which bytes are made that are no point. */
static uint32_t encode_point(unsigned char *bytes, const struct point *p)
{
	static const uint32_t zero[LIMBS];
	uint32_t s[LIMBS], t[LIMBS];

	inverse(s, p->z, prime, mul, sqr);
	mul(t, p->x, s);
	encode(bytes, t);
	mul(t, p->y, s);
	encode(bytes + BYTES, t);
	return 1 ^ equal(p->z, zero);
}
