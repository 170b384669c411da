//! Several that can be asked alike.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::agreement::Trouble;

/// Addresses of which one is asked, as long as it answers.
#[derive(Debug)]
pub struct Rotation(Mutex<Addresses>);

#[derive(Debug, Clone)]
struct Addresses {
    all: Vec<String>,
    /// Which one is asked.
    at: usize,
}

/// It begins with the address that is asked now.
impl Clone for Rotation {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.addresses().clone()))
    }
}

impl Rotation {
    /// The first one is asked first.
    pub fn new(all: Vec<String>) -> Self {
        Self(Mutex::new(Addresses { all, at: 0 }))
    }

    fn addresses(&self) -> MutexGuard<'_, Addresses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All addresses.
    pub fn all(&self) -> Vec<String> {
        self.addresses().all.clone()
    }

    /// The address that is asked.
    ///
    /// # Errors
    /// There is none.
    pub fn now(&self) -> Result<String, Trouble> {
        let addresses = self.addresses();
        let asked = addresses.all.get(addresses.at).cloned();
        asked.ok_or_else(|| Trouble::Unreached("there is no address to ask".into()))
    }

    /// Takes other addresses. The one that is asked remains that, if it is among them.
    pub fn set(&self, all: Vec<String>) {
        let mut addresses = self.addresses();
        let asked = addresses.all.get(addresses.at);
        let at = all.iter().position(|address| Some(address) == asked).unwrap_or_default();
        *addresses = Addresses { all, at };
    }

    /// Asks the next one from now on, unless another thread has turned to it.
    pub fn turn_from(&self, address: &str) {
        let mut addresses = self.addresses();
        if addresses.all.get(addresses.at).is_some_and(|asked| asked == address) {
            addresses.at = (addresses.at + 1) % addresses.all.len();
        }
    }

    /// Asks one after the other until one answers. What may be done already is not asked for again.
    ///
    /// # Errors
    /// It is refused, or none answers.
    pub fn ask<T>(&self, may_repeat: bool, ask: impl Fn(&str) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let mut left = self.all().len();
        loop {
            let address = self.now()?;
            let answer = ask(&address);
            let may_be_done = matches!(answer, Err(Trouble::Unknown(_)));
            if !may_be_done && !matches!(answer, Err(Trouble::Unreached(_))) {
                return answer;
            }
            self.turn_from(&address);
            left = left.saturating_sub(1);
            if left == 0 || (may_be_done && !may_repeat) {
                return answer;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    type Answer = fn(&str) -> Result<(), Trouble>;

    fn three() -> Rotation {
        Rotation::new(["a", "b", "c"].map(String::from).to_vec())
    }

    #[test]
    fn the_next_one_is_asked_unless_it_may_be_done_already() {
        let unreached: Answer = |_| Err(Trouble::Unreached(String::new()));
        let unknown: Answer = |_| Err(Trouble::Unknown(String::new()));
        let refused: Answer = |_| Err(Trouble::Refused(String::new()));
        let only_b: Answer = |at| if at == "b" { Ok(()) } else { Err(Trouble::Unreached(String::new())) };
        for (answer, may_repeat, wanted, now) in [
            (unreached, false, "abc", "a"),
            (unknown, true, "abc", "a"),
            (unknown, false, "a", "b"),
            (refused, true, "a", "a"),
            (only_b, false, "ab", "b"),
        ] {
            let (rotation, asked) = (three(), RefCell::<String>::default());
            let answered = rotation.ask(may_repeat, |at| {
                asked.borrow_mut().push_str(at);
                answer(at)
            });
            assert_eq!((asked.into_inner().as_str(), &*rotation.now().unwrap()), (wanted, now));
            assert_eq!(answered, answer(now));
        }
        assert!(matches!(Rotation::new(Vec::new()).ask(true, |_| Ok(())), Err(Trouble::Unreached(_))));
    }

    #[test]
    fn one_that_another_thread_has_left_is_left_once_and_other_addresses_are_taken() {
        let rotation = three();
        rotation.turn_from("a");
        rotation.turn_from("a");
        assert_eq!(rotation.now().unwrap(), "b");
        rotation.set(["c", "d", "b"].map(String::from).to_vec());
        assert_eq!(rotation.now().unwrap(), "b");
        rotation.turn_from("b");
        assert_eq!(rotation.now().unwrap(), "c");
        rotation.set(vec!["e".into()]);
        assert_eq!((rotation.now().unwrap(), rotation.clone().all()), ("e".into(), vec!["e".into()]));
    }
}
