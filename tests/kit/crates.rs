//! Sources of libraries that crates carry. They are read where cargo puts them, and never become part of this tree.

use std::path::{Path, PathBuf};

use crate::kit::oracle;

/// The folder of the crate `name`, fetched if it is not there yet.
pub fn folder_of(name: &str, version: &str) -> PathBuf {
    let folder = oracle::folder(name);
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    let manifest = format!(
        "[package]\nname = \"fetched\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n\
         [dependencies]\n{name} = \"={version}\"\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("written");
    std::fs::write(folder.join("src/lib.rs"), "").expect("written");
    let text = oracle::tool(&folder, "cargo", &["metadata", "--format-version", "1"]);
    let data: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let packages = data["packages"].as_array().expect("packages");
    let found = packages.iter().find(|p| p["name"] == name);
    let manifest = found.and_then(|p| p["manifest_path"].as_str());
    let manifest = Path::new(manifest.expect("the crate"));
    manifest.parent().expect("a folder").to_path_buf()
}
