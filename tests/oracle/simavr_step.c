/*
 * Runs single AVR instructions on simavr's core, for tests/machines/avr_semantics.rs.
 *
 *   simavr_step [mcu] < batches > results
 *
 * A batch: u32 bytes of flash, u32 count, the flash, 64 KB of data memory, then count
 * records of 44 bytes. Its results: count records of 64 bytes, then the data memory.
 * Numbers are little-endian. Only the core is simulated: peripherals are removed, so
 * I/O registers are memory, and data memory fills the whole 16-bit space, as with
 * external memory fitted.
 *
 *   0..31 r0..r31 | 32 SREG | 33 RAMPZ | 34 EIND | 35 0 | 36 SP, u16 | 38 0 | 40 pc, u32, bytes
 *   results only: 44 cycles, u16 | 46 state of the core | 47 changed bytes (at most 4)
 *                 48 per change: address, u16 | value | 0
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sim_avr.h>
#include <sim_core.h>

enum {
	DATA = 0x10000,
	/* Changes are reported per record inside these windows, elsewhere per batch. */
	LOW = 0x20, LOW_END = 0x1100, HIGH = 0xff00,
	/* RAMPZ, EIND, SPL, SPH, SREG travel in the record. */
	RAMPZ = 0x5b, EIND = 0x5c, SPECIAL = 5,
	IN = 44, OUT = 64, CHANGES = 4,
};

static void silent(avr_t *avr, const int level, const char *format, va_list ap)
{
	(void)avr, (void)level, (void)format, (void)ap;
}

static int take(void *to, size_t bytes)
{
	return fread(to, 1, bytes, stdin) == bytes;
}

static uint32_t get32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static unsigned changes(const uint8_t *data, uint8_t *shadow, unsigned from, unsigned to, uint8_t *out, unsigned n)
{
	if (memcmp(data + from, shadow + from, to - from) == 0)
		return n;
	for (unsigned at = from; at < to; at++) {
		if (data[at] == shadow[at])
			continue;
		shadow[at] = data[at];
		if (n < CHANGES) {
			uint8_t *slot = out + 48 + 4 * n;
			slot[0] = at, slot[1] = at >> 8, slot[2] = data[at];
		}
		n++;
	}
	return n;
}

static void step(avr_t *avr, const uint8_t *in, uint8_t *out, uint8_t *shadow)
{
	uint8_t *data = avr->data;
	memcpy(data, in, 32);
	for (int i = 0; i < 8; i++)
		avr->sreg[i] = in[32] >> i & 1;
	data[R_SREG] = in[32];
	data[RAMPZ] = in[33];
	data[EIND] = in[34];
	data[R_SPL] = in[36];
	data[R_SPH] = in[37];
	avr->pc = get32(in + 40);
	avr->state = cpu_Running;
	avr->cycle = 0;
	avr->run_cycle_count = 0; /* one instruction, not a burst */
	avr->interrupt_state = 0;

	avr->pc = avr_run_one(avr);

	memset(out, 0, OUT);
	memcpy(out, data, 32);
	for (int i = 0; i < 8; i++)
		out[32] |= avr->sreg[i] << i;
	out[33] = data[RAMPZ];
	out[34] = data[EIND];
	out[36] = data[R_SPL];
	out[37] = data[R_SPH];
	for (int i = 0; i < 4; i++)
		out[40 + i] = avr->pc >> 8 * i;
	out[44] = avr->cycle;
	out[45] = avr->cycle >> 8;
	out[46] = avr->state;
	memcpy(shadow + RAMPZ, data + RAMPZ, SPECIAL);
	unsigned n = changes(data, shadow, LOW, LOW_END, out, 0);
	out[47] = changes(data, shadow, HIGH, DATA, out, n);
}

int main(int argc, char **argv)
{
	static uint8_t shadow[DATA];
	uint8_t head[8], in[IN], out[OUT];

	avr_global_logger_set(silent);
	avr_t *avr = avr_make_mcu_by_name(argc > 1 ? argv[1] : "atmega128");
	if (!avr || avr_init(avr) != 0)
		return 2;
	memset(avr->io, 0, sizeof avr->io);
	avr->io_port = NULL;
	avr->data = calloc(1, DATA);
	avr->ramend = DATA - 1;
	avr->codeend = avr->flashend + 1;
	setvbuf(stdin, NULL, _IOFBF, 1 << 20);
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);

	while (take(head, sizeof head)) {
		uint32_t bytes = get32(head);
		if (bytes > avr->flashend + 1) {
			/* As much flash as the program counter reaches, more than the part has. */
			avr->flash = calloc(1, bytes);
			avr->flashend = bytes - 1;
			avr->codeend = bytes;
		}
		if (!avr->flash || !take(avr->flash, bytes) || !take(avr->data, DATA))
			return 3;
		memcpy(shadow, avr->data, DATA);
		for (uint32_t n = get32(head + 4); n; n--) {
			if (!take(in, IN))
				return 4;
			step(avr, in, out, shadow);
			fwrite(out, 1, OUT, stdout);
		}
		fwrite(avr->data, 1, DATA, stdout);
	}
	return fflush(stdout) != 0;
}
