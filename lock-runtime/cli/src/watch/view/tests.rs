use lock_runtime::FencingToken;
use lock_runtime::inspect::HolderKind;

use super::super::row::row;
use super::*;

fn set_rows(view: &mut View, rows: Vec<Row>) {
    view.see(Update::All(rows), Instant::now());
}

fn view() -> View {
    let mut view = View::new();
    set_rows(
        &mut view,
        vec![row("a", "y", 1), row("b", "x", 3), row("c", "x", 2)],
    );
    view
}

fn keys(view: &View) -> String {
    view.shown().map(|row| row.key.as_str()).collect()
}

fn chosen(view: &View) -> Option<&str> {
    view.chosen_row().map(|row| row.key.as_str())
}

fn type_in(view: &mut View, text: &str) {
    for letter in text.chars() {
        assert_eq!(view.press(Press::Char(letter)), Action::None);
    }
}

#[test]
fn rows_are_sorted_by_each_column_in_turn() {
    let mut view = view();
    let mut orders = vec![keys(&view)];
    for _ in 0..3 {
        view.press(Press::Char('s'));
        orders.push(keys(&view));
    }
    assert_eq!(orders, ["abc", "acb", "abc", "bca"]);
}

#[test]
fn filter_is_typed_and_escape_removes_it() {
    let mut view = view();
    type_in(&mut view, "/x");
    assert_eq!((keys(&view).as_str(), view.count()), ("bc", 3));
    view.press(Press::Enter);
    assert_eq!(view.mode(), &Mode::List);
    // A key that means something in the list is text here.
    type_in(&mut view, "/q");
    assert_eq!((view.filter(), chosen(&view)), ("xq", None));
    view.press(Press::Backspace);
    assert_eq!(chosen(&view), Some("b"));
    view.press(Press::Escape);
    assert_eq!(keys(&view), "abc");
}

#[test]
fn chosen_row_stays_chosen_when_rows_move_and_its_successor_when_it_is_gone() {
    let mut view = view();
    view.press(Press::Down);
    assert_eq!(chosen(&view), Some("b"));
    set_rows(
        &mut view,
        vec![row("0", "z", 9), row("b", "x", 3), row("c", "x", 2)],
    );
    assert_eq!((view.place(), chosen(&view)), (Some(1), Some("b")));
    set_rows(&mut view, vec![row("0", "z", 9), row("c", "x", 2)]);
    assert_eq!(chosen(&view), Some("c"));
    view.press(Press::End);
    view.press(Press::PageUp);
    assert_eq!(chosen(&view), Some("0"));
    set_rows(&mut view, Vec::new());
    assert_eq!(chosen(&view), None);
    assert_eq!(view.press(Press::Enter), Action::None);
}

fn some(locks: &[(&str, Option<Row>)]) -> Update {
    let locks = locks
        .iter()
        .map(|(key, row)| ((*key).to_owned(), row.clone()));
    Update::Some {
        locks: locks.collect(),
        failure: None,
    }
}

#[test]
fn rows_on_the_screen_are_updated_alone() {
    let mut view = view();
    assert_eq!(view.keys_on(2), ["a", "b"]);
    view.press(Press::End);
    assert_eq!(view.keys_on(2), ["b", "c"]);
    let again = [("c", None), ("b", Some(row("b", "x", 9)))];
    view.see(some(&again), Instant::now());
    assert_eq!((keys(&view).as_str(), chosen(&view)), ("ab", Some("b")));
    // Locks that became free are read until the next read of all, since somebody may take them.
    assert_eq!(view.keys_on(1), ["b", "c"]);
    view.see(some(&[("c", Some(row("c", "z", 10)))]), Instant::now());
    assert_eq!(
        (keys(&view).as_str(), view.keys_on(1)),
        ("abc", vec!["b".to_owned()])
    );
    view.see(some(&[("b", None)]), Instant::now());
    set_rows(&mut view, vec![row("a", "y", 1)]);
    assert_eq!(view.keys_on(9), ["a"]);
}

#[test]
fn number_of_freed_keys_is_bounded() {
    let mut view = View::new();
    let names: Vec<String> = (100..300).map(|number| number.to_string()).collect();
    set_rows(
        &mut view,
        names.iter().map(|key| row(key, "x", 1)).collect(),
    );
    let freed: Vec<_> = names.iter().map(|key| (key.as_str(), None)).collect();
    view.see(some(&freed), Instant::now());
    assert_eq!(view.keys_on(9), names[100..]);
}

#[test]
fn chosen_row_keeps_its_place_by_age_while_others_are_not_read() {
    let mut view = view();
    view.press(Press::Char('s'));
    view.press(Press::Home);
    view.press(Press::Down);
    assert_eq!((keys(&view).as_str(), chosen(&view)), ("acb", Some("c")));
    let older = Row {
        age_ms: Some(60_000),
        ..row("c", "x", 2)
    };
    view.see(some(&[("c", Some(older))]), Instant::now());
    assert_eq!((keys(&view).as_str(), view.place()), ("acb", Some(1)));
}

#[test]
fn age_of_rows_outside_the_screen_counts_from_the_last_full_read() {
    let (mut view, began) = (View::new(), Instant::now());
    assert_eq!(view.age_of_others(began), None);
    view.see(Update::All(vec![row("a", "x", 1)]), began);
    let later = |seconds| began + Duration::from_secs(seconds);
    assert_eq!(view.age_of_others(later(1)), None);
    view.see(some(&[("a", Some(row("a", "x", 1)))]), later(5));
    assert_eq!(view.age_of_others(later(7)), Some(Duration::from_secs(7)));
}

#[test]
fn lock_that_cannot_be_read_is_reported_and_hides_no_other() {
    let mut view = view();
    let update = Update::Some {
        locks: vec![("a".to_owned(), None)],
        failure: Some("refused".to_owned()),
    };
    view.see(update, Instant::now());
    assert_eq!((keys(&view).as_str(), view.message()), ("bc", "refused"));
    view.see(some(&[]), Instant::now());
    assert_eq!(view.message(), "");
}

/// An inspected lock with this row.
fn inspected(row: Option<Row>) -> Inspected {
    let text = "lock `a` is held".to_owned();
    Inspected { text, row }
}

#[test]
fn text_is_not_shown_over_typed_text() {
    let mut view = view();
    type_in(&mut view, "/x");
    view.show(inspected(None));
    assert_eq!((view.mode(), view.filter()), (&Mode::Filter, "x"));
    view.press(Press::Enter);
    view.show(inspected(None));
    assert!(matches!(view.mode(), Mode::Inspected(_)));
}

#[test]
fn revocation_is_for_the_holder_that_was_shown() {
    let mut view = view();
    let seen = Some(HolderRef::Token(FencingToken::try_from(16_u64).unwrap()));
    let shown = Row {
        seen,
        ..row("a", "y", 16)
    };
    view.show(inspected(Some(shown)));
    set_rows(&mut view, vec![row("a", "z", 32), row("b", "x", 3)]);
    view.press(Press::Char('r'));
    let Mode::Reason(order) = view.mode() else {
        panic!("{view:?}");
    };
    assert_eq!((&*order.key, Some(order.seen)), ("a", seen));
    view.press(Press::Escape);
    // A lock without a holder, one whose record cannot be revoked, and a key that only closes the text.
    for (row, press, message) in [
        (None, 'r', "The lock is free: there is nothing to revoke."),
        (
            Some(row("a", "y", 1)),
            'r',
            "This record cannot be revoked.",
        ),
        (
            Some(row("a", "y", 1)),
            'x',
            "This record cannot be revoked.",
        ),
    ] {
        view.show(inspected(row));
        assert_eq!(view.press(Press::Char(press)), Action::None);
        assert_eq!((view.mode(), view.message()), (&Mode::List, message));
    }
}

#[test]
fn escape_closes_a_mode_and_never_the_view() {
    let mut view = view();
    type_in(&mut view, "/x");
    view.press(Press::Enter);
    for (filter, message) in [("", ""), ("", "q quits")] {
        assert_eq!(view.press(Press::Escape), Action::None);
        assert_eq!((view.filter(), view.message()), (filter, message));
    }
    assert_eq!(keys(&view), "abc");
    view.show(inspected(None));
    assert_eq!(view.press(Press::Escape), Action::None);
    assert_eq!(view.press(Press::Char('q')), Action::Quit);
}

#[test]
fn revocation_asks_for_a_reason_and_for_the_key() {
    let mut view = view();
    view.press(Press::Char('r'));
    assert_eq!(view.message(), "This record cannot be revoked.");
    let seen = HolderRef::Token(FencingToken::try_from(16_u64).unwrap());
    let held = Row {
        seen: Some(seen),
        ..row("a", "y", 16)
    };
    set_rows(&mut view, vec![held]);
    let begin = |view: &mut View| {
        view.press(Press::Char('r'));
        // Without a reason it does not go on.
        view.press(Press::Enter);
        type_in(view, "stuck");
        view.press(Press::Enter);
    };
    begin(&mut view);
    type_in(&mut view, "b");
    assert_eq!(view.press(Press::Enter), Action::None);
    assert!(view.message().contains("nothing was done"));
    begin(&mut view);
    type_in(&mut view, "a");
    let revoke = Action::Revoke(Order {
        key: "a".to_owned(),
        seen,
        is_shared: false,
        reason: "stuck".to_owned(),
    });
    assert_eq!(view.press(Press::Enter), revoke);
    begin(&mut view);
    assert_eq!(view.press(Press::Escape), Action::None);
    assert_eq!(view.mode(), &Mode::List);
    assert_eq!(view.press(Press::Interrupt), Action::Quit);
}

#[test]
fn key_is_typed_as_it_is_shown_and_sharers_are_known() {
    let mut view = View::new();
    let seen = HolderRef::Token(FencingToken::try_from(16_u64).unwrap());
    let shared = Row {
        seen: Some(seen),
        kind: HolderKind::Share,
        ..row("a\u{1b}", "y", 16)
    };
    set_rows(&mut view, vec![shared]);
    view.press(Press::Char('r'));
    type_in(&mut view, "stuck");
    view.press(Press::Enter);
    type_in(&mut view, "a\\u{1b}");
    let Action::Revoke(order) = view.press(Press::Enter) else {
        panic!("{view:?}");
    };
    assert!(order.is_shared && order.key == "a\u{1b}", "{order:?}");
}
