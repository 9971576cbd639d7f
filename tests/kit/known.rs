//! Verdicts on code, kept while the tests run: many make the same kernels, which need not be judged again.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{LazyLock, Mutex};

use lozenge::function::Function;
use lozenge::isa::core::Core;
use lozenge::kernel::{self, Error, Judged, Kernel, Request, Search};
use lozenge::spec::Spec;

use crate::kit::tier::{self, Tier};

/// All that verdicts depend on, and the verdicts.
static KNOWN: LazyLock<Mutex<HashMap<(u64, u64), Judged>>> = LazyLock::new(Mutex::default);

/// What is hashed twice, so that two codes are not taken for one.
fn key(text: &str) -> (u64, u64) {
    let hash = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, text).hash(&mut hasher);
        hasher.finish()
    };
    (hash(0), hash(1))
}

/// The verdicts on `code`, from before if it was judged before; at night nothing is taken from before.
pub fn judge(spec: &Spec, core: &Core, code: &Function) -> Judged {
    let fresh = || kernel::judge_function(spec, core, code, Search::OWN);
    if tier::tier() == Tier::Night {
        return fresh();
    }
    let key = key(&format!("{core:?} {spec:?} {code:?}"));
    let before = KNOWN.lock().expect("nobody panics").get(&key).cloned();
    before.unwrap_or_else(|| {
        let judged = fresh();
        let mut known = KNOWN.lock().expect("nobody panics");
        known.entry(key).or_insert(judged).clone()
    })
}

/// The kernel that the library makes, with these verdicts.
///
/// # Errors
/// Why there is none.
pub fn generate(request: &Request, core: &Core) -> Result<Kernel, Error> {
    kernel::generate_by(request, core, &|spec, code| judge(spec, core, code))
}
