"""Repeats a counterexample of `lozenge check --json` on unicorn (QEMU, CPU model TI925T, architecture 4T).

Standard input: an object of "code" (hexadecimal, from the function on) and "counterexample".
Standard output: the bytes of r when the function has returned, in hexadecimal.
"""
import json
import sys

from unicorn import Uc, UC_ARCH_ARM, UC_MODE_ARM
from unicorn import arm_const
from unicorn.arm_const import UC_ARM_REG_CPSR, UC_ARM_REG_LR, UC_CPU_ARM_TI925T

PAGE = 0x1000
CODE, BACK = 0x40000000, 0x40008000


def main():
    told = json.load(sys.stdin)
    code, run = bytes.fromhex(told["code"]), told["counterexample"]
    uc = Uc(UC_ARCH_ARM, UC_MODE_ARM)
    uc.ctl_set_cpu_model(UC_CPU_ARM_TI925T)
    uc.mem_map(CODE, 0x10000)
    uc.mem_write(CODE, code)
    pages, result = set(), None
    for place in run["memory"]:
        at, data = int(place["address"], 16), bytes.fromhex(place["bytes"])
        # A page more below: the stack grows down.
        for page in range((at & -PAGE) - PAGE, at + len(data) + PAGE, PAGE):
            if page >= 0 and page not in pages:
                pages.add(page)
                uc.mem_map(page, PAGE)
        uc.mem_write(at, data)
        if place["name"] == "r":
            result = (at, len(data))
    bits = {"N": 31, "Z": 30, "C": 29, "V": 28}
    flags = sum(value << bits[name] for name, value in run["flags"].items() if name in bits)
    # The mode says which SP and LR are meant.
    uc.reg_write(UC_ARM_REG_CPSR, flags | 0xDF)
    for name, value in run["registers"].items():
        register = getattr(arm_const, "UC_ARM_REG_" + name.upper(), None)
        if register is not None:
            uc.reg_write(register, int(value, 16))
    uc.reg_write(UC_ARM_REG_LR, BACK)
    uc.emu_start(CODE, BACK)
    print(bytes(uc.mem_read(*result)).hex())


main()
