//! Ids of works: the primitive, its kind, and the parameters.

use std::fmt::{self, Display};

/// An id, parameter by parameter: `sort:keys:type=u32;bits=0:32`. Reports of different versions are compared by it: a parameter
/// that is new is left out where it has the value of all works before it.
pub struct Id(String);

impl Id {
    /// The primitive, and its kind if it has several.
    pub fn new(group: impl Display) -> Self {
        Self(format!("{group}:"))
    }

    /// With a parameter.
    pub fn with(self, name: &str, value: impl Display) -> Self {
        self.then(format_args!("{name}={value}"))
    }

    /// With a parameter that not every work has.
    pub fn given(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With a parameter that is left out where it has the value `default`.
    pub fn unless<T: Display + PartialEq>(self, default: T, name: &str, value: T) -> Self {
        self.given(name, Some(value).filter(|value| *value != default))
    }

    /// With the name of an option that is set.
    pub fn flag(self, name: &str, is_set: bool) -> Self {
        if is_set { self.then(name) } else { self }
    }

    /// With the policy of works that have small tiles, or the tiles of the device.
    pub fn tiles(self, are_small: bool) -> Self {
        self.with("policy", if are_small { "small" } else { "default" })
    }

    fn then(mut self, parameter: impl Display) -> Self {
        let separator = if self.0.ends_with(':') { "" } else { ";" };
        self.0 += &format!("{separator}{parameter}");
        self
    }
}

impl Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
