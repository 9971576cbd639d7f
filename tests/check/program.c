/* A program of ordinary C: whatever instructions a compiler chooses for it must be known. */
typedef unsigned char u8;
typedef unsigned long long u64;
typedef __UINT32_TYPE__ u32;
typedef __INT32_TYPE__ i32;
typedef long long i64;

struct shape { u8 kind : 3, flag : 1; short side; i32 area; struct shape *next; };
typedef i32 (*handler)(struct shape *, i32);

volatile u32 port;
static u8 buffer[300];
static struct shape list[4];

static i32 grow(struct shape *s, i32 by) { return s->area += by; }
static i32 shrink(struct shape *s, i32 by) { s->flag ^= 1; return s->area -= by / 3; }
static const handler handlers[] = {grow, shrink, grow};

i32 dispatch(struct shape *s, i32 by) { return handlers[s->kind % 3](s, by); }

i32 classify(int c)
{
    switch (c) {
    case 1: return 7;
    case 2: return dispatch(list, 3);
    case 3: return -c;
    case 4: return c * 1000;
    case 5: return port;
    case 6: return 0x12345678;
    case 9: return ~c;
    default: return c >> 2;
    }
}

u64 divide(u64 x, u64 y) { return y ? x / y + x % y : ~x; }
i64 divide_signed(i64 x, i32 y) { return x / y - x % y; }
i32 quotient(i32 x, i32 y) { return x / y + x % (y | 1); }
u64 shift(u64 x, int n) { return x << n ^ x >> (64 - n); }
i64 shift_signed(i64 x, int n) { return x >> n; }
u32 rotate(u32 x, int n) { return x << n | x >> (32 - n); }
i64 product(i32 x, i32 y) { return (i64)x * y; }
u64 accumulate(u64 s, u32 x, u32 y) { return s + (u64)x * y; }
float average(const float *x, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * 0.5f;
    return s / n;
}
i32 rounded(double x) { return (i32)(x + (x < 0 ? -0.5 : 0.5)); }

int compare(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (u8)*a - (u8)*b;
}

void copy(short *to, const signed char *from, int n)
{
    while (n-- > 0)
        *to++ = *from++;
}

u32 checksum(const u8 *p, u32 n)
{
    u32 sum = ~0u;
    while (n--) {
        sum ^= *p++;
        for (int k = 0; k < 8; k++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return ~sum;
}

i32 total(int n, ...)
{
    __builtin_va_list more;
    i32 sum = 0;
    __builtin_va_start(more, n);
    while (n--)
        sum += __builtin_va_arg(more, int);
    __builtin_va_end(more);
    return sum;
}

struct shape moved(struct shape s, int by)
{
    s.side += by;
    s.kind++;
    return s;
}

int leading(u32 x) { return __builtin_clz(x | 1) + __builtin_popcount(x) + __builtin_ctz(x | 8); }
u32 swapped(u32 x) { return __builtin_bswap32(x); }
i32 limited(i32 x, i32 lo, i32 hi) { return x < lo ? lo : x > hi ? hi : x; }
int largest(const signed char *p, int n)
{
    int best = -128;
    for (int i = 0; i < n; i++)
        best = p[i] > best ? p[i] : best;
    return best;
}

int run(int n)
{
    u8 local[200];
    for (int i = 0; i < 200; i++)
        local[i] = buffer[(i * 7) % 300] + (u8)n;
    list[0] = moved(list[1], n);
    port = checksum(local, sizeof local);
    return classify(n) + total(3, n, 2, (int)port) + compare((char *)local, (char *)buffer);
}
