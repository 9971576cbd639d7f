/* Runs tests/oracle/ibex.sv until the function has returned: its cycles on standard output. */
#include <cstdio>

#include "Vtop.h"
#include "verilated.h"

int main(int count, char **arguments)
{
	Verilated::commandArgs(count, arguments);
	Vtop top;
	top.rst_ni = 0;
	for (int i = 0; i < 1000000; i++) {
		top.clk_i = 0;
		top.eval();
		top.clk_i = 1;
		top.eval();
		if (i == 10)
			top.rst_ni = 1;
		if (top.done) {
			std::printf("%d\n", top.cycles);
			return 0;
		}
	}
	return 1;
}
