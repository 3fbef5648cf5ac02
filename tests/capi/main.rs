//! The C ABI: its header, its libraries, and programs in C that use them.

mod header;
