// Links the objects of the kernels.
// Made by: {{ command }}

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the crate is");
    println!("cargo:rustc-link-search=native={folder}/lib");
    println!("cargo:rustc-link-lib=static={{ name }}");
    println!("cargo:rerun-if-changed=lib/lib{{ name }}.a");
}
