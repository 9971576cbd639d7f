"""Runs MIPS32 code on unicorn (QEMU, CPU model 4Km): job after job from standard input.

A job: byte order (0 little, 1 big), length of the code, the code, which goes to address 0,
address and length of the data, the data. Numbers are 32 bits, little-endian. The
code runs from address 0 to its end; the data are written to standard output.
"""
import struct
import sys

from unicorn import Uc, UcError, UC_ARCH_MIPS, UC_MODE_BIG_ENDIAN, UC_MODE_LITTLE_ENDIAN
from unicorn import UC_MODE_MIPS32
from unicorn.mips_const import UC_CPU_MIPS32_4KM, UC_MIPS_REG_PC

SPACE = 0x100000


def machine(order):
    uc = Uc(UC_ARCH_MIPS, UC_MODE_MIPS32 | order)
    uc.ctl_set_cpu_model(UC_CPU_MIPS32_4KM)
    uc.mem_map(0, SPACE)
    return uc


def main():
    machines = [machine(UC_MODE_LITTLE_ENDIAN), machine(UC_MODE_BIG_ENDIAN)]
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while head := source.read(8):
        big, length = struct.unpack("<2I", head)
        code = source.read(length)
        at, length = struct.unpack("<2I", source.read(8))
        data = source.read(length)
        uc = machines[big]
        uc.ctl_flush_tb()
        uc.mem_write(0, code)
        uc.mem_write(at, data)
        # unicorn 2.1.4 crashes on more than about 300 instructions without a branch, unless
        # it counts them; a kernel has no loop.
        count = len(code) if len(code) > 1024 else 0
        try:
            uc.emu_start(0, len(code), count=count)
        except UcError as error:
            sys.exit("%s at %#x" % (error, uc.reg_read(UC_MIPS_REG_PC)))
        sink.write(uc.mem_read(at, len(data)))
        sink.flush()


main()
