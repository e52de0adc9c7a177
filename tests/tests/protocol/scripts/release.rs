//! `release`.

use super::{TTL, expire, holder, snapshot, start};

#[test]
fn the_owner_frees_the_lock() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    assert_eq!(lock.release('A').unwrap(), 1);
    assert_eq!(lock.value(), None);
    // Sent twice.
    assert_eq!(lock.release('A').unwrap(), 0);
}

#[test]
fn a_contended_lock_stays_for_end() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    let before = snapshot(&mut lock);
    assert_eq!(lock.release('A').unwrap(), 2);
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn a_lost_lock_is_absent() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    expire(&mut lock);
    assert_eq!(lock.release('A').unwrap(), 0);
}

#[test]
fn a_release_leaves_another_owners_lock() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    assert_eq!(lock.release('B').unwrap(), -1);
    assert_eq!(holder(&mut lock), Some('A'));
}

#[test]
fn a_foreign_lock_stays() {
    let (_server, mut lock) = start();
    let k = lock.k.clone();
    let _: () = lock.command(&["SET", &k, "foreign"]);
    assert_eq!(lock.release('A').unwrap(), -1);
    assert_eq!(lock.value().as_deref(), Some("foreign"));
}

/// The command that a client sends instead of the script to a server that has such a command.
#[test]
fn the_deletion_command_frees_only_an_uncontended_lock_of_the_owner() {
    let (_server, mut lock) = start();
    if !lock.can_delete() {
        return;
    }
    lock.acquire('A', TTL).unwrap();
    let before = snapshot(&mut lock);
    assert!(!lock.delete('B', true).unwrap());
    assert!(!lock.delete('A', false).unwrap());
    assert_eq!(snapshot(&mut lock), before);
    assert!(lock.delete('A', true).unwrap());
    assert_eq!(lock.value(), None);
    assert!(!lock.delete('A', true).unwrap(), "sent twice");
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    let before = snapshot(&mut lock);
    assert!(!lock.delete('A', true).unwrap());
    assert_eq!(snapshot(&mut lock), before);
    lock.end('A').unwrap();
    assert_eq!(holder(&mut lock), None);
}
