//! What every machine says alike, written once: of its types and its runs ([`crate::isa::Isa`]), and of what it is made of
//! ([`crate::isa::machine::Machine`]).

/// The items of [`crate::isa::Isa`] that follow from the machine's modules `code`, `cores` and `abi`, and from its state over a
/// domain, with registers of so many bits.
macro_rules! alike {
    ($state:ident, $bits:literal) => {
        type Insn = code::Insn;
        type Core = cores::Core;

        const POINTER_BYTES: usize = abi::POINTER_BYTES;

        fn text(insn: &code::Insn) -> String {
            insn.text()
        }

        fn call<D: $crate::domain::Abstract>(
            domain: D,
            core: &cores::Core,
            function: &$crate::function::Function,
            bases: &[$crate::domain::place::Base],
            limit: u64,
        ) -> Result<$crate::isa::Called<D>, $crate::isa::Stopped> {
            $crate::isa::enter::call::<$state<D>, $bits>(domain, core, function, bases, limit)
        }

        fn execute(
            core: &cores::Core,
            function: &$crate::function::Function,
            area: &mut [u8],
            watch: &mut dyn FnMut(u64, u64),
        ) -> Result<$crate::isa::Cost, $crate::isa::Stopped> {
            type Numbers = $state<$crate::domain::concrete::Concrete>;
            $crate::isa::numbers::execute::<Numbers, $bits>(core, function, area, watch)
        }

        fn calls(
            core: &cores::Core,
            function: $crate::function::Function,
        ) -> $crate::isa::Calls<'_> {
            type Numbers = $state<$crate::domain::concrete::Concrete>;
            $crate::isa::numbers::calls::<Numbers, $bits>(core, function)
        }

        fn steps(
            core: &cores::Core,
            function: &$crate::function::Function,
            operands: &$crate::call::Operands<'_>,
            limit: u64,
        ) -> Result<Vec<$crate::isa::Executed>, $crate::isa::Stopped> {
            type Numbers = $state<$crate::domain::concrete::Concrete>;
            $crate::isa::numbers::steps::<Numbers, $bits>(core, function, operands, limit)
        }

        fn entered(
            core: &cores::Core,
            function: &$crate::function::Function,
            operands: &$crate::call::Operands<'_>,
        ) -> $crate::isa::Held {
            type Numbers = $state<$crate::domain::concrete::Concrete>;
            $crate::isa::numbers::entered::<Numbers, $bits>(core, function, operands)
        }

        fn register_name(r: u8) -> String {
            type Numbers = $state<$crate::domain::concrete::Concrete>;
            <Numbers as $crate::isa::convention::Callable<$bits>>::word_name(r)
        }
    };
}

/// The domain `d` and the program counter `pc` of a state over a domain `D`.
macro_rules! counted {
    () => {
        #[inline(always)]
        fn domain(&mut self) -> &mut D {
            &mut self.d
        }

        #[inline(always)]
        fn pc(&self) -> usize {
            self.pc
        }

        #[inline(always)]
        fn set_pc(&mut self, pc: usize) {
            self.pc = pc;
        }
    };
}

pub(crate) use {alike, counted};
