//! Examples of lock-runtime.
