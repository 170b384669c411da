//! The languages in which people are spoken to. All else that tells one from another is in its messages file.

use clap::ValueEnum;
use fluent_bundle::FluentValue;

/// What writes a language's numbers where a message has them.
type Formatter<M> = fn(&FluentValue, &M) -> Option<String>;

macro_rules! languages {
    ($($name:ident $code:literal,)*) => {
        /// A language of the report.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub enum Language {
            $(#[value(name = $code, help = stringify!($name))] $name,)*
        }

        impl Language {
            /// All of them. Figures and names come in the first one, in which the page is written too.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its code in BCP 47, as HTML and XML name it.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Its messages, in the format of Project Fluent.
            pub(super) const fn messages(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!($code, ".ftl")),)* }
            }

            /// A function of its own, because Fluent takes none that holds a value.
            pub(super) fn formatter<M>(self) -> Formatter<M> {
                match self { $(Self::$name => |value, _| super::number(value, Self::$name),)* }
            }
        }
    };
}

languages! {
    English "en",
    Russian "ru",
}
