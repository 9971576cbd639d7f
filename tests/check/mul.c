/* Multiplication as people write it in C: LIMB is a word of the operands, WIDE one of twice its
 * bits, BITS and N their bits and how many there are. */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t __attribute__((mode(SI)));
typedef unsigned long long uint64_t;

/* Row by row, the carry in the upper half of a double word. */
void school(LIMB *r, const LIMB *a, const LIMB *b)
{
    for (int i = 0; i < N; i++)
        r[i] = 0;
    for (int i = 0; i < N; i++) {
        WIDE c = 0;
        for (int j = 0; j < N; j++) {
            c += (WIDE)a[j] * b[i] + r[i + j];
            r[i + j] = (LIMB)c;
            c >>= BITS;
        }
        r[i + N] = (LIMB)c;
    }
}

/* The same for a length that the caller says. */
void school_n(LIMB *r, const LIMB *a, const LIMB *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        r[i] = 0;
    for (unsigned i = 0; i < n; i++) {
        LIMB c = 0;
        for (unsigned j = 0; j < n; j++) {
            WIDE t = (WIDE)a[j] * b[i] + r[i + j] + c;
            r[i + j] = (LIMB)t;
            c = t >> BITS;
        }
        r[i + n] = c;
    }
}

/* Row by row, up to the addresses where the operands end. */
void ends_n(LIMB *r, const LIMB *a, const LIMB *b, unsigned n)
{
    for (LIMB *p = r; p < r + 2 * n; p++)
        *p = 0;
    for (const LIMB *y = b; y < b + n; y++, r++) {
        LIMB c = 0;
        LIMB *p = r;
        for (const LIMB *x = a; x < a + n; x++) {
            WIDE t = (WIDE)*x * *y + *p + c;
            *p++ = (LIMB)t;
            c = t >> BITS;
        }
        r[n] = c;
    }
}

/* Column by column, in three words. */
void comba(LIMB *r, const LIMB *a, const LIMB *b)
{
    LIMB c0 = 0, c1 = 0, c2 = 0;
    for (int k = 0; k < 2 * N - 1; k++) {
        int lo = k < N ? 0 : k - N + 1, hi = k < N ? k : N - 1;
        for (int i = lo; i <= hi; i++) {
            WIDE p = (WIDE)a[i] * b[k - i];
            WIDE s = (WIDE)c0 + (LIMB)p;
            c0 = (LIMB)s;
            s = (WIDE)c1 + (LIMB)(p >> BITS) + (LIMB)(s >> BITS);
            c1 = (LIMB)s;
            c2 += (LIMB)(s >> BITS);
        }
        r[k] = c0;
        c0 = c1;
        c1 = c2;
        c2 = 0;
    }
    r[2 * N - 1] = c0;
}

/* Column by column, for a length that the caller says. */
void comba_n(LIMB *r, const LIMB *a, const LIMB *b, int n)
{
    LIMB c0 = 0, c1 = 0, c2 = 0;
    for (int k = 0; k < 2 * n - 1; k++) {
        int lo = k < n ? 0 : k - n + 1, hi = k < n ? k : n - 1;
        for (int i = lo; i <= hi; i++) {
            WIDE p = (WIDE)a[i] * b[k - i] + c0;
            c0 = (LIMB)p;
            WIDE s = (WIDE)c1 + (LIMB)(p >> BITS);
            c1 = (LIMB)s;
            c2 += (LIMB)(s >> BITS);
        }
        r[k] = c0;
        c0 = c1;
        c1 = c2;
        c2 = 0;
    }
    r[2 * n - 1] = c0;
}

/* A row of a product in a function of its own. */
__attribute__((noinline)) LIMB row(LIMB *r, const LIMB *a, LIMB b)
{
    LIMB c = 0;
    for (int j = 0; j < N; j++) {
        WIDE t = (WIDE)a[j] * b + r[j] + c;
        r[j] = (LIMB)t;
        c = t >> BITS;
    }
    return c;
}

void rows(LIMB *r, const LIMB *a, const LIMB *b)
{
    for (int i = 0; i < N; i++)
        r[i] = 0;
    for (int i = 0; i < N; i++)
        r[i + N] = row(r + i, a, b[i]);
}

/* The carry out of a column's middle word is lost. */
void lost(LIMB *r, const LIMB *a, const LIMB *b)
{
    LIMB c0 = 0, c1 = 0, c2 = 0;
    for (int k = 0; k < 2 * N - 1; k++) {
        int lo = k < N ? 0 : k - N + 1, hi = k < N ? k : N - 1;
        for (int i = lo; i <= hi; i++) {
            WIDE p = (WIDE)a[i] * b[k - i] + c0;
            c0 = (LIMB)p;
            c1 += (LIMB)(p >> BITS);
        }
        r[k] = c0;
        c0 = c1;
        c1 = c2;
        c2 = 0;
    }
    r[2 * N - 1] = c0;
}

/* One carry of one product is lost, as in CVE-2021-4160: almost no operands show it. */
void lost_once(LIMB *r, const LIMB *a, const LIMB *b)
{
    LIMB c0 = 0, c1 = 0, c2 = 0;
    for (int k = 0; k < 2 * N - 1; k++) {
        int lo = k < N ? 0 : k - N + 1, hi = k < N ? k : N - 1;
        for (int i = lo; i <= hi; i++) {
            WIDE p = (WIDE)a[i] * b[k - i] + c0;
            c0 = (LIMB)p;
            WIDE s = (WIDE)c1 + (LIMB)(p >> BITS);
            c1 = (LIMB)s;
            if (k != N || i != 2)
                c2 += (LIMB)(s >> BITS);
        }
        r[k] = c0;
        c0 = c1;
        c1 = c2;
        c2 = 0;
    }
    r[2 * N - 1] = c0;
}

/* Rows whose factor is 0 are left out: right, and not constant time. */
void skips(LIMB *r, const LIMB *a, const LIMB *b)
{
    for (int i = 0; i < 2 * N; i++)
        r[i] = 0;
    for (int i = 0; i < N; i++) {
        LIMB c = 0;
        if (b[i] == 0)
            continue;
        for (int j = 0; j < N; j++) {
            WIDE t = (WIDE)a[j] * b[i] + r[i + j] + c;
            r[i + j] = (LIMB)t;
            c = t >> BITS;
        }
        r[i + N] = c;
    }
}

/* Right wherever the operands lie, but which way it goes depends on that. */
void apart(LIMB *r, const LIMB *a, const LIMB *b)
{
    if (a < b)
        rows(r, a, b);
    else
        rows(r, b, a);
}

/* One word too many is written. */
void beyond(LIMB *r, const LIMB *a, const LIMB *b)
{
    rows(r, a, b);
    r[2 * N] = 0;
}

/* The product is made in memory to work in, which the caller gives, and copied. */
void by_way(LIMB *r, const LIMB *a, const LIMB *b, unsigned n, LIMB *work)
{
    school_n(work, a, b, n);
    for (unsigned i = 0; i < 2 * n; i++)
        r[i] = work[i];
}

/* Behind arguments that nobody reads the operands are on the stack. */
void deep(unsigned long long p, unsigned long long q, LIMB *r, const LIMB *a, const LIMB *b)
{
    (void)p, (void)q;
    rows(r, a, b);
}
