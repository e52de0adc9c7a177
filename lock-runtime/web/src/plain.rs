//! Escapes text from other programs, such as a key or the label of a holder.

use std::fmt::{self, Write as _};

use lock_runtime::inspect::{escape, is_printable};
use maud::{Escaper, Render};

/// Text from other programs. As markup, escapes and marks characters that a page cannot show, or that reorder or hide the text
/// around them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain<'a>(pub(crate) &'a str);

impl Render for Plain<'_> {
    fn render_to(&self, markup: &mut String) {
        // Isolates its direction.
        markup.push_str("<bdi>");
        let mut begin = 0;
        for (at, letter) in self
            .0
            .char_indices()
            .filter(|&(_, letter)| !is_printable(letter))
        {
            write_text(&self.0[begin..at], markup);
            markup.push_str("<i class=\"escape\">");
            markup.extend(letter.escape_unicode());
            markup.push_str("</i>");
            begin = at + letter.len_utf8();
        }
        write_text(&self.0[begin..], markup);
        markup.push_str("</bdi>");
    }
}

fn write_text(text: &str, markup: &mut String) {
    // Writing to a string does not fail.
    let _ = Escaper::new(markup).write_str(text);
}

/// As text, such as a title.
impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup() {
        let text = "<b onclick='x'>\"&amp;\u{1b}[31m\r\n\u{202e}txt.exe</b> ü 漢";
        assert_eq!(
            Plain(text).render().into_string(),
            "<bdi>&lt;b onclick='x'&gt;&quot;&amp;amp;<i class=\"escape\">\\u{1b}</i>[31m\
             <i class=\"escape\">\\u{d}</i><i class=\"escape\">\\u{a}</i>\
             <i class=\"escape\">\\u{202e}</i>txt.exe&lt;/b&gt; ü 漢</bdi>"
        );
        assert_eq!(
            Plain("a\u{200f}b\0<").to_string(),
            "a\\u{200f}b\\u{0}<",
            "a title is escaped where it is written"
        );
    }
}
