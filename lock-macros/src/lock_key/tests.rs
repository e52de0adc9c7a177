use super::derive;

fn derived(item: &str) -> String {
    derive(item.parse().unwrap()).to_string()
}

/// The messages of all `compile_error!`s in the output.
fn messages(item: &str) -> Vec<String> {
    crate::tests::messages(&derived(item))
}

#[track_caller]
fn assert_refused(item: &str, message: &str) {
    assert_eq!(messages(item), [message], "{item}");
    // The implementations are emitted anyway, so that their users compile.
    assert_eq!(
        derived(item).matches("core :: convert :: From <").count(),
        2
    );
}

fn invoice(template: &str) -> String {
    format!("#[lock_key({template:?})] struct InvoiceKey {{ tenant: Tenant, id: u64 }}")
}

#[test]
fn placeholders_are_fields() {
    for (item, written) in [
        (
            invoice("{<tenant.name()>}:invoice:<id>"),
            &[
                r#"& ["{" , "tenant.name()"] , & __lock_declared . tenant . name ()"#,
                r#"& ["}:invoice:" , "id"] , & __lock_declared . id"#,
            ][..],
        ),
        (
            "#[lock_key(\"<*0>:<1.0.id>/<2[0].1>\")] struct K(&'static u8, Pair, Vec<Pair>);".to_owned(),
            &[
                "& * __lock_declared . 0",
                "& __lock_declared . 1 . 0 . id",
                "& __lock_declared . 2 [0] . 1",
            ],
        ),
        (
            "#[lock_key(\"<lines.get(at)>:<r#type>:<REGION>\")] struct K { lines: L, at: u8, r#type: u8 }"
                .to_owned(),
            &[
                "& __lock_declared . lines . get (__lock_declared . at)",
                "& __lock_declared . r#type",
                "& REGION",
            ],
        ),
    ] {
        let output = derived(&item);
        assert_eq!(messages(&item), [""; 0], "{item}");
        for value in written {
            assert!(output.contains(value), "{value} is not in {output}");
        }
    }
}

#[test]
fn template_is_passed_with_its_outline() {
    let output = derived(&invoice("{<tenant>}:invoice:<id>"));
    let template = r#"KeyTemplate ("{<tenant>}:invoice:<id>" , "{<>}:invoice:<>")"#;
    assert!(output.contains(template), "{output}");
}

#[test]
fn struct_without_fields_has_one_key() {
    for item in ["struct Nightly;", "struct Nightly();", "struct Nightly {}"] {
        assert_eq!(
            messages(&format!("#[lock_key(\"nightly\")] {item}")),
            [""; 0]
        );
    }
}

#[test]
fn type_of_a_generic_field_is_bounded_if_it_is_a_whole_placeholder() {
    for (item, is_bounded) in [
        ("#[lock_key(\"<0>\")] struct K<T>(T);", true),
        ("#[lock_key(\"< 0 >\")] struct K<T: Shop>(T::Id);", true),
        ("#[lock_key(\"<0.id()>\")] struct K<T: Shop>(T);", false),
        (
            "#[lock_key(\"<0>\")] struct K<T>(u64, PhantomData<T>);",
            false,
        ),
        (
            "#[lock_key(\"<0>\")] struct K<'a, const N: usize>(Digits<'a, N>);",
            false,
        ),
    ] {
        let output = derived(item);
        assert_eq!(messages(item), [""; 0], "{item}");
        assert_eq!(output.contains("where"), is_bounded, "{output}");
    }
}

#[test]
fn path_of_the_runtime_can_be_given() {
    let output = derived("#[lock_key(\"a\", crate = shop::locks)] struct K;");
    assert!(
        output.contains("use shop :: locks :: __private"),
        "{output}"
    );
    assert!(!output.contains("lock_runtime"), "{output}");
}

#[test]
fn mistake_in_the_template_is_explained_as_in_the_attribute() {
    for (template, message) in [
        (
            "a:<tenant>:<idd>",
            "no field named `idd`; did you mean `id`?",
        ),
        (
            "a:<tenant>:<x>",
            "no field named `x`; there are `tenant`, `id`",
        ),
        (
            "a:<tenant>:<self.id>",
            "a template names fields without `self`: write `<field>`, not `<self.field>`",
        ),
        (
            "a:<tenant>:<0>",
            "no field named `0`; there are `tenant`, `id`",
        ),
        (
            "a:<tenant>:<id + 1>",
            "`<id + 1>` is not a value: write a field, a constant or a path, then",
        ),
        (
            "a:<>:<tenant>:<id>",
            "`<>` names nothing; write a field's name",
        ),
        (
            "a:<tenant>:<id:08>",
            "a key takes no format specification; write `<id>`",
        ),
        (
            "a:<tenant>:<id?>",
            "a key cannot use `?`; make the value a field",
        ),
        (
            "a:<tenant><id>",
            "different fields could give the same key; separate them",
        ),
        (
            "a:<tenant>:{id}",
            "`{id}` is literal text here, but `id` is a field; write `<id>`, or `{<id>}`",
        ),
        (
            "a:<tenant>:#id",
            "`#id` is literal text here, but `id` is a field; write `a:<tenant>:<id>`\n",
        ),
        ("", "the key is empty"),
        ("a}:<tenant>:<id>", "`}` closes no hash tag"),
        (
            "{a}:<tenant>:<id>:f",
            "a key with a hash tag cannot end in `:f`",
        ),
    ] {
        let item = invoice(template);
        let found = messages(&item);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].starts_with(message), "{found:#?}");
    }
    let tuple = |template| messages(&format!("#[lock_key({template:?})] struct K(u8, u8);"));
    assert!(tuple("<0>:<2>")[0].starts_with("no field named `2`; there are `0`, `1`"));
    assert!(tuple("<0>:<id>")[0].starts_with("no field named `id`; there are `0`, `1`"));
    assert!(tuple("{0}:{1}")[0].contains("write `<0>:<1>`\n"));
    assert!(
        messages("#[lock_key(\"<id>\")] struct K;")[0]
            .starts_with("no field named `id`; this struct has none")
    );
}

#[test]
fn field_that_is_in_no_placeholder_is_refused() {
    assert_refused(
        &invoice("invoice:<id>"),
        "no placeholder names the field `tenant`: keys that differ only there would be one lock; write `<tenant>` in the template, or remove the field",
    );
    let tuple = messages("#[lock_key(\"<1>\")] struct K(u8, u8, PhantomData<u8>);");
    assert!(tuple[0].starts_with("no placeholder names the field `0`"));
    // A method of a field may have the name of another field.
    assert!(messages(&invoice("<tenant.id()>"))[0].contains("the field `id`"));
}

#[test]
fn template_is_required_once() {
    assert_refused(
        "struct InvoiceKey<'a> { tenant: &'a str, id: u64 }",
        "`#[derive(LockKey)]` needs the template of the key: write `#[lock_key(\"invoice:<tenant>:<id>\")]` above the struct",
    );
    assert_refused(
        "#[lock_key(\"a\")] #[lock_key(\"a\")] struct K;",
        "`#[lock_key]` is given twice; a key has one template",
    );
    assert_refused(
        "#[lock_key(\"a:<0>\")] struct K(#[lock_key(\"x\")] u8);",
        "`#[lock_key]` is for the struct: its template names the fields",
    );
}

#[test]
fn other_arguments_are_refused() {
    for arguments in ["", "()", "= \"k\"", "(\"k\", rename = 1)", "(\"k\" \"l\")"] {
        assert_refused(
            &format!("#[lock_key{arguments}] struct K;"),
            "`#[lock_key(…)]` takes the template: write `#[lock_key(\"k\")]` above the struct",
        );
    }
    for value in [
        "TEMPLATE",
        "template = \"k\"",
        "concat!(\"a\", \"b\")",
        "b\"k\"",
    ] {
        assert_refused(
            &format!("#[lock_key({value})] struct K;"),
            "the template is a string literal: write `#[lock_key(\"k\")]` above the struct",
        );
    }
}

#[test]
fn other_item_is_refused() {
    for (item, what) in [
        ("enum Kind { A, B }", "`Kind` is an enum"),
        ("union Bits { a: u8, b: i8 }", "`Bits` is a union"),
    ] {
        let message = format!(
            "`#[derive(LockKey)]` is for a struct, and {what}: declare a struct for each kind of lock"
        );
        assert_eq!(messages(&format!("#[lock_key(\"a\")] {item}")), [message]);
    }
}
