//! The seen table on threads of the system, and at its limits.

use super::fingerprint::scramble;
use super::seen::{Inserted, SMALL, Seen};
use super::slots::Slots;

#[test]
fn threads_that_insert_the_same_keys_agree_on_who_was_first() {
    let seen = Seen::new(false);
    let new = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for key in 1..=100_000u64 {
                    seen.reserve(16);
                    let inserted = seen.read().insert(scramble(key), scramble(key - 1), 0);
                    if inserted == Inserted::New {
                        seen.add(1);
                        new.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(new.into_inner(), 100_000);
    assert_eq!(seen.len(), 100_000);
}

#[test]
fn a_table_that_may_not_grow_says_so_before_it_has_no_room() {
    let seen = Seen::within(false, 1); // any process holds more than that
    let mut count = 0u64;
    while !seen.is_full() {
        seen.reserve(16);
        count += 1;
        seen.read().insert(scramble(count), 0, 0);
        seen.add(1);
    }
    let slots = seen.read();
    assert_eq!(Slots::bytes_of(slots.bits), SMALL / 2); // the largest that is small
    assert!(count + 16 >= slots.room() as u64 / 16 * 15);
    assert!((1..=count).all(|key| slots.find(scramble(key)).1 == scramble(key)));
    assert!(count < slots.room() as u64 / 32 * 31);
}

#[test]
fn a_chain_leads_back_to_the_first_state() {
    let seen = Seen::new(false);
    for key in 1..=50u64 {
        seen.read().insert(key, key - 1, 0);
        seen.add(1);
    }
    assert_eq!(seen.chain(50), (1..=50).collect::<Vec<_>>());
}

#[test]
fn a_shorter_path_is_told_apart_only_when_depths_are_kept() {
    let bounded = Seen::new(true);
    assert_eq!(bounded.read().insert(9, 0, 5), Inserted::New);
    assert_eq!(bounded.read().insert(9, 0, 6), Inserted::Known);
    assert_eq!(bounded.read().insert(9, 0, 3), Inserted::Shorter);
    let plain = Seen::new(false);
    assert_eq!(plain.read().insert(9, 0, 5), Inserted::New);
    assert_eq!(plain.read().insert(9, 0, 3), Inserted::Known);
}
