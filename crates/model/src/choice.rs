//! Closed lists of named values that users choose from in plans and on the command line.
//!
//! Not here: numbers and texts (units, parameter).

/// An enum whose values users write by name in plans and flags.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every value, in the order in which help shows them.
    const ALL: &'static [Self];
    /// Names of the values in [`ALL`](Choice::ALL), in the same order.
    const NAMES: &'static [&'static str];
    /// Names that earlier versions of dbdyno used and that are still accepted, each with the value
    /// that it means today.
    const FORMER: &'static [(&'static str, Self)];

    /// Returns the name by which users write this value in plans and flags.
    fn name(self) -> &'static str;

    /// Returns the value with this name, a current one or one of an earlier version; `None` if
    /// there is none.
    fn by_name(name: &str) -> Option<Self> {
        let index = Self::NAMES.iter().position(|known| *known == name);
        let former = || Self::FORMER.iter().find(|(known, _)| *known == name);
        index.map(|index| Self::ALL[index]).or_else(|| former().map(|(_, value)| *value))
    }
}

/// Implements [`Choice`] for an enum: `choice!(Order { Random = "random", ... })`. A missing
/// variant is a compile error.
#[macro_export]
macro_rules! choice {
    (
        $type:ident { $($value:ident $(($inner:path))? = $name:literal),+ $(,)? }
        $(formerly { $($former:literal = $now:ident),+ })?
    ) => {
        impl $crate::Choice for $type {
            const ALL: &'static [Self] = &[$($type::$value $(($inner))?),+];
            const NAMES: &'static [&'static str] = &[$($name),+];
            const FORMER: &'static [(&'static str, Self)] =
                &[$($(($former, $type::$now)),+)?];

            fn name(self) -> &'static str {
                match self {
                    $($type::$value $(($inner))? => $name),+
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Choice;
    use crate::{DataPolicy, EventLoopChoice, LoadModel, MonitorScope, Order, PlacementChoice};

    fn check<C: Choice + std::fmt::Debug>() {
        assert_eq!(C::ALL.len(), C::NAMES.len());
        for (value, name) in C::ALL.iter().zip(C::NAMES) {
            assert_eq!((value.name(), C::by_name(name)), (*name, Some(*value)));
        }
        assert_eq!(C::by_name("nonsense"), None);
    }

    #[test]
    fn a_choice_is_read_by_the_name_that_is_shown() {
        check::<LoadModel>();
        check::<Order>();
        check::<DataPolicy>();
        check::<PlacementChoice>();
        check::<EventLoopChoice>();
        check::<MonitorScope>();
        assert_eq!(MonitorScope::by_name("chosen"), Some(MonitorScope::Default));
    }
}
