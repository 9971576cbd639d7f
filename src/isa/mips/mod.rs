//! MIPS32 (release 1) and its instruction set extensions.
