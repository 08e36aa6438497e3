//! The list of children and what it ends.

use super::children::*;
use std::fs;
use std::os::unix::process::CommandExt;

fn sleeper() -> std::process::Child {
    std::process::Command::new("sleep").arg("600").process_group(0).spawn().unwrap()
}

#[test]
fn a_leftover_is_ended_and_the_list_is_empty() {
    let data = tempfile::tempdir().unwrap();
    let mut child = sleeper();
    record(data.path(), child.id()).unwrap();
    assert_eq!(kill_leftovers(data.path()).unwrap(), [child.id()]);
    assert!(!child.wait().unwrap().success());
    assert!(fs::read_dir(data.path().join("children")).unwrap().next().is_none());
}

#[test]
fn another_process_with_the_same_pid_lives() {
    let data = tempfile::tempdir().unwrap();
    let mut child = sleeper();
    record(data.path(), child.id()).unwrap();
    fs::write(data.path().join("children").join(child.id().to_string()), format!("{} 1\n", child.id())).unwrap();
    assert!(kill_leftovers(data.path()).unwrap().is_empty());
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn half_an_entry_is_dropped() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("children");
    fs::create_dir(&folder).unwrap();
    for (name, text) in [("7", ""), ("8.part", "8"), ("9", "0 5\n"), ("10", "\u{0}x y")] {
        fs::write(folder.join(name), text).unwrap();
    }
    assert!(kill_leftovers(data.path()).unwrap().is_empty());
    assert!(fs::read_dir(&folder).unwrap().next().is_none());
}

#[test]
fn no_list_is_no_error() {
    let data = tempfile::tempdir().unwrap();
    assert!(kill_leftovers(data.path()).unwrap().is_empty());
}
