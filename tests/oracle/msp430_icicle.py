"""Runs MSP430X code on icicle-emu (the semantics of Ghidra): job after job from standard input.

A job: 16 registers, the first of which says where the code begins; address and length of the code, the code; address and
length of the data, the data. Numbers are 32 bits, little-endian. The code runs until it comes to the byte behind its last.
Answered: the registers, and the data as they are then. SR and the constant generator are neither set nor told.
"""
import struct
import sys

from icicle import Icicle, MemoryProtection, RunStatus

SPACE = 0x100000
NAMES = [None, "SP", None, None] + ["R%d" % r for r in range(4, 16)]


def main():
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while head := source.read(64):
        machine = Icicle("msp430", jit=False)
        machine.mem_map(0, SPACE, MemoryProtection.ExecuteReadWrite)
        registers = struct.unpack("<16I", head)
        for name, value in zip(NAMES, registers):
            if name:
                machine.reg_write(name, value)
        at, length = struct.unpack("<2I", source.read(8))
        machine.mem_write(at, source.read(length))
        machine.pc, end = registers[0], at + length
        at, length = struct.unpack("<2I", source.read(8))
        machine.mem_write(at, source.read(length))
        machine.icount_limit = 1_000_000
        status = machine.run_until(end)
        if status != RunStatus.Breakpoint:
            sys.exit("%s, %s at %#x" % (status, machine.exception_code, machine.pc))
        registers = [machine.reg_read(name) if name else 0 for name in NAMES]
        sink.write(struct.pack("<16I", *registers) + machine.mem_read(at, length))
        sink.flush()


main()
