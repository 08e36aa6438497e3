//! That the program is there. Being a test of this package, it also makes `cargo test --workspace` build the
//! program, which the tests in `tests/it` start by its path.

use std::process::Command;

#[test]
fn the_program_names_its_version_and_features() {
    let ran = Command::new(env!("CARGO_BIN_EXE_understudy")).arg("--version").output().expect("the program starts");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("console") && said.contains("command"), "{said}");
}
