/*
 * Calls one function on simavr in IAR's convention, for tests/kernels/avr_iar.rs.
 *
 *   simavr_iar mcu code.bin bytes_r bytes_a bytes_b bytes_c
 *
 * Reads lines `HEXA HEXB HEXC`, least significant byte first; r in r17:r16, a in r19:r18, b in r21:r20,
 * c in r23:r22, the data stack in Y. Before every instruction all that lies below Y on the data stack is
 * overwritten, as an interrupt may do, and Y must lie on it. Prints for each line
 *
 *   CYCLES DATA RETURN BROKEN HEXR   to RET inclusive; bytes of the data stack; bytes of the stack
 *                                    below the return address; a mask of registers that were not
 *                                    preserved (r4..r15, r24..r29); the result
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sim_avr.h>
#include <sim_core.h>

enum { R = 0x200, A = 0x400, B = 0x500, C = 0x600, FLOOR = 0x800, TOP = 0xc00, STACK = 0x10f0 };

static unsigned back; /* the caller: a byte address where nothing is */

static void silent(avr_t *avr, const int level, const char *format, va_list ap)
{
	(void)avr, (void)level, (void)format, (void)ap;
}

static unsigned pair(const avr_t *avr, int low)
{
	return avr->data[low] | avr->data[low + 1] << 8;
}

static void set_pair(avr_t *avr, int low, unsigned value)
{
	avr->data[low] = value;
	avr->data[low + 1] = value >> 8;
}

static void fail(const char *what, const avr_t *avr)
{
	fprintf(stderr, "simavr_iar: %s at pc %#x, Y %#x\n", what, (unsigned)avr->pc, pair(avr, 28));
	exit(3);
}

static void read_hex(uint8_t *to, int bytes)
{
	for (int i = 0; i < bytes; i++) {
		unsigned byte;
		if (scanf(" %2x", &byte) != 1)
			exit(4);
		to[i] = byte;
	}
}

static void call(avr_t *avr, int bytes_r)
{
	uint8_t before[32];
	unsigned low_y = TOP, low_sp, entry;

	for (int i = 0; i < 32; i++)
		avr->data[i] = 0x5a ^ (7 * i);
	set_pair(avr, 16, R);
	set_pair(avr, 18, A);
	set_pair(avr, 20, B);
	set_pair(avr, 22, C);
	set_pair(avr, 28, TOP);
	entry = STACK - avr->address_size;
	for (int i = 0; i < avr->address_size; i++) /* the highest byte lies lowest */
		avr->data[STACK - i] = (back / 2) >> (8 * i);
	set_pair(avr, R_SPL, entry);
	memcpy(before, avr->data, sizeof before);
	low_sp = entry;
	avr->pc = 0;
	const uint64_t start = avr->cycle;
	while (avr->pc != back) {
		const unsigned y = pair(avr, 28);
		if (y > TOP || y < FLOOR)
			fail("Y has left the data stack", avr);
		memset(avr->data + FLOOR, 0xa5, y - FLOOR);
		if (y < low_y)
			low_y = y;
		if (pair(avr, R_SPL) < low_sp)
			low_sp = pair(avr, R_SPL);
		avr->run_cycle_count = 0; /* one instruction, not a burst */
		avr->pc = avr_run_one(avr);
		if (avr->state != cpu_Running || avr->cycle - start > 10000000)
			fail("stopped", avr);
	}
	uint32_t broken = pair(avr, R_SPL) == STACK ? 0 : 1;
	for (int i = 4; i < 30; i++)
		if ((i < 16 || i > 23) && before[i] != avr->data[i])
			broken |= UINT32_C(1) << i;
	printf("%llu %u %u %#x ", (unsigned long long)(avr->cycle - start), TOP - low_y, entry - low_sp,
		(unsigned)broken);
	for (int i = 0; i < bytes_r; i++)
		printf("%02x", avr->data[R + i]);
	printf("\n");
}

int main(int argc, char **argv)
{
	int lines;

	if (argc != 7)
		return 1;
	const int bytes_r = atoi(argv[3]), bytes_a = atoi(argv[4]), bytes_b = atoi(argv[5]), bytes_c = atoi(argv[6]);
	avr_global_logger_set(silent);
	avr_t *avr = avr_make_mcu_by_name(argv[1]);
	FILE *code = fopen(argv[2], "rb");
	if (!avr || avr_init(avr) != 0 || !code)
		return 2;
	avr->codeend = avr->flashend;
	back = avr->flashend - 15;
	if (fread(avr->flash, 1, back, code) == 0 || scanf("%d", &lines) != 1)
		return 2;
	while (lines--) {
		memset(avr->data + R, 0xee, FLOOR - R);
		read_hex(avr->data + A, bytes_a);
		read_hex(avr->data + B, bytes_b);
		read_hex(avr->data + C, bytes_c);
		avr->state = cpu_Running;
		call(avr, bytes_r);
	}
	return fflush(stdout) != 0;
}
