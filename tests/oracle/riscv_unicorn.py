"""Runs RV32 code on unicorn (QEMU): job after job from standard input.

A job: length of the code, the code, which goes to address 0, address and length of the data, the data. Numbers are
32 bits, little-endian. The code runs from address 0 to its end; the data are written to standard output.
"""
import struct
import sys

from unicorn import Uc, UcError, UC_ARCH_RISCV, UC_MODE_RISCV32
from unicorn.riscv_const import UC_RISCV_REG_PC

SPACE = 0x100000


def main():
    uc = Uc(UC_ARCH_RISCV, UC_MODE_RISCV32)
    uc.mem_map(0, SPACE)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while head := source.read(4):
        (length,) = struct.unpack("<I", head)
        code = source.read(length)
        at, length = struct.unpack("<2I", source.read(8))
        data = source.read(length)
        uc.ctl_flush_tb()
        uc.mem_write(0, code)
        uc.mem_write(at, data)
        # As for MIPS, unicorn 2.1.4 must count where no branch comes for long.
        count = len(code) if len(code) > 1024 else 0
        try:
            uc.emu_start(0, len(code), count=count)
        except UcError as error:
            sys.exit("%s at %#x" % (error, uc.reg_read(UC_RISCV_REG_PC)))
        sink.write(uc.mem_read(at, len(data)))
        sink.flush()


main()
