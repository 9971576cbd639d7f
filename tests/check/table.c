/* The order of the rows comes from a table: in flash (AVR), in RAM, or with the code. */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;

#ifdef __AVR__
static const __flash uint8_t in_flash[] = {0, 1, 2, 3, 4, 5, 6, 7};
#endif
const uint8_t in_memory[] = {0, 1, 2, 3, 4, 5, 6, 7};
static uint8_t variable[] = {0, 1, 2, 3, 4, 5, 6, 7};

static inline void row(uint8_t *r, const uint8_t *a, const uint8_t *b, uint8_t i)
{
    uint8_t c = 0;
    for (uint8_t j = 0; j < 8; j++) {
        uint16_t t = (uint16_t)a[j] * b[i] + r[i + j] + c;
        r[i + j] = (uint8_t)t;
        c = t >> 8;
    }
    r[i + 8] = c;
}

static inline void clear(uint8_t *r)
{
    for (uint8_t i = 0; i < 16; i++)
        r[i] = 0;
}

#ifdef __AVR__
void flash_table(uint8_t *r, const uint8_t *a, const uint8_t *b)
{
    clear(r);
    for (uint8_t i = 0; i < 8; i++)
        row(r, a, b, in_flash[i]);
}
#endif

void memory_table(uint8_t *r, const uint8_t *a, const uint8_t *b)
{
    clear(r);
    for (uint8_t i = 0; i < 8; i++)
        row(r, a, b, in_memory[i]);
}

void variable_table(uint8_t *r, const uint8_t *a, const uint8_t *b)
{
    clear(r);
    for (uint8_t i = 0; i < 8; i++)
        row(r, a, b, variable[i]);
}

void change_table(uint8_t i, uint8_t to)
{
    variable[i & 7] = to;
}
