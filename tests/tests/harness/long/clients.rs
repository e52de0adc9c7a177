//! Tests make clients in one way, which is patient: `harness::patient`, or by name `harness::hasty`.

use std::fs;
use std::path::Path;

#[test]
fn clients_of_servers_are_patient_or_hasty() {
    let mut others = Vec::new();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    look_at(&tests.join("tests"), &mut others);
    look_at(&tests.join("../lock-runtime/cli/tests"), &mut others);
    look_at(&tests.join("../lock-runtime/web/tests"), &mut others);
    assert!(others.is_empty(), "{others:#?}");
}

fn look_at(folder: &Path, others: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder of tests") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            look_at(&path, others);
            continue;
        }
        let text = fs::read_to_string(&path).expect("it is text");
        let text = text.split_whitespace().collect::<String>();
        for way in ["LockClient::connect(", "LockClient::builder().url("] {
            let mut calls = text.split(way).skip(1);
            let is_other = calls.any(|argument| !argument.starts_with("\"memory://"));
            // This file names both.
            if is_other && !path.ends_with("long/clients.rs") {
                others.push(format!("{}: {way}", path.display()));
            }
        }
    }
}
