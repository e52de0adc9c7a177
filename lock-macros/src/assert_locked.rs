//! `assert_locked!`, which panics unless the current call tree holds a lock.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, LitStr, Token};

use crate::args;
use crate::errors::Errors;
use crate::expand::{expression_key, template_writes};
use crate::key::{Key, Place, Surroundings};
use crate::suggest;

/// `[write] KEY, client = …, crate = …`
struct Assertion {
    is_exclusive: bool,
    key: Expr,
    client: Option<Expr>,
    runtime: Option<Expr>,
}

/// The macro on plain token streams, so that tests can call it.
pub(crate) fn assert_locked(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let assertion = match syn::parse2::<Assertion>(input) {
        Ok(assertion) => assertion,
        Err(error) => {
            let error = error.to_compile_error();
            return quote!({ #error });
        }
    };
    let runtime = match &assertion.runtime {
        Some(path) => args::path("crate", path, &mut errors),
        None => Some(quote_spanned!(Span::call_site()=> ::lock_runtime)),
    };
    let key = Key::read(assertion.key, Place::Asserted, &Surroundings, &mut errors);
    match (runtime, key) {
        (Some(runtime), Some(key)) => expansion(
            &runtime,
            &key,
            assertion.client.as_ref(),
            assertion.is_exclusive,
        ),
        _ => {
            let errors = errors.into_tokens();
            quote!({ #errors })
        }
    }
}

/// ```text
/// Input:   assert_locked!(write "invoice:<id>", client = self.locks)
/// Output:  {
///              let key = {
///                  let mut writer = TemplateWriter::new();
///                  TemplateWriter::part(&mut writer, &["invoice:", "id"], &id);
///                  TemplateWriter::finish(writer)
///              };
///              assert_locked(&(self.locks), &key, Claim::Alone);
///          }
/// ```
fn expansion(
    runtime: &TokenStream,
    key: &Key,
    client: Option<&Expr>,
    is_exclusive: bool,
) -> TokenStream {
    let glue = Span::mixed_site();
    let key = match key {
        Key::Expr(expr) => expression_key(expr),
        Key::Template(template) => {
            let writes = template_writes(template, &quote_spanned!(glue=> &mut __lock_writer));
            quote_spanned! {glue=>
                {
                    let mut __lock_writer = __lock_rt::TemplateWriter::new();
                    #writes
                    __lock_rt::TemplateWriter::finish(__lock_writer)
                }
            }
        }
    };
    let claim = Ident::new(if is_exclusive { "Alone" } else { "Held" }, glue);
    let claim = quote_spanned!(glue=> __lock_rt::Claim::#claim);
    let assertion = match client {
        None => quote_spanned!(glue=> __lock_rt::assert_locked_installed(&__lock_key, #claim);),
        Some(client) => {
            let span = glue.located_at(client.span());
            let client = quote_spanned!(span=> &(#client));
            quote_spanned!(glue=> __lock_rt::assert_locked(#client, &__lock_key, #claim);)
        }
    };
    quote_spanned! {glue=>
        {
            use #runtime::__private::v1 as __lock_rt;
            let __lock_key = #key;
            #assertion
        }
    }
}

impl Parse for Assertion {
    fn parse(input: ParseStream<'_>) -> syn::Result<Assertion> {
        const SAMPLE: &str = "assert_locked!(\"order:<id>\")";
        if input.is_empty() {
            let message = format!("`assert_locked!` needs a key: `{SAMPLE}`");
            return Err(syn::Error::new(Span::call_site(), message));
        }
        let is_exclusive = is_write(input)?;
        if input.peek(syn::Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
            return Err(input.error(format_args!(
                "the key comes first, without a name: `{SAMPLE}`"
            )));
        }
        let mut assertion = Assertion {
            is_exclusive,
            key: input.parse()?,
            client: None,
            runtime: None,
        };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if !input.is_empty() {
                assertion.option(input)?;
            }
        }
        Ok(assertion)
    }
}

impl Assertion {
    fn option(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if !input.peek(Ident::peek_any) || !input.peek2(Token![=]) || input.peek2(Token![==]) {
            return Err(input.error(
                "only `client` and `crate` may follow the key: a template contains its values, as in `\"order:<id>\"`",
            ));
        }
        let name = input.call(Ident::parse_any)?;
        input.parse::<Token![=]>()?;
        let value = input.parse()?;
        let text = name.to_string();
        let slot = match &*text {
            "client" => &mut self.client,
            "crate" => &mut self.runtime,
            _ => {
                let close = suggest::closest(&text, ["client", "crate"]);
                let close = close.map_or_else(
                    || "only `client` and `crate`".to_owned(),
                    |close| format!("did you mean `{close}`?"),
                );
                let message = format!("`assert_locked!` has no option `{text}`; {close}");
                return Err(syn::Error::new(name.span(), message));
            }
        };
        if slot.replace(value).is_some() {
            let message = format!("`{text}` is given more than once");
            return Err(syn::Error::new(name.span(), message));
        }
        Ok(())
    }
}

/// Parses the word `write` in front of a key. A key may be a variable of this name.
fn is_write(input: ParseStream<'_>) -> syn::Result<bool> {
    let ahead = input.fork();
    let Ok(word) = ahead.call(Ident::parse_any) else {
        return Ok(false);
    };
    let has_key = ahead.peek(LitStr)
        || ahead.peek(syn::Ident)
        || ahead.peek(Token![&]) && !ahead.peek(Token![&&])
        || ahead.peek(Token![self])
        || ahead.peek(Token![crate]);
    if word == "write" && has_key {
        input.call(Ident::parse_any)?;
        return Ok(true);
    }
    if ahead.peek(LitStr) {
        return Err(syn::Error::new(
            word.span(),
            format_args!(
                "only `write` may precede the key, and asks for the exclusive lock; without it, readers and permits count, not `{word}` alone"
            ),
        ));
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::assert_locked;

    fn expanded(input: &str) -> String {
        assert_locked(input.parse().unwrap()).to_string()
    }

    fn message(input: &str) -> String {
        let output = expanded(input);
        let inside = output
            .strip_prefix("{ ")
            .and_then(|rest| rest.strip_suffix(" }"));
        crate::tests::messages(inside.expect("a block")).join("\n")
    }

    #[test]
    fn template_is_written_from_variables() {
        let output = expanded("\"{<self.tenant>}:<id>\"");
        for value in [
            r#"& ["{" , "self.tenant"] , & self . tenant"#,
            r#"& ["}:" , "id"] , & id"#,
            "assert_locked_installed (& __lock_key , __lock_rt :: Claim :: Held)",
        ] {
            assert!(output.contains(value), "{value} is not in {output}");
        }
    }

    #[test]
    fn write_asks_for_the_exclusive_lock() {
        for input in [
            "write \"a\"",
            "write KEY",
            "write &key",
            "write crate::KEY",
            "write self.key",
        ] {
            assert!(expanded(input).contains("Claim :: Alone"), "{input}");
        }
        for input in [
            "write",
            "write.clone()",
            "write(id)",
            "write, client = c",
            "write::key()",
        ] {
            assert!(expanded(input).contains("Claim :: Held"), "{input}");
        }
    }

    #[test]
    fn client_and_path_can_be_given() {
        let output = expanded("Key { id }, client = self.locks, crate = shop::locks,");
        assert!(
            output.contains("use shop :: locks :: __private"),
            "{output}"
        );
        assert!(
            output.contains("assert_locked (& (self . locks)"),
            "{output}"
        );
        assert!(!output.contains("lock_runtime"), "{output}");
    }

    #[test]
    fn mistake_is_explained() {
        for (input, begins) in [
            (
                "",
                "`assert_locked!` needs a key: `assert_locked!(\"order:<id>\")`",
            ),
            (
                "key = \"a\"",
                "the key comes first, without a name: `assert_locked!(",
            ),
            (
                "\"a:{}\", id",
                "only `client` and `crate` may follow the key",
            ),
            (
                "\"a\", clint = c",
                "`assert_locked!` has no option `clint`; did you mean `client`?",
            ),
            (
                "\"a\", ttl = 1",
                "`assert_locked!` has no option `ttl`; only `client` and `crate`",
            ),
            (
                "\"a\", client = c, client = d",
                "`client` is given more than once",
            ),
            ("\"a\", crate = 1", "`crate` needs a path"),
            ("read \"a\"", "only `write` may precede the key"),
            ("\"a:<id\"", "`<` is never closed"),
            (
                "\"a:<id><x>\"",
                "different variables could give the same key",
            ),
            (
                "\"a:<id.get().await>\"",
                "a key cannot await; store the value in a variable",
            ),
            (
                "\"a:<1>\"",
                "`<1>` is not a value: write a variable, `self`, a constant or a path",
            ),
            ("\"\"", "the key is empty"),
        ] {
            let message = message(input);
            assert!(message.starts_with(begins), "{input}: {message}");
        }
    }
}
