//! Console.
