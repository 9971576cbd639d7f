/* A word by value, in the shapes of libraries: rows of a product, sums with a carry. LIMB, WIDE, BITS and N as in mul.c. */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t __attribute__((mode(SI)));
typedef unsigned long long uint64_t;
typedef __SIZE_TYPE__ size_t;

/* d += s b of s_len words, the carry through the rest of d; as Mbed TLS's mbedtls_mpi_core_mla is called. */
LIMB core_mla(LIMB *d, size_t d_len, const LIMB *s, size_t s_len, LIMB b)
{
    LIMB c = 0;
    if (d_len < s_len)
        s_len = d_len;
    size_t more = d_len - s_len;
    while (s_len--) {
        WIDE p = (WIDE)*s++ * b + *d + c;
        *d++ = (LIMB)p;
        c = (LIMB)(p >> BITS);
    }
    while (more--) {
        *d += c;
        c = *d++ < c;
    }
    return c;
}

/* As GMP's mpn_addmul_1, mpn_submul_1 and mpn_mul_1 are called. */
LIMB addmul_1(LIMB *rp, const LIMB *up, long n, LIMB v)
{
    LIMB carry = 0;
    do {
        WIDE p = (WIDE)*up++ * v;
        LIMB low = (LIMB)p + carry, r = *rp;
        carry = (LIMB)(p >> BITS) + (low < carry);
        low += r;
        carry += low < r;
        *rp++ = low;
    } while (--n);
    return carry;
}

LIMB submul_1(LIMB *rp, const LIMB *up, long n, LIMB v)
{
    LIMB carry = 0;
    do {
        WIDE p = (WIDE)*up++ * v;
        LIMB low = (LIMB)p + carry, r = *rp;
        carry = (LIMB)(p >> BITS) + (low < carry);
        low = r - low;
        carry += low > r;
        *rp++ = low;
    } while (--n);
    return carry;
}

LIMB mul_1(LIMB *rp, const LIMB *up, long n, LIMB v)
{
    LIMB carry = 0;
    do {
        WIDE p = (WIDE)*up++ * v + carry;
        *rp++ = (LIMB)p;
        carry = (LIMB)(p >> BITS);
    } while (--n);
    return carry;
}

/* As micro-ecc's uECC_vli_add and uECC_vli_sub. */
LIMB vli_add(LIMB *result, const LIMB *left, const LIMB *right, signed char num_words)
{
    LIMB carry = 0;
    for (signed char i = 0; i < num_words; ++i) {
        LIMB sum = left[i] + right[i] + carry;
        if (sum != left[i])
            carry = sum < left[i];
        result[i] = sum;
    }
    return carry;
}

/* As GMP's mpn_add_nc and mpn_sub_nc. */
LIMB add_nc(LIMB *rp, const LIMB *up, const LIMB *vp, long n, LIMB carry)
{
    for (long i = 0; i < n; i++) {
        WIDE s = (WIDE)up[i] + vp[i] + carry;
        rp[i] = (LIMB)s;
        carry = (LIMB)(s >> BITS);
    }
    return carry;
}

LIMB sub_nc(LIMB *rp, const LIMB *up, const LIMB *vp, long n, LIMB borrow)
{
    for (long i = 0; i < n; i++) {
        LIMB u = up[i], d = u - vp[i], e = d - borrow;
        borrow = (u < d) | (d < e);
        rp[i] = e;
    }
    return borrow;
}

/* As GMP's mpn_add and mpn_sub_1: the second number is shorter. */
LIMB add_two(LIMB *rp, const LIMB *up, long un, const LIMB *vp, long vn)
{
    LIMB carry = add_nc(rp, up, vp, vn, 0);
    for (long i = vn; i < un; i++) {
        LIMB s = up[i] + carry;
        carry = s < carry;
        rp[i] = s;
    }
    return carry;
}

LIMB sub_1(LIMB *rp, const LIMB *up, long n, LIMB v)
{
    for (long i = 0; i < n; i++) {
        LIMB u = up[i];
        rp[i] = u - v;
        v = u < v;
    }
    return v;
}

/* Takes b in the place of a if the bit is 1, in constant time. */
void assign_if(LIMB *a, const LIMB *b, long n, LIMB bit)
{
    LIMB mask = -bit;
    for (long i = 0; i < n; i++)
        a[i] ^= mask & (a[i] ^ b[i]);
}

/* Exchanges two numbers that lie one behind the other if the bit is 1. */
void swap_if(LIMB *p, long n, LIMB bit)
{
    LIMB mask = -bit;
    for (long i = 0; i < n; i++) {
        LIMB x = mask & (p[i] ^ p[n + i]);
        p[i] ^= x;
        p[n + i] ^= x;
    }
}

/* x += a under a condition, as Mbed TLS's mbedtls_mpi_core_add_if. */
LIMB add_if(LIMB *x, const LIMB *a, size_t limbs, unsigned cond)
{
    LIMB c = 0, mask = -(LIMB)cond;
    for (size_t i = 0; i < limbs; i++) {
        LIMB add = mask & a[i], t = c + x[i];
        c = t < x[i];
        t += add;
        c += t < add;
        x[i] = t;
    }
    return c;
}

/* The same, wrong: the carry of the lower half is lost. */
LIMB addmul_lost(LIMB *rp, const LIMB *up, long n, LIMB v)
{
    LIMB carry = 0;
    do {
        WIDE p = (WIDE)*up++ * v;
        LIMB low = (LIMB)p + carry;
        carry = (LIMB)(p >> BITS);
        low += *rp;
        carry += low < *rp;
        *rp++ = low;
    } while (--n);
    return carry;
}
