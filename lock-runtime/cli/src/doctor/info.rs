//! Parses a server's INFO.

use std::collections::HashMap;

/// The fields of INFO.
#[derive(Clone, Debug, Default)]
pub(crate) struct Info(HashMap<String, String>);

impl Info {
    pub(crate) fn parse(text: &str) -> Info {
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        let fields = fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        Info(fields.collect())
    }

    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.0.get(field).map(String::as_str)
    }

    pub(crate) fn number(&self, field: &str) -> Option<u64> {
        self.text(field)?.parse().ok()
    }

    /// A part of a field with several, such as `usec_per_call` of `calls=1,usec=20,usec_per_call=20.00`.
    pub(crate) fn part(&self, field: &str, part: &str) -> Option<f64> {
        let mut parts = self.text(field)?.split(',');
        let value = parts.find_map(|text| text.strip_prefix(part)?.strip_prefix('='));
        value?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_text_numbers_and_lists() {
        let info = Info::parse(
            "# Server\r\nredis_version:7.0.15\r\nuptime:12\r\ncmdstat_evalsha:calls=3,usec=63,usec_per_call=21.00,x=1\r\n",
        );
        assert_eq!(info.text("redis_version"), Some("7.0.15"));
        assert_eq!(info.number("uptime"), Some(12));
        assert_eq!(info.part("cmdstat_evalsha", "usec_per_call"), Some(21.0));
        assert_eq!(info.part("cmdstat_evalsha", "usec_per"), None);
        assert_eq!(info.number("redis_version"), None);
    }
}
