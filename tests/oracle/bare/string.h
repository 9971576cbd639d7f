/* What the numbers of Mbed TLS and BearSSL need of a C library, where the cross compiler has none. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Loops stay loops. */
#define WRITTEN_OUT __attribute__((optimize("no-tree-loop-distribute-patterns")))

/* Of words of 32 bits: all that is copied and cleared here. */
static inline WRITTEN_OUT void *memcpy(void *to, const void *from, size_t bytes)
{
	uint32_t *t = to;
	const uint32_t *f = from;
	for (size_t i = 0; i < bytes / 4; i++)
		t[i] = f[i];
	return to;
}

static inline WRITTEN_OUT void *memset(void *to, int byte, size_t bytes)
{
	uint32_t *t = to;
	for (size_t i = 0; i < bytes / 4; i++)
		t[i] = 0x01010101u * (uint8_t)byte;
	return to;
}

static inline WRITTEN_OUT void *memmove(void *to, const void *from, size_t bytes)
{
	uint32_t *t = to;
	const uint32_t *f = from;
	if (t <= f)
		return memcpy(to, from, bytes);
	for (size_t i = bytes / 4; i-- > 0;)
		t[i] = f[i];
	return to;
}
