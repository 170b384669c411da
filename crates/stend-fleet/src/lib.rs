//! What the nodes of a lab agree on.
//!
//! [`Agreement`] is a small store of texts by keys, in which each change is made on conditions or not at all. One node alone has it in a SQLite file
//! ([`Alone`]); several have it in etcd ([`Etcd`]). What is built on it is the same for both, and so are its tests. Nothing else is agreed on: runs are
//! immutable files, and what happens now is told by whoever does it.

mod agreement;
mod alone;
mod claims;
mod etcd;
mod mirror;
mod rotation;

pub use agreement::{
    Agreement, Change, Committed, Condition, Entry, Health, Listing, MOST_CHANGES, Member, News, Revision, Told,
    Trouble, Watch,
};
pub use alone::{Alone, FORMAT, TABLES, WAIT_TO_WRITE};
pub use claims::{
    Beat, BeatError, Claim, Claims, Heard, LOOKS, Lookout, Lost, MOST_OWNERS, Silent, is_anothers, is_taken,
};
pub use etcd::{Access, Address, Etcd, is_loopback};
pub use mirror::{Changed, Draft, FOLLOWED, Known, Mirror, Reading, Table};
pub use rotation::Rotation;
