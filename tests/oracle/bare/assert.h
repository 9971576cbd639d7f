/* Mbed TLS includes it. */
#define assert(condition)
