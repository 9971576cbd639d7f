/* Runs ARM code on libmgba's Game Boy Advance, in internal memory without wait states.

   Without an argument: single instructions from random states; registers, flags and memory
   afterwards, and cycles.

   Standard input: cases of 18 little-endian words: the instruction, r0 to r14, the flags NZCV
   in bits 31 to 28, a seed of the memory. Standard output: 19 words a case: r0 to r14, the
   address of the next instruction, the flags, a hash of the memory, the cycles.

   With the argument "kernel": calls of f(r, a, b). Standard input: cases of two words (of code,
   of an operand), the code, a, b. Standard output: the cycles and the words of r, twice an
   operand. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mgba/core/core.h>
#include <mgba/core/log.h>
#include <mgba/core/timing.h>
#include <mgba/gba/core.h>
#include <mgba/internal/arm/arm.h>
#include <mgba/internal/arm/isa-inlines.h>
#include <mgba-util/vfs.h>

enum { CODE = 0x03000100, DATA = 0x03001000, WORDS = 96 };

static void quiet(struct mLogger *logger, int category, enum mLogLevel level, const char *format, va_list args) {
	(void) logger, (void) category, (void) level, (void) format, (void) args;
}

enum { CALLER = 0x03000040, A = 0x03006000, B = 0x03006400, R = 0x03006800, STACK = 0x03007e00 };

static void call(struct mCore *core, uint32_t code_words, uint32_t words) {
	static uint32_t buffer[0x2000];
	uint32_t total = code_words + 2 * words;
	if (total > 0x1700 || words > 128 || fread(buffer, 4, total, stdin) != total) {
		fprintf(stderr, "a case is cut off or too long\n");
		exit(1);
	}
	for (uint32_t i = 0; i < code_words; i++) {
		core->rawWrite32(core, CODE + 4 * i, -1, buffer[i]);
	}
	for (uint32_t i = 0; i < words; i++) {
		core->rawWrite32(core, A + 4 * i, -1, buffer[code_words + i]);
		core->rawWrite32(core, B + 4 * i, -1, buffer[code_words + words + i]);
	}
	core->rawWrite32(core, CALLER, -1, 0xeafffffe);
	struct ARMCore *cpu = core->cpu;
	cpu->cpsr.packed = 0xdf;
	cpu->gprs[0] = R, cpu->gprs[1] = A, cpu->gprs[2] = B;
	cpu->gprs[13] = STACK, cpu->gprs[14] = CALLER, cpu->gprs[15] = CODE;
	ARMWritePC(cpu);
	int32_t start = mTimingCurrentTime(core->timing);
	for (int steps = 0; cpu->gprs[15] - 4 != CALLER && steps < 1000000; steps++) {
		core->step(core);
	}
	uint32_t out[257];
	out[0] = (uint32_t) (mTimingCurrentTime(core->timing) - start);
	for (uint32_t i = 0; i < 2 * words; i++) {
		out[1 + i] = core->busRead32(core, R + 4 * i);
	}
	fwrite(out, 4, 1 + 2 * words, stdout);
}

int main(int count, char **arguments) {
	static struct mLogger logger = { .log = quiet };
	mLogSetDefaultLogger(&logger);
	struct mCore *core = GBACoreCreate();
	if (!core || !core->init(core)) {
		fprintf(stderr, "libmgba does not start\n");
		return 1;
	}
	mCoreInitConfig(core, NULL);
	static uint8_t rom[1024];
	/* An endless loop, and what marks a cartridge. */
	rom[0] = 0xfe, rom[1] = 0xff, rom[2] = 0xff, rom[3] = 0xea, rom[0xb2] = 0x96;
	if (!core->loadROM(core, VFileFromMemory(rom, sizeof rom))) {
		fprintf(stderr, "libmgba does not load the cartridge\n");
		return 1;
	}
	core->reset(core);
	struct ARMCore *cpu = core->cpu;
	uint32_t in[18], out[19];
	if (count > 1 && strcmp(arguments[1], "kernel") == 0) {
		while (fread(in, 4, 2, stdin) == 2) {
			call(core, in[0], in[1]);
		}
		return 0;
	}
	while (fread(in, 4, 18, stdin) == 18) {
		uint32_t x = in[17];
		for (int i = 0; i < WORDS; i++) {
			x ^= x << 13, x ^= x >> 17, x ^= x << 5;
			/* Every eighth word is an address, for loads of the program counter. */
			uint32_t word = x & 7 ? x : DATA + (x >> 3 & 0x7fc);
			core->rawWrite32(core, DATA + 4 * i, -1, word);
		}
		core->rawWrite32(core, CODE, -1, in[0]);
		for (int i = 0; i < 15; i++) {
			cpu->gprs[i] = (int32_t) in[1 + i];
		}
		cpu->cpsr.packed = (int32_t) (in[16] & 0xf0000000) | 0xdf;
		cpu->gprs[15] = CODE;
		ARMWritePC(cpu);
		int32_t start = mTimingCurrentTime(core->timing);
		core->step(core);
		out[18] = (uint32_t) (mTimingCurrentTime(core->timing) - start);
		for (int i = 0; i < 15; i++) {
			out[i] = (uint32_t) cpu->gprs[i];
		}
		out[15] = (uint32_t) cpu->gprs[15] - 4;
		out[16] = (uint32_t) cpu->cpsr.packed & 0xf0000000;
		uint32_t hash = 2166136261u;
		for (int i = 0; i < WORDS; i++) {
			hash = (hash ^ core->busRead32(core, DATA + 4 * i)) * 16777619u;
		}
		out[17] = hash;
		fwrite(out, 4, 19, stdout);
	}
	return 0;
}
