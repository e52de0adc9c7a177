//! Tests what a graph remembers and reports, and its bounds.

use std::collections::BTreeSet;
use std::panic::Location;

use super::*;
use crate::lock_order::{Class, Hold, Keys, Origin, Party, Step, Wait};

/// No bound is reached.
const WIDE: Bounds = Bounds {
    classes: 64,
    edges: 64,
    pairs: 64,
    listed_keys: 64,
    rings: 64,
    rings_of_a_call: 64,
    paths: 1_000,
};

impl Graph {
    /// The classes of each ring that was reported, from the lowest text on.
    pub(crate) fn reported_rings(&self) -> BTreeSet<Vec<String>> {
        let text = |id: &ClassId| self.classes.get(*id).text.clone().into_string();
        let rings = self.reported.iter().map(|ring| {
            let mut texts: Vec<String> = ring.iter().map(text).collect();
            let lowest = (0..texts.len()).min_by_key(|place| &texts[*place]);
            texts.rotate_left(lowest.unwrap_or(0));
            texts
        });
        rings.collect()
    }
}

/// A call with the template `class` holds one lock and waits for the next.
fn nested<'a>(held: &'a str, asked: &'a str) -> Link<'a> {
    of_keys((held, "1"), (asked, "1"))
}

fn of_keys<'a>(held: (&'a str, &'a str), asked: (&'a str, &'a str)) -> Link<'a> {
    let lock = |(text, key): (&'a str, &'a str)| Lock {
        class: Class {
            text,
            origin: Origin::Code,
        },
        key,
    };
    let party = |function| Party {
        function,
        template: "-",
        place: Location::caller(),
    };
    Link {
        held: lock(held),
        asked: lock(asked),
        crossing: Crossing {
            step: Step::Nested,
            hold: Hold::Alone,
            wait: Wait::ForAll,
            holder: party("outer"),
            asker: party("inner"),
        },
    }
}

/// The same, but one call takes both.
fn together<'a>(held: &'a str, asked: &'a str) -> Link<'a> {
    by_one_call(nested(held, asked))
}

/// The keys stand for the classes.
fn without_names(mut link: Link<'_>) -> Link<'_> {
    link.held.class.origin = Origin::Key;
    link.asked.class.origin = Origin::Key;
    link
}

fn by_one_call(mut link: Link<'_>) -> Link<'_> {
    link.crossing.step = Step::Together;
    link
}

/// The rings that are reported for these calls, one after the other.
fn rings(graph: &mut Graph, calls: &[Link<'_>]) -> Vec<String> {
    news(graph, calls).0
}

/// The rings and the bounds.
fn news(graph: &mut Graph, calls: &[Link<'_>]) -> (Vec<String>, Vec<Bound>) {
    let mut news = News::default();
    for call in calls {
        match call.crossing.step {
            Step::Nested => drop(graph.see(call, &mut news)),
            Step::Together => {
                let locks = [call.held, call.asked].into_iter();
                graph.see_together(locks, call.crossing, &mut news);
            }
        }
    }
    let rings = news.rings.iter().map(|ring| ring.path(Keys::Hidden));
    (rings.collect(), news.reached)
}

#[test]
fn ring_is_reported_once_and_at_its_last_edge() {
    let mut graph = Graph::new(WIDE);
    assert!(
        rings(
            &mut graph,
            &[nested("a", "b"), nested("b", "c"), nested("a", "c")]
        )
        .is_empty()
    );
    let of_three = rings(&mut graph, &[nested("c", "a")]);
    assert_eq!(
        of_three,
        ["c → a → c", "c → a → b → c"],
        "the shortest first"
    );
    let again = [
        nested("c", "a"),
        nested("a", "b"),
        nested("b", "c"),
        nested("a", "c"),
    ];
    assert!(rings(&mut graph, &again).is_empty());
}

#[test]
fn report_names_the_calls_and_their_places_on_both_sides() {
    let mut graph = Graph::new(WIDE);
    let mut news = News::default();
    for call in [nested("a", "b"), nested("b", "a")] {
        let _ = graph.see(&call, &mut news);
    }
    let calls = news.rings[0].calls(Keys::Hidden);
    let place = |text: &str| text.contains("src/lock_order/graph/tests.rs:");
    let (first, second) = calls.split_once("; ").expect("there are two");
    assert!(
        first.starts_with("inner (") && first.contains("asks for `a` while outer ("),
        "{first}"
    );
    assert!(
        second.contains("asks for `b`") && second.ends_with("holds `a`"),
        "{second}"
    );
    assert!(place(first) && place(second), "{calls}");
}

#[test]
fn two_keys_of_one_class_are_reported_only_in_both_directions() {
    let mut graph = Graph::new(WIDE);
    let of = |held, asked| of_keys(("account:<>", held), ("account:<>", asked));
    assert!(
        rings(
            &mut graph,
            &[of("1", "2"), of("2", "3"), of("3", "1"), of("1", "2")]
        )
        .is_empty()
    );
    let (mut news, reverse) = (News::default(), of("2", "1"));
    let _ = graph.see(&reverse, &mut news);
    assert_eq!(news.rings[0].path(Keys::Hidden), "account:<> → account:<>");
    assert!(news.rings[0].advice().contains("keys = [...]"));
    assert!(
        rings(&mut graph, &[of("3", "2"), reverse]).is_empty(),
        "once for a class"
    );
}

#[test]
fn locks_taken_together_form_a_ring_only_with_nested_locks() {
    let mut graph = Graph::new(WIDE);
    let both_orders = [
        together("a", "b"),
        together("b", "c"),
        together("c", "a"),
        together("b", "a"),
    ];
    assert_eq!(rings(&mut graph, &both_orders), [""; 0]);
    let of_another = [nested("a", "x"), together("x", "y"), together("y", "x")];
    assert_eq!(rings(&mut graph, &of_another), [""; 0]);
    // Each edge of these is known, but not as an edge of nested calls.
    let two = [nested("b", "a")];
    assert_eq!(
        rings(&mut graph, &two),
        ["b → a → b"],
        "not the ring of three, which this edge is no part of"
    );
    assert_eq!(rings(&mut graph, &[nested("b", "c")]), ["b → c → a → b"]);
    assert_eq!(rings(&mut graph, &[together("a", "b")]), [""; 0]);
}

#[test]
fn weaker_nested_call_forms_a_ring_despite_a_stronger_call_for_both() {
    let mut reads = nested("a", "b");
    reads.crossing.wait = Wait::ForWriter;
    let mut shares = nested("b", "a");
    shares.crossing.hold = Hold::Shared;
    let both = [together("a", "b"), together("b", "a")];
    let mut graph = Graph::new(WIDE);
    assert_eq!(rings(&mut graph, &both), [""; 0]);
    assert_eq!(rings(&mut graph, &[reads]), ["a → b → a"]);
    // If the nesting calls do not wait for each other, each waits for a call that takes both.
    let mut graph = Graph::new(WIDE);
    assert_eq!(rings(&mut graph, &[reads, shares]), [""; 0]);
    assert_eq!(rings(&mut graph, &both[..1]), ["a → b → a"]);
    // The ring has the weaker call, since the stronger one takes both.
    let mut graph = Graph::new(WIDE);
    let before = [reads, both[0], nested("b", "c")];
    assert_eq!(rings(&mut graph, &before), [""; 0]);
    let (told, _) = news(&mut graph, &[together("c", "a"), both[1]]);
    assert_eq!(told, ["c → a → b → c", "b → a → b"]);
}

/// One call takes these keys of a class.
fn see_list(graph: &mut Graph, keys: &[&str]) -> Vec<String> {
    let mut news = News::default();
    let locks = keys.iter().map(|key| of_keys(("a", key), ("a", key)).held);
    let crossing = together("a", "a").crossing;
    graph.see_together(locks, crossing, &mut news);
    let rings = news.rings.iter().map(|ring| ring.path(Keys::Hidden));
    rings.collect()
}

#[test]
fn keys_that_are_taken_together_are_in_no_order_with_each_other() {
    let of = |held, asked| of_keys(("a", held), ("a", asked));
    let mut graph = Graph::new(WIDE);
    for keys in [["1", "2", "3"], ["3", "2", "1"]] {
        assert_eq!(see_list(&mut graph, &keys), [""; 0]);
    }
    // A nested call takes two of them in one of these orders.
    assert_eq!(rings(&mut graph, &[of("1", "3")]), ["a → a"]);
    for (held, asked, ring) in [("1", "3", false), ("3", "1", true), ("2", "1", true)] {
        let told = if ring { &["a → a"][..] } else { &[] };
        let mut graph = Graph::new(WIDE);
        assert_eq!(see_list(&mut graph, &["1", "2", "3"]), [""; 0]);
        assert_eq!(rings(&mut graph, &[of(held, asked)]), told);
        // The other one comes first.
        let mut graph = Graph::new(WIDE);
        assert_eq!(rings(&mut graph, &[of(held, asked)]), [""; 0]);
        assert_eq!(see_list(&mut graph, &["1", "2", "3"]), told);
    }
    // Of another class.
    let other = of_keys(("b", "3"), ("b", "1"));
    let mut graph = Graph::new(WIDE);
    assert_eq!(see_list(&mut graph, &["1", "3"]), [""; 0]);
    assert_eq!(rings(&mut graph, &[other]), [""; 0]);
    assert_eq!(see_list(&mut graph, &["1", "2", "3"]), [""; 0]);
}

#[test]
fn oldest_keys_that_were_taken_together_are_forgotten() {
    let bounds = Bounds {
        listed_keys: 6,
        ..WIDE
    };
    let of = |held, asked| of_keys(("a", held), ("a", asked));
    let mut graph = Graph::new(bounds);
    // Repeating a call takes no further room.
    for keys in [&["1", "2"], &["3", "4"], &["3", "4"], &["5", "6"]] {
        assert_eq!(see_list(&mut graph, keys), [""; 0]);
    }
    assert_eq!(rings(&mut graph, &[of("2", "1")]), ["a → a"]);
    let mut graph = Graph::new(bounds);
    for keys in [&["1", "2"][..], &["3", "4"], &["5", "6", "7"], &["1", "2"]] {
        assert_eq!(see_list(&mut graph, keys), [""; 0]);
    }
    assert_eq!(rings(&mut graph, &[of("4", "3")]), [""; 0], "forgotten");
    assert_eq!(rings(&mut graph, &[of("2", "1")]), ["a → a"], "again");
}

#[test]
fn advice_is_for_the_functions_that_nest() {
    let of = |held, asked| of_keys(("a", held), ("a", asked));
    for (first, advice) in [
        (of("1", "2"), "lock both keys at once"),
        (by_one_call(of("1", "2")), "in the functions that nest them"),
    ] {
        let mut graph = Graph::new(WIDE);
        news(&mut graph, &[first]);
        let mut told = News::default();
        let _ = graph.see(&of("2", "1"), &mut told);
        assert!(told.rings[0].advice().contains(advice));
    }
}

#[test]
fn keys_are_shown_only_where_logs_have_keys() {
    let mut graph = Graph::new(WIDE);
    let mut news = News::default();
    for (held, asked) in [("order:42", "ledger:<>"), ("ledger:<>", "order:42")] {
        let mut call = nested(held, asked);
        for lock in [&mut call.held, &mut call.asked] {
            if lock.class.text == "order:42" {
                lock.class.origin = Origin::Key;
            }
        }
        let _ = graph.see(&call, &mut news);
    }
    let ring = &news.rings[0];
    assert_eq!(ring.path(Keys::Hidden), "ledger:<> → - → ledger:<>");
    assert_eq!(ring.path(Keys::Shown), "ledger:<> → order:42 → ledger:<>");
    assert!(!ring.calls(Keys::Hidden).contains("42"));
    assert!(ring.calls(Keys::Shown).contains("`order:42`"));
}

#[test]
fn keys_from_strangers_are_escaped_and_cut() {
    let mut graph = Graph::new(WIDE);
    let mut news = News::default();
    let keys = ["\n\u{1b}[2J".to_owned(), "x".repeat(500)];
    let of_key = |held: usize, asked: usize| without_names(nested(&keys[held], &keys[asked]));
    for call in [of_key(0, 1), of_key(1, 0)] {
        let _ = graph.see(&call, &mut news);
    }
    let path = news.rings[0].path(Keys::Shown);
    assert!(
        path.contains(r"\n\u{1b}[2J") && path.contains('…'),
        "{path}"
    );
    assert!(path.len() < 500, "{path}");
}

#[test]
fn text_of_the_program_is_shown_although_a_key_had_it_first() {
    let mut graph = Graph::new(WIDE);
    let mut by_key = nested("ledger", "a");
    by_key.held.class.origin = Origin::Key;
    let calls = [by_key, nested("ledger", "b"), nested("b", "ledger")];
    assert_eq!(rings(&mut graph, &calls), ["b → ledger → b"]);
}

#[test]
fn one_call_reports_the_shortest_of_many_rings() {
    let few = Bounds {
        rings_of_a_call: 2,
        ..WIDE
    };
    let mut graph = Graph::new(few);
    let names = ["a", "b", "c", "d"];
    let pairs = (0..4).flat_map(|held| (held + 1..4).map(move |asked| (held, asked)));
    let calls: Vec<_> = pairs
        .map(|(held, asked)| nested(names[held], names[asked]))
        .collect();
    assert_eq!(rings(&mut graph, &calls), [""; 0]);
    let (told, reached) = news(&mut graph, &[nested("d", "a")]);
    assert_eq!(told, ["d → a → d", "d → a → b → d"]);
    assert_eq!(reached, []);
    // A ring that several calls can form counts once.
    let mut reads = nested("a", "b");
    reads.crossing.wait = Wait::ForWriter;
    let mut graph = Graph::new(few);
    let calls = [
        together("a", "b"),
        reads,
        nested("b", "c"),
        nested("a", "d"),
        nested("d", "b"),
    ];
    assert_eq!(rings(&mut graph, &calls), [""; 0]);
    let told = rings(&mut graph, &[together("c", "a")]);
    assert_eq!(told, ["c → a → b → c", "c → a → d → b → c"]);
}

#[test]
fn refused_edge_is_not_remembered() {
    let mut graph = Graph::new(WIDE);
    graph.refuse_rings();
    let mut news = News::default();
    let mut refuses = |call| matches!(graph.see(&call, &mut news), Verdict::Refused(_));
    assert!(!refuses(nested("a", "b")));
    for _ in 0..2 {
        assert!(refuses(nested("b", "a")), "each time");
        assert!(!refuses(nested("a", "b")), "the first order goes on");
    }
    assert_eq!(news.rings.len(), 1, "the ring is reported once");
}

#[test]
fn bounds_are_reported_once_and_known_orders_stay() {
    let few = Bounds { classes: 4, ..WIDE };
    let known = [nested("a", "b"), nested("c", "d")];
    let more = [nested("a", "e"), nested("f", "g")];
    let (mut graph, reached) = (Graph::new(few), |graph: &mut _, calls: &[_]| {
        news(graph, calls).1
    });
    assert_eq!(reached(&mut graph, &known), []);
    assert_eq!(reached(&mut graph, &more), [Bound::Classes(4)]);
    assert_eq!(reached(&mut graph, &more), []);
    assert_eq!(rings(&mut graph, &[nested("b", "a")]), ["b → a → b"]);

    let mut graph = Graph::new(Bounds { edges: 2, ..WIDE });
    assert_eq!(
        reached(&mut graph, &[known[0], known[1], more[0], more[1]]),
        [Bound::Edges(2)]
    );
    let mut stronger = nested("a", "b");
    stronger.crossing.wait = Wait::ForWriter;
    assert_eq!(reached(&mut graph, &[stronger]), []);

    let mut graph = Graph::new(Bounds { rings: 1, ..WIDE });
    let two = [
        nested("a", "b"),
        nested("b", "a"),
        nested("c", "d"),
        nested("d", "c"),
    ];
    assert_eq!(
        news(&mut graph, &two),
        (vec!["b → a → b".to_owned()], vec![Bound::Rings(1)])
    );

    let mut graph = Graph::new(Bounds { paths: 1, ..WIDE });
    let long = [
        nested("a", "b"),
        nested("b", "c"),
        nested("b", "d"),
        nested("d", "a"),
        nested("c", "a"),
    ];
    assert_eq!(reached(&mut graph, &long), [Bound::Paths(1)]);
}

#[test]
fn oldest_pair_of_keys_is_forgotten() {
    let mut graph = Graph::new(Bounds { pairs: 2, ..WIDE });
    let of = |held, asked| of_keys(("a", held), ("a", asked));
    assert!(
        rings(
            &mut graph,
            &[of("1", "2"), of("3", "4"), of("5", "6"), of("2", "1")]
        )
        .is_empty()
    );
    assert_eq!(rings(&mut graph, &[of("6", "5")]), ["a → a"]);
}

#[test]
fn keys_leave_room_for_templates() {
    let few_classes = Bounds { classes: 8, ..WIDE };
    let few_edges = Bounds { edges: 8, ..WIDE };
    for (bounds, reached) in [(few_classes, Bound::Keys(4)), (few_edges, Bound::Edges(4))] {
        let mut graph = Graph::new(bounds);
        let keys: Vec<String> = (0..20).map(|number| format!("order:{number}")).collect();
        let of_keys = keys
            .windows(2)
            .map(|pair| without_names(nested(&pair[0], &pair[1])));
        let of_keys: Vec<_> = of_keys.collect();
        assert_eq!(news(&mut graph, &of_keys), (Vec::new(), vec![reached]));
        let of_templates = [nested("a", "b"), nested("b", "a")];
        assert_eq!(rings(&mut graph, &of_templates), ["b → a → b"]);
    }
}

#[test]
fn keys_that_are_taken_together_are_left_out_until_they_are_nested() {
    let mut graph = Graph::new(Bounds { classes: 8, ..WIDE });
    let keys: Vec<String> = (0..20).map(|number| format!("order:{number}")).collect();
    let pairs = keys.windows(2);
    let of_keys: Vec<_> = pairs
        .map(|pair| without_names(together(&pair[0], &pair[1])))
        .collect();
    let nests = without_names(nested("x", "order:1"));
    assert_eq!(news(&mut graph, &[nests]), (vec![], vec![]));
    assert_eq!(news(&mut graph, &of_keys), (vec![], vec![]));
    let others = [("x", "order:2"), ("order:2", "order:1")];
    let others = others.map(|(held, asked)| without_names(nested(held, asked)));
    assert_eq!(news(&mut graph, &others), (vec![], vec![]), "all have room");
    let ring = "- → - → -".to_owned();
    assert_eq!(news(&mut graph, &of_keys), (vec![ring], vec![]));
}

#[test]
fn edges_of_calls_for_several_locks_leave_room_for_nested_locks() {
    let mut graph = Graph::new(Bounds { edges: 2, ..WIDE });
    let names: Vec<String> = (0..9).map(|number| format!("{number}")).collect();
    let pairs = names.windows(2);
    let both: Vec<_> = pairs.map(|pair| together(&pair[0], &pair[1])).collect();
    assert_eq!(news(&mut graph, &both), (vec![], vec![]));
    let ring = "1 → 0 → 1".to_owned();
    let nests = [nested("8", "7"), nested("1", "0")];
    assert_eq!(news(&mut graph, &nests), (vec![ring], vec![]));
    assert_eq!(news(&mut graph, &[nested("x", "y")]).1, [Bound::Edges(2)]);
}

#[test]
fn lock_without_room_keeps_the_order_of_the_locks_around_it() {
    let mut graph = Graph::new(WIDE);
    let lock = |text, origin| Lock {
        class: Class { text, origin },
        key: text,
    };
    let locks = [
        lock("a", Origin::Code),
        lock("m", Origin::Key),
        lock("z", Origin::Code),
    ];
    let crossing = together("a", "z").crossing;
    graph.see_together(locks.into_iter(), crossing, &mut News::default());
    assert_eq!(rings(&mut graph, &[nested("z", "a")]), ["z → a → z"]);
}
