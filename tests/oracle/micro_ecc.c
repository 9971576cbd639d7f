/* Runs micro-ecc's own operations: ECDH both ways, a signature, and its verification. CURVE is uECC_secp256r1 or another.
 * On an ATmega128 it prints cycles by timer 1, and the bytes of stack that were used. */
#include <stdint.h>
#include <string.h>

#include "uECC.h"

#ifdef __AVR__
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

extern uint8_t __heap_start;
static volatile uint16_t high;
ISR(TIMER1_OVF_vect) { high++; }

static void put(char c) { UDR0 = c; }

static uint32_t now(void)
{
	cli();
	uint16_t low = TCNT1, above = high;
	if ((TIFR & (1 << TOV1)) && low < 0x8000)
		above++;
	sei();
	return (uint32_t)above << 16 | low;
}

/* What no call has touched keeps its colour. */
static void start(void)
{
	for (uint8_t *p = &__heap_start; p < (uint8_t *)SP - 16; p++)
		*p = 0xc5;
	TCCR1B = 1;
	TIMSK |= 1 << TOIE1;
	sei();
}

static uint16_t stack(void)
{
	uint8_t *p = &__heap_start;
	while (*p == 0xc5)
		p++;
	return RAMEND + 1 - (uint16_t)p;
}

static void end(void) { cli(); sleep_mode(); }
#else
#include <stdio.h>
static void put(char c) { putchar(c); }
static uint32_t now(void) { return 0; }
static void start(void) { }
static uint16_t stack(void) { return 0; }
static void end(void) { }
#endif

static void say(const char *text) { while (*text) put(*text++); }

static void number(const char *name, uint32_t value)
{
	char digits[11];
	int at = 10;
	digits[10] = 0;
	do
		digits[--at] = '0' + value % 10;
	while (value /= 10);
	say(name), say(" "), say(digits + at), say("\n");
}

static void bytes(const char *name, const uint8_t *value, int n)
{
	say(name), say(" ");
	for (int i = 0; i < n; i++)
		put("0123456789abcdef"[value[i] >> 4]), put("0123456789abcdef"[value[i] & 15]);
	say("\n");
}

static uint32_t state = 12345;

static int draw(uint8_t *to, unsigned n)
{
	while (n--)
		*to++ = (state = state * 1664525u + 1013904223u) >> 24;
	return 1;
}

static uint8_t d1[33], d2[33], p1[64], p2[64], s1[32], s2[32], hash[32], signature[66];

int main(void)
{
	start();
	uECC_set_rng(draw);
	uECC_Curve c = CURVE();
	int n = uECC_curve_public_key_size(c) / 2;
	int ok = uECC_make_key(p1, d1, c) && uECC_make_key(p2, d2, c);
	uint32_t t = now();
	ok &= uECC_shared_secret(p2, d1, s1, c);
	number("ecdh", now() - t);
	ok &= uECC_shared_secret(p1, d2, s2, c);
	ok &= !memcmp(s1, s2, sizeof s1);
	bytes("secret", s1, n);
	memset(hash, 0x5a, sizeof hash);
	t = now();
	ok &= uECC_sign(d1, hash, sizeof hash, signature, c);
	number("sign", now() - t);
	bytes("signature", signature, 2 * n);
	t = now();
	ok &= uECC_verify(p1, hash, sizeof hash, signature, c);
	number("verify", now() - t);
	hash[3] ^= 1;
	ok &= !uECC_verify(p1, hash, sizeof hash, signature, c);
	number("stack", stack());
	say(ok ? "RIGHT\n" : "WRONG\n");
	end();
	return !ok;
}
