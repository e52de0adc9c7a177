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
    // The implementation is emitted anyway, so that its users compile.
    assert!(derived(item).contains("KeyPart for "), "{item}");
}

#[test]
fn newtype_writes_its_field() {
    let call = ":: lock_runtime :: __private :: v1 :: KeyPart :: write_to (value , key) ;";
    for (item, member) in [
        ("struct Id(u64);", "0"),
        ("struct Id { number: u64 }", "number"),
        ("struct Id(PhantomData<u8>, u64);", "1"),
        ("struct Id { of: marker::PhantomData<u8>, id: u64 }", "id"),
    ] {
        let output = derived(item);
        let written = format!("let value = & self . {member} ; {call}");
        assert!(output.contains(&written), "{output}");
        assert_eq!(messages(item), [""; 0]);
    }
}

#[test]
fn type_of_a_generic_field_is_bounded() {
    for (item, is_bounded) in [
        ("struct Id<T>(T);", true),
        ("struct Id<T>(Vec<T>);", true),
        ("struct Id<T: Shop>(T::Id);", true),
        ("struct Id<T>(u64, PhantomData<T>);", false),
        ("struct Id<'a>(&'a str);", false),
        ("struct Id<const N: usize>(Digits<N>);", false),
        ("struct Id(u64);", false),
    ] {
        let output = derived(item);
        assert_eq!(output.contains("where"), is_bounded, "{output}");
    }
}

#[test]
fn variant_writes_its_name_or_another_text() {
    let output = derived(
        "enum Kind { North, r#type, r#Self2, #[key_part(rename = \"old:name\")] New = 7, }",
    );
    for arm in [
        "Self :: North => \"North\" ,",
        "Self :: r#type => \"type\" ,",
        "Self :: New => \"old:name\" ,",
    ] {
        assert!(output.contains(arm), "{output}");
    }
    assert!(derived("enum Never {}").contains("match * self { }"));
}

#[test]
fn path_of_the_runtime_can_be_given() {
    let output = derived("#[key_part(crate = shop::locks)] struct Id(u64);");
    assert!(
        output.contains("impl shop :: locks :: __private"),
        "{output}"
    );
    assert!(!output.contains("lock_runtime"), "{output}");
}

#[test]
fn other_attributes_are_ignored() {
    let item = "#[serde(rename = 1)] enum Kind { #[serde(rename = \"x\")] A, #[default] B }";
    assert_eq!(messages(item), [""; 0]);
    assert!(derived(item).contains("Self :: A => \"A\""));
}

#[test]
fn struct_without_one_field_is_refused() {
    for item in [
        "struct Id;",
        "struct Id();",
        "struct Id<T>(PhantomData<T>);",
    ] {
        assert_refused(
            item,
            "`#[derive(KeyPart)]` is for a struct with one field, and `Id` has none: a value that writes nothing cannot be part of a key",
        );
    }
    assert_refused(
        "struct Order { id: u64, region: String }",
        "`#[derive(KeyPart)]` is for a struct with one field, and `Order` has 2: name the fields that identify the resource in the template, such as `<value.id>`, or implement `KeyPart` by hand",
    );
    assert!(messages("struct Pair(u8, u8);")[0].contains("`<value.0>`"));
}

#[test]
fn variant_with_fields_is_refused() {
    for variant in ["Other(u8)", "Other { id: u8 }", "Other()"] {
        assert_refused(
            &format!("enum Kind {{ One, {variant} }}"),
            "`#[derive(KeyPart)]` is for an enum without fields, and `Other` has some: implement `KeyPart` by hand",
        );
    }
}

#[test]
fn variants_with_the_same_text_are_refused() {
    assert_refused(
        "enum Kind { One, #[key_part(rename = \"One\")] Two }",
        "`One` and `Two` would both be `One` in a key, and exclude each other: give one of them another text",
    );
    // `é` in two forms is two texts, as it is in a key.
    let item =
        "enum Kind { #[key_part(rename = \"\u{e9}\")] A, #[key_part(rename = \"e\u{301}\")] B, a }";
    assert_eq!(messages(item), [""; 0]);
}

#[test]
fn rename_without_a_text_is_refused() {
    for value in ["1", "NAME", "b\"x\"", "'x'"] {
        assert_refused(
            &format!("enum Kind {{ #[key_part(rename = {value})] One }}"),
            "`rename` needs a string: `rename = \"north\"`",
        );
    }
    assert_refused(
        "enum Kind { #[key_part(rename = \"\")] One }",
        "an empty text cannot be part of a key: write the variant's name, or another text",
    );
}

#[test]
fn option_in_the_wrong_place_is_refused() {
    let of_a_struct = "`rename` is for a variant of an enum: a struct is written as its field";
    assert_refused("#[key_part(rename = \"x\")] struct Id(u8);", of_a_struct);
    assert_refused("struct Id(#[key_part(rename = \"x\")] u8);", of_a_struct);
    assert_refused(
        "struct Id { #[key_part(skip = true)] id: u8 }",
        "`#[key_part(…)]` of a field has no options, so no `skip`",
    );
    let all = "there is no `rename_all`: write `#[key_part(rename = \"…\")]` above each variant whose text is not its name";
    assert_refused(
        "#[key_part(rename_all = \"lowercase\")] enum Kind { A }",
        all,
    );
    assert_refused(
        "#[key_part(prefix = \"x\")] enum Kind { A }",
        "`#[key_part(…)]` of a type has no `prefix`, only `crate`",
    );
    assert_refused(
        "enum Kind { #[key_part(name = \"x\")] A }",
        "`#[key_part(…)]` of a variant has no `name`, only `rename`",
    );
    assert_refused(
        "enum Kind { #[key_part(rename = \"x\")] #[key_part(rename = \"y\")] A }",
        "`rename` is given twice; remove one",
    );
}

#[test]
fn option_without_a_value_is_refused() {
    for attribute in ["#[key_part]", "#[key_part(rename)]", "#[key_part = \"x\"]"] {
        assert_refused(
            &format!("enum Kind {{ {attribute} A }}"),
            "`#[key_part(…)]` needs a name and a value: `#[key_part(rename = \"north\")]`",
        );
    }
    assert_refused(
        "#[key_part(crate)] struct Id(u8);",
        "`#[key_part(…)]` needs a name and a value: `#[key_part(crate = path::to::lock_runtime)]`",
    );
}

#[test]
fn several_mistakes_are_all_reported() {
    let item = "enum Kind { A(u8), #[key_part(rename = \"\")] B, #[key_part(x = 1)] C }";
    assert_eq!(messages(item).len(), 3);
}

#[test]
fn other_item_is_refused() {
    let message = "`#[derive(KeyPart)]` is for structs and enums";
    assert_eq!(messages("union Bits { a: u8, b: i8 }"), [message]);
}
