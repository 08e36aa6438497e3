//! Fake.
