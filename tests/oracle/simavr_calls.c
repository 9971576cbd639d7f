/*
 * Runs a program on simavr and watches the calls of one function, for tests/tool/avr_link.rs.
 *
 *   simavr_calls mcu program.elf function flush done results bytes
 *
 * The last five are numbers (0x...): byte addresses of the function and of two marks in
 * flash, address and size of an array in data memory. Prints
 *
 *   call CYCLES STACK BROKEN   for each call: from the first instruction to RET inclusive;
 *                              bytes of stack below the return address; a mask of registers
 *                              that the avr-gcc ABI keeps and the call did not
 *   data HEX                   the array, whenever the program arrives at flush
 *
 * and ends at done. Every instruction is stepped, so nothing between two marks is missed.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sim_avr.h>
#include <sim_core.h>
#include <sim_elf.h>

static const uint64_t LIMIT = 1000000000; /* cycles of a whole program */

static void silent(avr_t *avr, const int level, const char *format, va_list ap)
{
	(void)avr, (void)level, (void)format, (void)ap;
}

/* OUT 0x3d, OUT 0x3e, but for the register. */
enum { OUT_SPL = 0xbe0d, OUT_SPH = 0xbe0e };

static unsigned stack_pointer(const avr_t *avr)
{
	return avr->data[R_SPL] | avr->data[R_SPH] << 8;
}

static void step(avr_t *avr)
{
	avr->run_cycle_count = 0; /* one instruction, not a burst */
	avr->pc = avr_run_one(avr);
	if (avr->state != cpu_Running || avr->cycle > LIMIT) {
		fprintf(stderr, "simavr_calls: stopped at pc %#x, state %d, cycle %llu\n",
			(unsigned)avr->pc, (int)avr->state, (unsigned long long)avr->cycle);
		exit(3);
	}
}

/* r1 is 0 at return; r2..r17, r28, r29 are what they were. */
static uint32_t broken(const uint8_t *before, const uint8_t *after)
{
	uint32_t mask = after[1] ? 2 : 0;
	for (int i = 2; i < 30; i++)
		if ((i < 18 || i > 27) && before[i] != after[i])
			mask |= UINT32_C(1) << i;
	return mask;
}

/* From the function's first instruction to its return. */
static void call(avr_t *avr)
{
	uint8_t before[32];
	const unsigned entry = stack_pointer(avr), size = avr->address_size;
	const uint64_t start = avr->cycle;
	unsigned low = entry;
	avr_flashaddr_t back = 0;

	memcpy(before, avr->data, sizeof before);
	for (unsigned i = 1; i <= size; i++) /* the highest byte lies lowest */
		back = back << 8 | avr->data[entry + i];
	back *= 2;
	bool half = false; /* between the two OUTs that set the stack pointer it is neither */
	do {
		const unsigned op = avr->flash[avr->pc] | avr->flash[avr->pc + 1] << 8;

		step(avr);
		if ((op & 0xfe0f) == OUT_SPL || (op & 0xfe0f) == OUT_SPH)
			half = !half;
		if (!half && stack_pointer(avr) < low)
			low = stack_pointer(avr);
	} while (avr->pc != back || stack_pointer(avr) != entry + size);
	printf("call %llu %u %#x\n", (unsigned long long)(avr->cycle - start), entry - low,
		(unsigned)broken(before, avr->data));
}

int main(int argc, char **argv)
{
	static elf_firmware_t firmware;
	unsigned at[5];

	if (argc != 8)
		return 1;
	for (int i = 0; i < 5; i++)
		at[i] = strtoul(argv[3 + i], NULL, 0);
	avr_global_logger_set(silent);
	avr_t *avr = avr_make_mcu_by_name(argv[1]);
	if (!avr || avr_init(avr) != 0 || elf_read_firmware(argv[2], &firmware) != 0)
		return 2;
	avr_load_firmware(avr, &firmware);
	while (avr->pc != at[2]) {
		if (avr->pc == at[0]) {
			call(avr);
			continue;
		}
		if (avr->pc == at[1]) {
			printf("data ");
			for (unsigned i = 0; i < at[4]; i++)
				printf("%02x", avr->data[at[3] + i]);
			printf("\n");
		}
		step(avr);
	}
	return fflush(stdout) != 0;
}
