//! Names the commit and the features that `lozenge --version` prints: `LOZENGE_BUILD`.

use std::process::Command;

/// The first line that git prints, if there are git and a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}

fn main() {
    let commit = git(&["log", "-1", "--format=%h %cs"]).filter(|line| !line.is_empty());
    let cli = std::env::var_os("CARGO_FEATURE_CLI").map(|_| "cli");
    let features = cli.unwrap_or("none");
    let commit = commit.map_or(String::new(), |commit| format!("commit {commit}, "));
    println!("cargo::rustc-env=LOZENGE_BUILD= ({commit}features: {features})");
    // What changes when HEAD moves.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
}
