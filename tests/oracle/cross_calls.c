/* Calls a kernel on the operands of standard input and says on standard output what came
 * of it. No C library: cross_arm.S and cross_mips.S bring the start and the system calls.
 *
 * Compiled with HEADER, KERNEL, SOURCES, A_BYTES, B_BYTES, M_BYTES, RESULT_BYTES and, of the calling convention,
 * SAVED (callee-saved registers) and HOME (words above the stack pointer that belong to the
 * callee). Input, in words: a mode (1: a == b, 2: r == a, 3: r == b, 4: all), a, b, m;
 * a source that the kernel does not take is there, too.
 * Output: four bytes (a status; a broken register, counted from 1; the stack used, in bytes)
 * and the result.
 */
#include HEADER

enum { A = A_BYTES / 4, B = B_BYTES / 4, M = M_BYTES / 4, R = RESULT_BYTES / 4, ROOM = A + B, GUARD = 8, STACK = 512, FILL = 0x25a5a5a5 };

/* Bits of a status. */
enum { OPERAND = 1, OUTSIDE = 2, ABOVE = 4, POINTER = 8, FROM_C = 16 };

#if SOURCES == 1
#define CALL(r, a, b, m) KERNEL(r, a)
#elif SOURCES == 2
#define CALL(r, a, b, m) KERNEL(r, a, b)
#else
#define CALL(r, a, b, m) KERNEL(r, a, b, m)
#endif
typedef void function(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *m);

/* The places are known to the assembly files. */
struct call {
	function *code;
	uint32_t *r;
	const uint32_t *a, *b, *m;
	uint32_t *sp, *sp_after, *own_sp;
	uint32_t before[SAVED], after[SAVED];
};
extern void enter(struct call *call);
extern int sys_read(int file, void *to, unsigned bytes);
extern int sys_write(int file, const void *from, unsigned bytes);
int main(void);

static struct { uint32_t mode, a[A], b[B], m[M]; } in;
static struct { uint8_t status, broken, depth[2]; uint32_t r[R]; } out;
static struct {
	uint32_t g0[GUARD], a[ROOM], g1[GUARD], b[ROOM], g2[GUARD], r[ROOM], g3[GUARD], m[M], g4[GUARD];
} at;
static uint32_t stack[STACK + HOME + GUARD] __attribute__((aligned(8)));
static struct call call;

static void fill(uint32_t *p, unsigned n)
{
	while (n-- > 0)
		*p++ = FILL;
}

static void copy(uint32_t *to, const uint32_t *from, unsigned n)
{
	while (n-- > 0)
		*to++ = *from++;
}

static int same(const uint32_t *p, const uint32_t *q, unsigned n)
{
	while (n-- > 0)
		if (*p++ != *q++)
			return 0;
	return 1;
}

static int filled(const uint32_t *p, unsigned n)
{
	while (n-- > 0)
		if (*p++ != FILL)
			return 0;
	return 1;
}

/* Fresh memory, and pointers into it. */
static void prepare(void)
{
	fill((uint32_t *)&at, sizeof at / 4);
	copy(at.a, in.a, A);
	copy(at.b, in.b, B);
	copy(at.m, in.m, M);
	call.a = at.a;
	call.m = at.m;
	call.b = in.mode == 1 || in.mode == 4 ? at.a : at.b;
	call.r = in.mode == 2 || in.mode == 4 ? at.a : in.mode == 3 ? at.b : at.r;
}

/* What is wrong with memory after a call. */
static unsigned damage(void)
{
	unsigned status = 0;
	if ((call.r != at.a && !(same(at.a, in.a, A) && filled(at.a + A, ROOM - A))) ||
	    (call.r != at.b && !(same(at.b, in.b, B) && filled(at.b + B, ROOM - B))) ||
	    !same(at.m, in.m, M))
		status |= OPERAND;
	if (!filled(at.g0, GUARD) || !filled(at.g1, GUARD) || !filled(at.g2, GUARD) || !filled(at.g3, GUARD) || !filled(at.g4, GUARD) ||
	    (call.r != at.r && !filled(at.r, ROOM)))
		status |= OUTSIDE;
	return status;
}

int main(void)
{
	uint32_t count = 0;
	int got;
	while ((got = sys_read(0, &in, sizeof in)) == (int)sizeof in) {
		unsigned i, depth;
		prepare();
		fill(stack, sizeof stack / 4);
		call.code = (function *)(void (*)(void))KERNEL;
		call.sp = stack + STACK;
		for (i = 0; i < SAVED; i++)
			call.before[i] = ++count * 0x9e3779b1u;
		enter(&call);
		out.status = damage();
		out.broken = 0;
		for (i = 0; i < SAVED; i++)
			if (call.before[i] != call.after[i])
				out.broken = i + 1;
		if (call.sp_after != call.sp)
			out.status |= POINTER;
		if (!filled(call.sp + HOME, GUARD))
			out.status |= ABOVE;
		for (i = 0; i < STACK && stack[i] == FILL; i++)
			;
		depth = 4 * (STACK - i);
		out.depth[0] = depth & 0xff;
		out.depth[1] = depth >> 8;
		copy(out.r, call.r, R);
		/* Once more, as a C compiler calls it. */
		if (out.status == 0 && out.broken == 0) {
			prepare();
			CALL(call.r, call.a, call.b, call.m);
			if (damage() || !same(out.r, call.r, R))
				out.status = FROM_C;
		}
		if (sys_write(1, &out, sizeof out) != (int)sizeof out)
			return 1;
	}
	return got != 0;
}
