//! Words of a closed list, each the name of a value: what plans and the command line choose from.
//!
//! Not here: numbers and texts (units, parameter).

/// A type whose values have names that people write.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every value, in the order in which help shows them.
    const ALL: &'static [Self];
    /// Their names, in the same order.
    const NAMES: &'static [&'static str];
    /// Names of earlier versions, which are still read.
    const FORMER: &'static [(&'static str, Self)];

    /// As it is written.
    fn name(self) -> &'static str;

    /// The value of this name.
    fn by_name(name: &str) -> Option<Self> {
        let index = Self::NAMES.iter().position(|known| *known == name);
        let former = || Self::FORMER.iter().find(|(known, _)| *known == name);
        index.map(|index| Self::ALL[index]).or_else(|| former().map(|(_, value)| *value))
    }
}

/// Makes a type a [`Choice`]: `choice!(Order { Random = "random", ... })`; a value that is left out
/// is a mistake of compilation.
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
    use crate::{DataPolicy, LoadModel, MonitorScope, Order, PlacementChoice};

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
        check::<MonitorScope>();
        assert_eq!(MonitorScope::by_name("chosen"), Some(MonitorScope::Default));
    }
}
