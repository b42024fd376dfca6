//! Trials that change what stands in a scene: where objects come from, what is asked, what is
//! recorded.

mod finding;
mod object_pool;
mod replayed;
mod trial;

pub use finding::Finding;
pub(crate) use object_pool::ObjectPool;
pub use object_pool::ObjectPoolError;
pub use replayed::{Replayed, Tellable};
