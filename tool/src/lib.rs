//! The floors of the program `subsweep` that its tests share: the table of cases with verifying and measuring ([`harness`]), the
//! oracle and the pass models ([`mod@reference`]), and the readers of files ([`table`]).
//!
//! A tool of the library's repository: its interface changes with the library, and keeps to no version.

pub mod harness;
pub mod reference;
pub mod table;
