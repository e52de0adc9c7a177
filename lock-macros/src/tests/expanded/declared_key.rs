const _: () = {
    use ::lock_runtime::__private::v1 as __lock_rt;
    #[automatically_derived]
    impl<'a, T: Shop> __lock_rt::DeclaredKey for InvoiceKey<'a, T>
    where
        T: ::lock_runtime::__private::v1::KeyPart,
    {
        fn template(&self) -> &'static __lock_rt::KeyTemplate {
            &__lock_rt::KeyTemplate("{<tenant>}:<*number>", "{<>}:<>")
        }
        #[allow(deprecated, unused_variables)]
        fn write_to(&self, __lock_writer: &mut __lock_rt::TemplateWriter) {
            let value = &self.of;
            let _: &::core::marker::PhantomData<_> = value;
            let __lock_declared = self;
            __lock_rt::TemplateWriter::part(
                __lock_writer,
                &["{", "tenant"],
                &__lock_declared.tenant,
            );
            __lock_rt::TemplateWriter::part(
                __lock_writer,
                &["}:", "*number"],
                &*__lock_declared.number,
            );
        }
    }
    #[automatically_derived]
    impl<'a, T: Shop> ::core::convert::From<&InvoiceKey<'a, T>> for __lock_rt::LockKey
    where
        T: ::lock_runtime::__private::v1::KeyPart,
    {
        fn from(key: &InvoiceKey<'a, T>) -> __lock_rt::LockKey {
            __lock_rt::declared(key)
        }
    }
    #[automatically_derived]
    impl<'a, T: Shop> ::core::convert::From<InvoiceKey<'a, T>> for __lock_rt::LockKey
    where
        T: ::lock_runtime::__private::v1::KeyPart,
    {
        fn from(key: InvoiceKey<'a, T>) -> __lock_rt::LockKey {
            __lock_rt::declared(&key)
        }
    }
};
