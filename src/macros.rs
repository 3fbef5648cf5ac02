//! Tables of which the items of several modules are made.

/// Methods that set an option: `name(arguments) => field = value, …;` is
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

/// An enum whose variants have names, some only with a feature of the crate that calls it: `Variant = "name" if feature "…"`.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    (
        $(#[$attribute:meta])*
        pub enum $type:ident {
            $($(#[$of_variant:meta])* $variant:ident = $name:literal $(if feature $feature:literal)?,)+
        }
    ) => {
        $(#[$attribute])*
        pub enum $type { $($(#[$of_variant])* $(#[cfg(feature = $feature)])? $variant,)+ }

        impl $type {
            /// All, in this order.
            pub const ALL: [Self; [$($(#[cfg(feature = $feature)])? $name),+].len()] =
                [$($(#[cfg(feature = $feature)])? Self::$variant),+];

            /// The name in ids and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(#[cfg(feature = $feature)])? Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// Fence before an example on a device of [`headless`], which is compiled and run where that feature is enabled.
#[cfg(feature = "headless")]
macro_rules! example {
    () => {
        "```"
    };
}
#[cfg(not(feature = "headless"))]
macro_rules! example {
    () => {
        "```ignore"
    };
}
