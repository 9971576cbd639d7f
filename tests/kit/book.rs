//! What people read: README and the pages of the book, in the order of its contents.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The pages that the contents name, then README: paths from the root.
pub fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new("docs/src");
    let contents = std::fs::read_to_string(root.join(folder).join("SUMMARY.md"))
        .expect("the book has contents");
    let named = contents.lines().filter_map(|line| {
        let (_, rest) = line.split_once("](")?;
        Some(folder.join(rest.split_once(')')?.0))
    });
    named.chain([PathBuf::from("README.md")]).collect()
}

/// The text of a page.
pub fn text(page: &Path) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", page.display()))
}

/// All of it, but what the tool itself writes: the reference.
pub fn book() -> &'static str {
    static BOOK: LazyLock<String> = LazyLock::new(|| {
        let pages = pages().into_iter();
        let written = pages.filter(|page| !page.starts_with("docs/src/reference"));
        written.map(|page| text(&page) + "\n").collect()
    });
    &BOOK
}
