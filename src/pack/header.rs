//! The one header of a pack.

use crate::emit::header::{declaration, defines};
use crate::pack::made::Made;

/// The `.h` file: sizes and costs of all kernels, then the functions with their contracts.
pub fn header(made: &Made<'_>) -> String {
    let guard = format!("LOZENGE_{}_H", made.file.to_uppercase());
    let core = made.target.to_core();
    let what = format!(
        "{}.h: {}.\n * Called as: {}.",
        made.file,
        made.title,
        core.abi()
    );
    let mut text = made.banner(&what);
    for stranger in core.dialect().strangers {
        text += &stranger.refusal(made.file);
    }
    text += &format!("#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n");
    for kernel in made.kernels {
        text += &format!("{}\n", defines(kernel.report()));
    }
    text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    for kernel in made.kernels {
        text += &declaration(kernel.report());
    }
    text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
}
