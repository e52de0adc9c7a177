//! Parses the function under the attribute, but only its signature. The body stays as it was typed, so
//! that an editor can complete code in it before it parses.

mod async_slot;
mod cfg;
mod copies;
mod expectations;
mod names;
mod other_macros;
mod output;
mod returns;
mod shape;
mod tail_block;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Signature, Token, Visibility};

pub(crate) use names::{Names, rename_self};
pub(crate) use output::Output;
pub(crate) use shape::Shape;
pub(crate) use tail_block::TailBlock;

/// A function with an unparsed body.
pub(crate) struct Item {
    /// The function's attributes, with the inner ones of its body: these are valid only directly in a
    /// function's braces, and the expansion moves the body into others.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// The braces and their content, without inner attributes.
    pub(crate) body: Group,
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Item> {
        let mut attrs = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        refuse_other_items(input)?;
        let signature: Signature = input.parse()?;
        if other_macros::is_of_wasm_bindgen(&signature) {
            return Err(syn::Error::new(
                signature.ident.span(),
                "`#[wasm_bindgen]` must stand below `#[distributed_lock]`: put `#[distributed_lock]` first",
            ));
        }
        if input.peek(Token![;]) {
            return Err(syn::Error::new(
                signature.fn_token.span(),
                "a function without a body has nothing to lock; put `#[distributed_lock]` on its implementations",
            ));
        }
        let braced = braced(input.parse()?)?;
        let mut inner = Vec::new();
        let rest = (|input: ParseStream<'_>| {
            inner = input.call(Attribute::parse_inner)?;
            input.parse::<TokenStream>()
        })
        .parse2(braced.stream())?;
        attrs.extend(inner.into_iter().map(|mut attr| {
            attr.style = syn::AttrStyle::Outer;
            attr
        }));
        let mut body = Group::new(Delimiter::Brace, rest);
        body.set_span(braced.span());
        Ok(Item {
            attrs: expectations::relaxed(attrs),
            visibility,
            signature,
            body,
        })
    }
}

/// The braces of a body, even inside the invisible group of `$body:block` in a `macro_rules!` macro.
fn braced(tree: TokenTree) -> syn::Result<Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Ok(group),
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            braced(syn::parse2(group.stream())?)
        }
        other => Err(syn::Error::new(
            other.span(),
            "expected the function's body",
        )),
    }
}

fn refuse_other_items(input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    let starts_function = ahead.parse::<Signature>().is_ok();
    let other = input.peek(Token![struct])
        || input.peek(Token![enum])
        || input.peek(Token![union]) && input.peek2(syn::Ident)
        || input.peek(Token![trait])
        || input.peek(Token![impl])
        || input.peek(Token![mod])
        || input.peek(Token![type])
        || input.peek(Token![static])
        || input.peek(Token![use])
        || input.peek(Token![let])
        || input.peek(Token![const]) && !starts_function
        || input.peek(Token![extern]) && !starts_function
        || input.peek(syn::Ident) && input.peek2(Token![!])
        || input.peek(Token![unsafe]) && !starts_function;
    if other {
        return Err(input.error("`#[distributed_lock]` goes on a function"));
    }
    Ok(())
}

impl Item {
    /// The original function, with a use of every argument and a definition of the guard's name.
    ///
    /// It is emitted next to the errors. Without these additions, the compiler would also warn of an
    /// argument that only the key uses, and report the guard's name as unknown.
    pub(crate) fn with_names_used(&self, guard: Option<TokenStream>) -> TokenStream {
        let uses = Names::of(&self.signature)
            .bindings
            .into_iter()
            .map(|binding| {
                let (cfgs, ident) = (binding.cfgs, binding.ident);
                quote!(#(#cfgs)* let _ = &#ident;)
            });
        let statements = self.body.stream();
        let mut body = Group::new(Delimiter::Brace, quote!(#(#uses)* #guard #statements));
        body.set_span(self.body.span());
        let Item {
            attrs,
            visibility,
            signature,
            ..
        } = self;
        quote!(#(#attrs)* #visibility #signature #body)
    }
}

impl ToTokens for Item {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Item {
            attrs,
            visibility,
            signature,
            body,
        } = self;
        quote!(#(#attrs)* #visibility #signature #body).to_tokens(tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str) -> Item {
        syn::parse_str(text).unwrap()
    }

    fn refused(text: &str) -> String {
        let parsed = syn::parse_str::<Item>(text);
        parsed.err().expect(text).to_string()
    }

    #[test]
    fn body_that_does_not_parse_is_accepted() {
        let item = item("pub async fn f(id: u64) { let x = order. }");
        assert_eq!(item.body.stream().to_string(), "let x = order .");
    }

    #[test]
    fn inner_attribute_moves_to_the_function() {
        let item = item("#[a] fn f() { #![b] //! doc\n x }");
        assert_eq!(item.attrs.len(), 3);
        assert_eq!(item.body.stream().to_string(), "x");
        assert!(!item.to_token_stream().to_string().contains('!'));
    }

    #[test]
    fn item_other_than_function_with_body_is_refused() {
        for text in [
            "struct S;",
            "pub trait T {}",
            "impl S {}",
            "enum E {}",
            "mod m {}",
            "const X: u8 = 1;",
            "use a;",
            "static S: u8 = 0;",
            "type T = u8;",
            "macro_rules! m { () => {} }",
            "extern \"C\" { fn f(); }",
            "unsafe extern \"C\" {}",
            "extern crate std as s;",
            "unsafe impl T for S {}",
        ] {
            assert_eq!(
                refused(text),
                "`#[distributed_lock]` goes on a function",
                "{text}"
            );
        }
        assert_eq!(
            refused("async fn f(&self);"),
            "a function without a body has nothing to lock; put `#[distributed_lock]` on its implementations"
        );
        assert_eq!(refused("fn f() = g();"), "expected the function's body");
    }

    #[test]
    fn output_of_wasm_bindgen_is_refused() {
        let text =
            "pub unsafe extern \"C\" fn __wasm_bindgen_generated_ship(arg0_1: u32) -> R { x }";
        assert_eq!(
            refused(text),
            "`#[wasm_bindgen]` must stand below `#[distributed_lock]`: put `#[distributed_lock]` first"
        );
    }

    #[test]
    fn body_in_an_invisible_group_is_accepted() {
        let body = Group::new(Delimiter::Brace, quote!(x));
        let group = Group::new(Delimiter::None, TokenTree::Group(body).into());
        let item: Item = syn::parse2(quote!(fn f() #group)).unwrap();
        assert_eq!(item.body.stream().to_string(), "x");
    }
}
