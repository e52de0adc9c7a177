//! The values of std and `uuid` that can be part of a key.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;

use super::key_writer::{KeyPart, KeyWriter};

impl KeyPart for str {
    fn write_to(&self, key: &mut KeyWriter) {
        key.write_str(self);
    }
}

impl KeyPart for String {
    fn write_to(&self, key: &mut KeyWriter) {
        key.write_str(self);
    }
}

impl KeyPart for char {
    fn write_to(&self, key: &mut KeyWriter) {
        key.write_str(self.encode_utf8(&mut [0; 4]));
    }
}

impl KeyPart for bool {
    fn write_to(&self, key: &mut KeyWriter) {
        key.write_str(if *self { "true" } else { "false" });
    }
}

macro_rules! by_display {
    ($($type:ty),* $(,)?) => {$(
        impl KeyPart for $type {
            fn write_to(&self, key: &mut KeyWriter) {
                write!(key, "{self}");
            }
        }
    )*};
}

// For these the standard library and RFC 9562 promise one canonical text, formatted on the stack.
by_display!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize
);
by_display!(IpAddr, Ipv4Addr, Ipv6Addr, uuid::Uuid);

macro_rules! non_zero {
    ($($type:ty),* $(,)?) => {$(
        impl KeyPart for NonZero<$type> {
            fn write_to(&self, key: &mut KeyWriter) {
                self.get().write_to(key);
            }
        }
    )*};
}

non_zero!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize
);

macro_rules! by_target {
    ($($pointer:ty),* $(,)?) => {$(
        impl<T: KeyPart + ?Sized> KeyPart for $pointer {
            fn write_to(&self, key: &mut KeyWriter) {
                (**self).write_to(key);
            }
        }
    )*};
}

by_target!(&T, &mut T, Box<T>, Rc<T>, Arc<T>);

impl<T: KeyPart + ToOwned + ?Sized> KeyPart for Cow<'_, T> {
    fn write_to(&self, key: &mut KeyWriter) {
        (**self).write_to(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written<P: KeyPart + ?Sized>(value: &P) -> String {
        let mut key = KeyWriter::new();
        key.part(value);
        key.finish().as_str().to_owned()
    }

    #[test]
    fn each_kind_of_value_has_its_text() {
        assert_eq!(written(&i128::MIN), i128::MIN.to_string());
        assert_eq!(written(&u128::MAX), u128::MAX.to_string());
        assert_eq!(written(&NonZero::new(-7_i32).unwrap()), "-7");
        assert_eq!(written(&true), "true");
        assert_eq!(written(&':'), "%3A");
        assert_eq!(written(&'漢'), "漢");
        assert_eq!(written(&IpAddr::from([127, 0, 0, 1])), "127.0.0.1");
        assert_eq!(written(&Ipv6Addr::LOCALHOST), "%3A%3A1");
        assert_eq!(
            written(&uuid::Uuid::from_u128(
                0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8
            )),
            "67e55044-10b1-426f-9247-bb680e5fe0c8"
        );
    }

    #[test]
    fn pointers_write_their_targets() {
        let text = String::from("a");
        assert_eq!(written(&&&text), "a");
        assert_eq!(written(&Box::<str>::from("a")), "a");
        assert_eq!(written(&Rc::<str>::from("a")), "a");
        assert_eq!(written(&Arc::new(7_u8)), "7");
        assert_eq!(written(&Cow::Borrowed("a")), "a");
        assert_eq!(written::<&mut str>(&String::from("a").as_mut_str()), "a");
        let object: Box<dyn KeyPart> = Box::new(7);
        assert_eq!(written(&object), "7");
    }
}
