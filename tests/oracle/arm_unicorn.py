"""Runs single ARM instructions on unicorn (QEMU, CPU model TI925T, architecture 4T), from random states.

Standard input and output as in arm_mgba.c, without cycles (0 in their place).
"""
import struct
import sys

from unicorn import Uc, UcError, UC_ARCH_ARM, UC_MODE_ARM
from unicorn.arm_const import UC_ARM_REG_CPSR, UC_ARM_REG_PC, UC_ARM_REG_R0
from unicorn.arm_const import UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3, UC_ARM_REG_R4
from unicorn.arm_const import UC_ARM_REG_R5, UC_ARM_REG_R6, UC_ARM_REG_R7, UC_ARM_REG_R8
from unicorn.arm_const import UC_ARM_REG_R9, UC_ARM_REG_R10, UC_ARM_REG_R11, UC_ARM_REG_R12
from unicorn.arm_const import UC_ARM_REG_SP, UC_ARM_REG_LR, UC_CPU_ARM_TI925T

CODE, DATA, WORDS, START = 0x03000100, 0x03001000, 96, 0x03000000
REGISTERS = [
    UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3, UC_ARM_REG_R4,
    UC_ARM_REG_R5, UC_ARM_REG_R6, UC_ARM_REG_R7, UC_ARM_REG_R8, UC_ARM_REG_R9,
    UC_ARM_REG_R10, UC_ARM_REG_R11, UC_ARM_REG_R12, UC_ARM_REG_SP, UC_ARM_REG_LR,
]
ALL = REGISTERS + [UC_ARM_REG_CPSR, UC_ARM_REG_PC]
M = 0xFFFFFFFF


def memory(seed):
    words = []
    x = seed
    for _ in range(WORDS):
        x = (x ^ x << 13) & M
        x ^= x >> 17
        x = (x ^ x << 5) & M
        words.append(x if x & 7 else DATA + (x >> 3 & 0x7FC))
    return struct.pack("<%dI" % WORDS, *words)


def main():
    uc = Uc(UC_ARCH_ARM, UC_MODE_ARM)
    uc.ctl_set_cpu_model(UC_CPU_ARM_TI925T)
    uc.mem_map(START, 0x8000)
    data = sys.stdin.buffer.read()
    out = []
    for case in struct.iter_unpack("<18I", data):
        insn, registers, flags, seed = case[0], case[1:16], case[16], case[17]
        uc.mem_write(DATA, memory(seed))
        uc.mem_write(CODE, struct.pack("<I", insn))
        uc.ctl_remove_cache(CODE, CODE + 4)
        uc.reg_write(UC_ARM_REG_CPSR, flags | 0xDF)
        for register, value in zip(REGISTERS, registers):
            uc.reg_write(register, value)
        try:
            uc.emu_start(CODE, 0, count=1)
            now = [uc.reg_read(r) for r in ALL]
        except UcError as error:
            now = [0] * 17
            print("%#010x: %s" % (insn, error), file=sys.stderr)
        digest = 2166136261
        for (word,) in struct.iter_unpack("<I", bytes(uc.mem_read(DATA, 4 * WORDS))):
            digest = (digest ^ word) * 16777619 & M
        flags = now[15] & 0xF0000000
        out.append(struct.pack("<19I", *now[:15], now[16], flags, digest, 0))
    sys.stdout.buffer.write(b"".join(out))


main()
