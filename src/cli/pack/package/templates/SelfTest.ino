// Tests every function of {{ name }} on numbers with known results: prints PASS.
// Made by lozenge {{ version }}: {{ command }}
// SPDX-License-Identifier: {{ licence }}

#include <{{ header }}.h>

extern "C" int selftest(void);
extern "C" void selftest_put(char c) { Serial.write(c); }

void setup() {
	Serial.begin(9600);
	while (!Serial) {
	}
	selftest();
}

void loop() {}
