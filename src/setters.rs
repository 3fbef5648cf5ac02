//! Methods that set an option.

/// Makes a method of each row: `name(arguments) => field = value, …;` is
/// `pub const fn name(mut self, arguments) -> Self`, which sets the fields and returns the rest as it was.
macro_rules! setters {
    ($(
        $(#[$attribute:meta])*
        $name:ident($($argument:ident: $of:ty),*) => $($($field:ident).+ = $value:expr),+;
    )+) => {$(
        $(#[$attribute])*
        pub const fn $name(mut self, $($argument: $of),*) -> Self {
            $(self.$($field).+ = $value;)+
            self
        }
    )+};
}
