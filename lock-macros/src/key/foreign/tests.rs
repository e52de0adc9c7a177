use super::super::scan::scan;
use super::*;
use crate::item::Names;

fn diagnostics(template: &str) -> Vec<(&str, String)> {
    let mut diagnostics = Vec::new();
    let pieces = scan(template, &mut diagnostics);
    let signature = "fn f(&self, id: u64, order_id: u64, order: &Order)";
    let names = Names::of(&syn::parse_str(signature).unwrap());
    placeholders(template, &pieces, &names, Place::Value, &mut diagnostics);
    diagnostics
        .into_iter()
        .map(|diagnostic| (&template[diagnostic.range], diagnostic.message))
        .collect()
}

/// The part that is reported, and the template that is proposed.
fn proposed(template: &str) -> (&str, String) {
    let found = diagnostics(template);
    assert_eq!(found.len(), 1, "{template}: {found:?}");
    let (_, rest) = found[0].1.split_once("; write `").expect("a proposal");
    let (proposed, _) = rest.split_once('`').expect("it ends");
    (found[0].0, proposed.to_owned())
}

#[test]
fn diagnostic_contains_the_corrected_template() {
    assert_eq!(
        diagnostics("order:#id")[0].1,
        "`#id` is literal text here, but `id` is an argument; write `order:<id>`, or `key = String::from(\"order:#id\")` if you mean the text"
    );
    assert_eq!(
        diagnostics("order:%s")[0].1,
        "`%s` is literal text here, and nothing in this key tells one call from another; write `order:<id>`, or `key = String::from(\"order:%s\")` if you mean the text"
    );
    assert_eq!(
        diagnostics("<<id>>")[0].1,
        "`<<id>>` is literal text here, but `id` is an argument; write `<id>`, or `key = String::from(KEY)` if you mean the text"
    );
}

#[test]
fn placeholder_that_names_an_argument_is_reported() {
    for (template, part, corrected) in [
        ("#id", "#id", "<id>"),
        ("order:#id:x", "#id", "order:<id>:x"),
        ("order:$id", "$id", "order:<id>"),
        ("order::id", ":id", "order:<id>"),
        ("orders/:id/lines", ":id", "orders/<id>/lines"),
        (":id", ":id", "<id>"),
        ("order:@id", "@id", "order:<id>"),
        ("order:%id%", "%id%", "order:<id>"),
        ("order:%(id)s", "%(id)s", "order:<id>"),
        ("a<<b<<id>>", "<<id>>", "a<<b<id>"),
        ("#order.id", "#order.id", "<order.id>"),
        ("x#order.getId()#", "#order.getId()", "x<order.getId()>#"),
        ("#orderId", "#orderId", "<order_id>"),
        ("#self.name", "#self.name", "<self.name>"),
        ("'order:' + #id", "#id", "order:<id>"),
        ("'a+b:' + #id", "#id", "'a+b:' + <id>"),
        ("#order.id + ':' + #id", "#order.id", "<order.id>:<id>"),
        ("order:#{#id}", "#{#id}", "order:<id>"),
        ("<order>:#id", "#id", "<order>:<id>"),
        ("<id>:#id", "#id", "<id>:<id>"),
        ("<order>/:id", ":id", "<order>/<id>"),
        ("<order_id>::id", ":id", "<order_id>:<id>"),
        ("é:#id", "#id", "é:<id>"),
    ] {
        assert_eq!(
            proposed(template),
            (part, corrected.to_owned()),
            "{template}"
        );
    }
}

#[test]
fn placeholder_that_counts_is_reported_if_it_is_the_only_kind() {
    for (template, part, corrected) in [
        ("order:%s", "%s", "order:<id>"),
        ("%d:%s", "%d", "<id>:<order_id>"),
        ("a:%1$s", "%1$s", "a:<id>"),
        ("order:{0}", "{0}", "order:<id>"),
        ("{0}:{1}:{2}:{3}", "{0}", "<id>:<order_id>:<order>:<order>"),
        ("order:$1", "$1", "order:<id>"),
        ("order:#p0", "#p0", "order:<id>"),
        ("order:?", "?", "order:<id>"),
        ("?:x", "?", "<id>:x"),
    ] {
        assert_eq!(
            proposed(template),
            (part, corrected.to_owned()),
            "{template}"
        );
    }
}

#[test]
fn other_text_is_not_reported() {
    for template in [
        "order:#ids",
        "issue#1",
        "c#",
        "#",
        "$",
        "a:$",
        "order:id",
        "id",
        "id:order",
        "get /orders/:id:<id>",
        "<order.id>/:order",
        "<*id>::id",
        "a::b",
        "user@id",
        "100%",
        "100%sure",
        "%(id",
        "%id",
        "<<b>>",
        "Arc<<Self>>",
        "Order#Id",
        "<<<id>>>",
        "Class#method",
        "{0}:<id>",
        "%s:<id>",
        "<id>:?",
        "why?",
        "a?:b",
        "$1x",
        "{0",
        "{a0}",
        "#px",
        "#result",
        "",
    ] {
        assert_eq!(diagnostics(template), [], "{template}");
    }
}

#[test]
fn counting_placeholder_without_arguments_is_not_reported() {
    let template = "order:%s";
    let mut diagnostics = Vec::new();
    placeholders(
        template,
        &scan(template, &mut diagnostics),
        &Names::default(),
        Place::Value,
        &mut diagnostics,
    );
    assert_eq!(diagnostics, []);
}
