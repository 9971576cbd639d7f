/* Mbed TLS includes it; nothing is printed. */
