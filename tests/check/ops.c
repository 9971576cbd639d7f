/* What else people write in C: squares, halves, other sizes, sums. LIMB, WIDE, BITS and N as in mul.c. */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t __attribute__((mode(SI)));
typedef unsigned long long uint64_t;

struct columns { LIMB c0, c1, c2; };

/* c += p */
static inline void gather(struct columns *c, WIDE p)
{
    WIDE s = (WIDE)c->c0 + (LIMB)p;
    c->c0 = (LIMB)s;
    s = (WIDE)c->c1 + (LIMB)(p >> BITS) + (LIMB)(s >> BITS);
    c->c1 = (LIMB)s;
    c->c2 += (LIMB)(s >> BITS);
}

/* The lowest word of c, which moves on by one. */
static inline LIMB next(struct columns *c)
{
    LIMB low = c->c0;
    c->c0 = c->c1;
    c->c1 = c->c2;
    c->c2 = 0;
    return low;
}

/* Column by column; products off the diagonal are added twice. */
void square(LIMB *r, const LIMB *a)
{
    struct columns c = {0, 0, 0};
    for (int k = 0; k < 2 * N - 1; k++) {
        for (int i = k < N ? 0 : k - N + 1; 2 * i <= k; i++) {
            WIDE p = (WIDE)a[i] * a[k - i];
            if (2 * i < k)
                gather(&c, p);
            gather(&c, p);
        }
        r[k] = next(&c);
    }
    r[2 * N - 1] = next(&c);
}

/* The same for a length that the caller says. */
void square_n(LIMB *r, const LIMB *a, int n)
{
    struct columns c = {0, 0, 0};
    for (int k = 0; k < 2 * n - 1; k++) {
        for (int i = k < n ? 0 : k - n + 1; 2 * i <= k; i++) {
            WIDE p = (WIDE)a[i] * a[k - i];
            if (2 * i < k)
                gather(&c, p);
            gather(&c, p);
        }
        r[k] = next(&c);
    }
    r[2 * n - 1] = next(&c);
}

/* The same, and the product itself is doubled. */
void square_doubled(LIMB *r, const LIMB *a)
{
    struct columns c = {0, 0, 0};
    for (int k = 0; k < 2 * N - 1; k++) {
        for (int i = k < N ? 0 : k - N + 1; 2 * i <= k; i++) {
            WIDE p = (WIDE)a[i] * a[k - i];
            if (2 * i < k) {
                c.c2 += (LIMB)(p >> (2 * BITS - 1));
                p *= 2;
            }
            gather(&c, p);
        }
        r[k] = next(&c);
    }
    r[2 * N - 1] = next(&c);
}

/* The products off the diagonal row by row, all of them doubled, then the squares. */
void square_rows(LIMB *r, const LIMB *a)
{
    LIMB top = 0;
    for (int i = 0; i < 2 * N; i++)
        r[i] = 0;
    for (int i = 0; i < N - 1; i++) {
        LIMB c = 0;
        for (int j = i + 1; j < N; j++) {
            WIDE t = (WIDE)a[i] * a[j] + r[i + j] + c;
            r[i + j] = (LIMB)t;
            c = (LIMB)(t >> BITS);
        }
        r[i + N] = c;
    }
    for (int i = 0; i < 2 * N; i++) {
        LIMB x = r[i];
        r[i] = (LIMB)(x << 1) | top;
        top = x >> (BITS - 1);
    }
    LIMB c = 0;
    for (int i = 0; i < N; i++) {
        WIDE p = (WIDE)a[i] * a[i], t = (WIDE)r[2 * i] + (LIMB)p + c;
        r[2 * i] = (LIMB)t;
        t = (WIDE)r[2 * i + 1] + (LIMB)(p >> BITS) + (LIMB)(t >> BITS);
        r[2 * i + 1] = (LIMB)t;
        c = (LIMB)(t >> BITS);
    }
}

/* Rows that end with the last word. */
void low(LIMB *r, const LIMB *a, const LIMB *b)
{
    for (int i = 0; i < N; i++)
        r[i] = 0;
    for (int i = 0; i < N; i++) {
        LIMB c = 0;
        for (int j = 0; i + j < N; j++) {
            WIDE t = (WIDE)a[j] * b[i] + r[i + j] + c;
            r[i + j] = (LIMB)t;
            c = (LIMB)(t >> BITS);
        }
    }
}

/* All columns, of which the upper half is written. */
void high(LIMB *r, const LIMB *a, const LIMB *b)
{
    struct columns c = {0, 0, 0};
    for (int k = 0; k < 2 * N - 1; k++) {
        for (int i = k < N ? 0 : k - N + 1; i <= k && i < N; i++)
            gather(&c, (WIDE)a[i] * b[k - i]);
        LIMB word = next(&c);
        if (k >= N)
            r[k - N] = word;
    }
    r[N - 1] = next(&c);
}

/* N words by 2. */
void oblong(LIMB *r, const LIMB *a, const LIMB *b)
{
    for (int i = 0; i < N; i++)
        r[i] = 0;
    for (int i = 0; i < 2; i++) {
        LIMB c = 0;
        for (int j = 0; j < N; j++) {
            WIDE t = (WIDE)a[j] * b[i] + r[i + j] + c;
            r[i + j] = (LIMB)t;
            c = (LIMB)(t >> BITS);
        }
        r[i + N] = c;
    }
}

/* The carry in the upper half of a double word. */
LIMB add(LIMB *r, const LIMB *a, const LIMB *b)
{
    WIDE t = 0;
    for (int i = 0; i < N; i++) {
        t += (WIDE)a[i] + b[i];
        r[i] = (LIMB)t;
        t >>= BITS;
    }
    return (LIMB)t;
}

/* The carry by comparison, for a length that the caller says. */
LIMB add_n(LIMB *r, const LIMB *a, const LIMB *b, unsigned n)
{
    LIMB c = 0;
    for (unsigned i = 0; i < n; i++) {
        LIMB s = a[i] + c;
        c = s < c;
        s += b[i];
        c += s < b[i];
        r[i] = s;
    }
    return c;
}

LIMB sub(LIMB *r, const LIMB *a, const LIMB *b)
{
    LIMB c = 0;
    for (int i = 0; i < N; i++) {
        WIDE t = (WIDE)a[i] - b[i] - c;
        r[i] = (LIMB)t;
        c = (LIMB)(t >> BITS) & 1;
    }
    return c;
}

LIMB sub_n(LIMB *r, const LIMB *a, const LIMB *b, unsigned n)
{
    LIMB c = 0;
    for (unsigned i = 0; i < n; i++) {
        LIMB x = a[i], y = b[i], d = x - y;
        r[i] = d - c;
        c = (LIMB)((x < y) | (d < c));
    }
    return c;
}

/* Where the sum is what was added to, the carry stays as it is. */
LIMB add_stays(LIMB *r, const LIMB *a, const LIMB *b, int n)
{
    LIMB c = 0;
    for (int i = 0; i < n; i++) {
        LIMB s = a[i] + b[i] + c;
        if (s != a[i])
            c = s < a[i];
        r[i] = s;
    }
    return c;
}

LIMB sub_stays(LIMB *r, const LIMB *a, const LIMB *b, int n)
{
    LIMB c = 0;
    for (int i = 0; i < n; i++) {
        LIMB d = a[i] - b[i] - c;
        if (d != a[i])
            c = d > a[i];
        r[i] = d;
    }
    return c;
}

/* The carry is forgotten where it should stay. */
LIMB add_forgets(LIMB *r, const LIMB *a, const LIMB *b, int n)
{
    LIMB c = 0;
    for (int i = 0; i < n; i++) {
        LIMB s = a[i] + b[i] + c;
        c = s != a[i] && s < a[i];
        r[i] = s;
    }
    return c;
}

/* Right words, but the carry says 0. */
LIMB add_silent(LIMB *r, const LIMB *a, const LIMB *b)
{
    add(r, a, b);
    return 0;
}

/* A borrow of all ones where others return 1. */
LIMB sub_mask(LIMB *r, const LIMB *a, const LIMB *b)
{
    return (LIMB)-sub(r, a, b);
}

/* The carry into the last word is lost. */
LIMB add_lost(LIMB *r, const LIMB *a, const LIMB *b)
{
    LIMB c = 0;
    for (int i = 0; i < N; i++) {
        WIDE t = (WIDE)a[i] + b[i] + (i == N - 1 ? 0 : c);
        r[i] = (LIMB)t;
        c = (LIMB)(t >> BITS);
    }
    return c;
}

/* A square whose products off the diagonal are not doubled in one column. */
void square_wrong(LIMB *r, const LIMB *a)
{
    struct columns c = {0, 0, 0};
    for (int k = 0; k < 2 * N - 1; k++) {
        for (int i = k < N ? 0 : k - N + 1; 2 * i <= k; i++) {
            WIDE p = (WIDE)a[i] * a[k - i];
            if (2 * i < k && k != N)
                gather(&c, p);
            gather(&c, p);
        }
        r[k] = next(&c);
    }
    r[2 * N - 1] = next(&c);
}
