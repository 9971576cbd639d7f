/* Calls a kernel of an AVR on operands in flash; simavr_calls.c watches it.
 *
 * Compiled with HEADER, KERNEL, HEADER_RESULT_BYTES (the header's macro), SOURCES, A_BYTES, B_BYTES, M_BYTES,
 * RESULT_BYTES, COUNT cases and KEPT results that are kept before the runner must take them. cases.h has the
 * cases: a mode (1: a == b, 2: r == a, 3: r == b, 4: all), a, b, m; a source that the kernel does not take is
 * there, too. `status` of a result: 1 if an operand that is not the result changed, 2 if a guard did.
 */
#include <stdint.h>
#include <string.h>
#include <avr/pgmspace.h>
#include HEADER

enum { A = A_BYTES, B = B_BYTES, M = M_BYTES, R = RESULT_BYTES, ROOM = A + B + R, GUARD = 8, N = COUNT, K = KEPT };
_Static_assert(HEADER_RESULT_BYTES == R, "the header says how long the result is");
struct source { uint8_t mode, a[A], b[B], m[M]; };
struct result { uint8_t status, r[R]; };
static const struct source cases[N] PROGMEM = {
#include "cases.h"
};
static struct source in;
static struct {
	uint8_t g0[GUARD], a[ROOM], g1[GUARD], b[ROOM], g2[GUARD], r[ROOM], g3[GUARD], m[M], g4[GUARD];
} at;
volatile struct result results[K];

__attribute__((noinline)) void flush(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void done(void) { for (;;) __asm__ volatile("" ::: "memory"); }

static uint8_t differs(const uint8_t *p)
{
	uint8_t d = 0;
	for (uint8_t i = 0; i < GUARD; i++)
		d |= p[i] ^ 0xa5;
	return d;
}

int main(void)
{
	for (uint16_t i = 0; i < N; i++) {
		volatile struct result *out = &results[i % K];
		memcpy_P(&in, &cases[i], sizeof in);
		memset(&at, 0xa5, sizeof at);
		memcpy(at.a, in.a, A);
		memcpy(at.b, in.b, B);
		memcpy(at.m, in.m, M);
		uint8_t *a = at.a, *b = in.mode == 1 || in.mode == 4 ? at.a : at.b;
		uint8_t *r = in.mode == 2 || in.mode == 4 ? at.a : in.mode == 3 ? at.b : at.r;
#if SOURCES == 1
		KERNEL(r, a);
#elif SOURCES == 2
		KERNEL(r, a, b);
#else
		KERNEL(r, a, b, at.m);
#endif
		(void)b;
		out->status = differs(at.g0) | differs(at.g1) | differs(at.g2) | differs(at.g3) | differs(at.g4) ? 2 : 0;
		if ((r != at.a && memcmp(at.a, in.a, A)) || (r != at.b && memcmp(at.b, in.b, B)) || memcmp(at.m, in.m, M))
			out->status |= 1;
		for (uint16_t j = 0; j < R; j++)
			out->r[j] = r[j];
		if (i % K == K - 1 || i == N - 1)
			flush();
	}
	done();
}
