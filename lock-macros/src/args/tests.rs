use super::*;

fn messages(tokens: &str) -> Vec<String> {
    let mut errors = Errors::default();
    Args::read(tokens.parse().unwrap(), &mut errors);
    errors.messages()
}

#[test]
fn options_in_any_order_are_read() {
    let mut errors = Errors::default();
    let args = Args::read(
        r#"ttl = "10s", client = pool::<A, B>(), key = "a", or_else = |e| f(e, 1), crate = crate::rt,"#
            .parse()
            .unwrap(),
        &mut errors,
    );
    assert_eq!(errors.messages(), Vec::<String>::new());
    assert!(args.key.is_some() && args.ttl.is_some() && args.client.is_some());
    assert!(args.or_else.is_some() && args.krate.is_some());
    assert!(args.wait.is_none());
}

#[test]
fn missing_key_is_reported() {
    let message = "`distributed_lock` needs a `key`, such as `key = \"order:<id>\"`";
    assert_eq!(messages(""), [message]);
    assert_eq!(messages("ttl = TTL"), [message]);
}

#[test]
fn value_without_name_is_taken_for_the_key() {
    assert_eq!(messages("\"order:<id>\""), ["write `key = \"order:<id>\"`"]);
    assert_eq!(messages("\"a\", wait = \"1s\""), ["write `key = \"a\"`"]);
    assert_eq!(messages("[\"a\", b]"), ["write `keys = [\"a\", b]`"]);
}

#[test]
fn misnamed_key_is_reported_once() {
    for (written, message) in [
        ("kye = \"a\"", "unknown option `kye`; did you mean `key`?"),
        ("Key = \"a\"", "unknown option `Key`; did you mean `key`?"),
        ("name = \"a\"", "unknown option `name`; did you mean `key`?"),
        ("Keys = []", "unknown option `Keys`; did you mean `keys`?"),
        (
            "resources = [\"a\"]",
            "unknown option `resources`; did you mean `keys`?",
        ),
    ] {
        assert_eq!(messages(written), [message]);
    }
    assert_eq!(messages("readers = 5").len(), 2);
}

#[test]
fn wrong_syntax_is_reported_with_its_correction() {
    for (written, message) in [
        ("key = order:<id>", "write `key = \"order:<id>\"`"),
        ("key = <id>", "write `key = \"<id>\"`"),
        (
            "key = order-<self.of(a b)>:x",
            "write `key = \"order-<self.of(a b)>:x\"`",
        ),
        ("key = {<a>}:<b>, ttl = TTL", "write `key = \"{<a>}:<b>\"`"),
        (
            "keys = [a:<from>, \"b:<to>\", KEY, <to>], ttl = TTL",
            "write `keys = [\"a:<from>\", \"b:<to>\", KEY, \"<to>\"]`",
        ),
        ("keys: [\"a\"]", "write `keys = [\"a\"]`"),
        ("key: \"a\", ttl = TTL", "write `key = \"a\"`"),
        ("key: order:<id>", "write `key = \"order:<id>\"`"),
        ("key: KEYS[1]", "write `key = KEYS[1]`"),
        ("key = KEY, ttl: \"10s\"", "write `ttl = \"10s\"`"),
        ("key:", "`key` needs a value: write `key = \"order:<id>\"`"),
        ("key = KEY wait = WAIT", "expected `,` between two options"),
        (
            "key = A::B ttl = \"1s\"",
            "expected `,` between two options",
        ),
    ] {
        assert_eq!(messages(written), [message], "{written}");
    }
    for written in [
        "key = <T as Keyed>::KEY",
        "key = a::b(c)",
        "key = <T>::of(id), ttl = TTL",
        "keys = [\"a:<id>\", <T>::of(id), A::B]",
        "keys = vec![a::b(c)]",
    ] {
        assert_eq!(messages(written), [""; 0], "{written}");
    }
}

#[test]
fn format_arguments_are_reported_once() {
    for (written, message) in [
        (
            r#"key = "order:{}", id"#,
            "a key is a template and takes no arguments: write `key = \"order:<id>\"`",
        ),
        (
            r#"key = "{}:{:?}:{}", order.id, self.x, ttl = "1s""#,
            "a key is a template and takes no arguments: write `key = \"<order.id>:<self.x>:<…>\"`",
        ),
        (
            r#"key = "order:{n}", n = id"#,
            "unknown option `n`; the options are `key`, `keys`, `ttl`, `wait`, `mode`, `permits`, `take`, `renew`, `max_hold`, `min_hold`, `retain`, `runs`, `reentrant`, `on_busy`, `on_lost`, `or_else`, `guard`, `token`, `client`, `crate`",
        ),
    ] {
        assert_eq!(messages(written), [message], "{written}");
    }
}

#[test]
fn mutable_guard_is_refused() {
    assert_eq!(
        messages("key = \"a\", guard = mut held"),
        ["a guard is a reference and needs no `mut`: write `guard = held`"]
    );
}

#[test]
fn several_mistakes_are_reported_together() {
    assert_eq!(
        messages(
            r#"tttl = "10s", key = "a", key = "b", renew, wait("2s"), guard = , keys, permits(5), 5"#
        ),
        [
            "unknown option `tttl`; did you mean `ttl`?",
            "`key` is given more than once",
            "`renew` needs a value: write `renew = false`",
            "`wait` needs a value: write `wait = \"10s\"`",
            "`guard` needs a value: write `guard = lock`",
            "`keys` needs a value: write `keys = [\"account:<from>\", \"account:<to>\"]`",
            "`permits` needs a value: write `permits = 5`",
            "expected an option such as `key = \"order:<id>\"`",
        ]
    );
}

#[test]
fn missing_comma_is_reported() {
    assert_eq!(
        messages(r#"key = "a" ttl = "1s", wiat = "1s""#),
        [
            "expected `,` between two options",
            "unknown option `wiat`; did you mean `wait`?"
        ]
    );
}
