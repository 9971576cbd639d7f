/* Arithmetic modulo a number as people write it in C: LIMB, WIDE, BITS and N as in mul.c. */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t __attribute__((mode(SI)));
typedef unsigned long long uint64_t;

/* Word i of 2^(N BITS) - 17. */
#define M(i) ((LIMB)((i) == 0 ? -17 : -1))

/* The modulus comes back under a mask of the borrow. */
void modsub(LIMB *r, const LIMB *a, const LIMB *b)
{
    LIMB c = 0, k = 0;
    for (int i = 0; i < N; i++) {
        WIDE d = (WIDE)a[i] - b[i] - c;
        r[i] = (LIMB)d;
        c = (LIMB)(d >> BITS) & 1;
    }
    LIMB mask = (LIMB)-c;
    for (int i = 0; i < N; i++) {
        WIDE s = (WIDE)r[i] + (M(i) & mask) + k;
        r[i] = (LIMB)s;
        k = (LIMB)(s >> BITS);
    }
}

/* The same without the mask: what does not borrow is too large. */
void modsub_wrong(LIMB *r, const LIMB *a, const LIMB *b)
{
    LIMB c = 0, k = 0;
    for (int i = 0; i < N; i++) {
        WIDE d = (WIDE)a[i] - b[i] - c;
        r[i] = (LIMB)d;
        c = (LIMB)(d >> BITS) & 1;
    }
    for (int i = 0; i < N; i++) {
        WIDE s = (WIDE)r[i] + M(i) + k;
        r[i] = (LIMB)s;
        k = (LIMB)(s >> BITS);
    }
}

/* CIOS with m' = -1/m. Words of t, and one bit above them. */
static inline __attribute__((always_inline)) void cios(LIMB *t, const LIMB *a, const LIMB *b, const LIMB *m,
                                                       LIMB inverse)
{
    for (int i = 0; i < N + 2; i++)
        t[i] = 0;
    for (int i = 0; i < N; i++) {
        WIDE c = 0;
        for (int j = 0; j < N; j++) {
            c += (WIDE)a[j] * b[i] + t[j];
            t[j] = (LIMB)c;
            c >>= BITS;
        }
        c += t[N];
        t[N] = (LIMB)c;
        t[N + 1] = (LIMB)(c >> BITS);
        LIMB q = (LIMB)(t[0] * inverse);
        c = ((WIDE)q * m[0] + t[0]) >> BITS;
        for (int j = 1; j < N; j++) {
            c += (WIDE)q * m[j] + t[j];
            t[j - 1] = (LIMB)c;
            c >>= BITS;
        }
        c += t[N];
        t[N - 1] = (LIMB)c;
        t[N] = (LIMB)(t[N + 1] + (LIMB)(c >> BITS));
    }
}

/* Below 2^(N BITS): m is taken away if there is a carry. */
static inline __attribute__((always_inline)) void almost(LIMB *r, const LIMB *t, const LIMB *m)
{
    LIMB c = 0;
    LIMB mask = (LIMB)-t[N];
    for (int i = 0; i < N; i++) {
        WIDE d = (WIDE)t[i] - (m[i] & mask) - c;
        r[i] = (LIMB)d;
        c = (LIMB)(d >> BITS) & 1;
    }
}

/* Behind the words of m lies m'. */
void montmul(LIMB *r, const LIMB *a, const LIMB *b, const LIMB *m)
{
    LIMB t[N + 2];
    cios(t, a, b, m, m[N]);
    almost(r, t, m);
}

/* m' is an argument. */
void montmul_word(LIMB *r, const LIMB *a, const LIMB *b, const LIMB *m, LIMB inverse)
{
    LIMB t[N + 2];
    cios(t, a, b, m, inverse);
    almost(r, t, m);
}

/* t - m, and its borrow. */
static inline __attribute__((always_inline)) LIMB less(LIMB *s, const LIMB *t, const LIMB *m)
{
    LIMB c = 0;
    for (int i = 0; i < N; i++) {
        WIDE d = (WIDE)t[i] - m[i] - c;
        s[i] = (LIMB)d;
        c = (LIMB)(d >> BITS) & 1;
    }
    return c;
}

/* s if the bit is set, else t. */
static inline __attribute__((always_inline)) void choose(LIMB *r, const LIMB *s, const LIMB *t, LIMB bit)
{
    LIMB mask = (LIMB)-bit;
    for (int i = 0; i < N; i++)
        r[i] = (LIMB)((s[i] & mask) | (t[i] & ~mask));
}

/* Below m: what is left without m if there is a carry or no borrow. */
void montmul_full(LIMB *r, const LIMB *a, const LIMB *b, const LIMB *m)
{
    LIMB t[N + 2], s[N];
    cios(t, a, b, m, m[N]);
    LIMB c = less(s, t, m);
    choose(r, s, t, t[N] | (c ^ 1));
}

/* A carry and no borrow: too seldom. */
void montmul_both(LIMB *r, const LIMB *a, const LIMB *b, const LIMB *m)
{
    LIMB t[N + 2], s[N];
    cios(t, a, b, m, m[N]);
    LIMB c = less(s, t, m);
    choose(r, s, t, t[N] & (c ^ 1));
}

/* The carry above the words is forgotten. */
void montmul_wrong(LIMB *r, const LIMB *a, const LIMB *b, const LIMB *m)
{
    LIMB t[N + 2];
    cios(t, a, b, m, m[N]);
    for (int i = 0; i < N; i++)
        r[i] = t[i];
}

/* t += x w, of n words in a t of `all` words. */
static inline __attribute__((always_inline)) void row(LIMB *t, unsigned all, const LIMB *x, unsigned n, LIMB w)
{
    WIDE c = 0;
    for (unsigned i = 0; i < all; i++) {
        c += t[i];
        if (i < n)
            c += (WIDE)x[i] * w;
        t[i] = (LIMB)c;
        c >>= BITS;
    }
}

/* Below m, in the outline of a library's core: rows over a window that slides through t, of 2 n + 1 words; what is left
 * without m comes first, and the sum over it where one of carry and borrow is set. */
void montmul_core(LIMB *r, const LIMB *a, const LIMB *b, unsigned nb, const LIMB *m, unsigned n, LIMB inverse, LIMB *t)
{
    for (unsigned i = 0; i < 2 * n + 1; i++)
        t[i] = 0;
    for (unsigned i = 0; i < n; i++, t++) {
        LIMB q = (LIMB)((t[0] + a[i] * b[0]) * inverse);
        row(t, n + 2, b, nb, a[i]);
        row(t, n + 2, m, n, q);
    }
    LIMB c = less(r, t, m);
    choose(r, t, r, t[n] ^ c);
}
