/* Mbed TLS includes it; its numbers of fixed size allocate nothing. */
#include <stddef.h>
