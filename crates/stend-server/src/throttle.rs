//! How often somebody may try to sign in.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// So many are remembered. Where there are more, those who tried least are forgotten.
const MOST: usize = 10_000;

/// Lets each of many try so often at once, and then once in a while.
#[derive(Debug)]
pub(crate) struct Throttle<K> {
    burst: u32,
    every: Duration,
    /// When each would have all tries again.
    full_at: HashMap<K, Instant>,
}

impl<K: Eq + Hash> Throttle<K> {
    pub(crate) fn new(burst: u32, every: Duration) -> Self {
        Self { burst, every, full_at: HashMap::new() }
    }

    /// How long this one has to wait before the next try; nothing if it may try now.
    pub(crate) fn wait(&self, who: &K, now: Instant) -> Option<Duration> {
        let missing = self.full_at.get(who)?.saturating_duration_since(now);
        let wait = (missing + self.every).saturating_sub(self.every * self.burst);
        Some(wait).filter(|wait| !wait.is_zero())
    }

    /// Counts a try.
    pub(crate) fn count(&mut self, who: K, now: Instant) {
        if self.full_at.len() >= MOST && !self.full_at.contains_key(&who) {
            self.full_at.retain(|_, full_at| *full_at > now);
            if self.full_at.len() >= MOST {
                let mut times: Vec<_> = self.full_at.values().copied().collect();
                let (_, middle, _) = times.select_nth_unstable(MOST / 2);
                let middle = *middle;
                self.full_at.retain(|_, full_at| *full_at > middle);
            }
        }
        let full_at = self.full_at.entry(who).or_insert(now);
        *full_at = (*full_at).max(now) + self.every;
    }

    /// Forgets the tries of one who has got in.
    pub(crate) fn forgive(&mut self, who: &K) {
        self.full_at.remove(who);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn some_tries_at_once_then_one_in_a_while_and_others_are_not_kept_waiting() {
        let mut throttle = Throttle::new(3, 10 * SECOND);
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(throttle.wait(&"a", start), None);
            throttle.count("a", start);
        }
        assert_eq!(throttle.wait(&"a", start), Some(10 * SECOND));
        assert_eq!(throttle.wait(&"b", start), None);
        assert_eq!(throttle.wait(&"a", start + 9 * SECOND), Some(SECOND));
        assert_eq!(throttle.wait(&"a", start + 10 * SECOND), None);
        throttle.count("a", start + 10 * SECOND);
        assert_eq!(throttle.wait(&"a", start + 11 * SECOND), Some(9 * SECOND));
        throttle.forgive(&"a");
        assert_eq!(throttle.wait(&"a", start + 11 * SECOND), None);
        // Ten thousand tries are allowed no more than their rate.
        let mut allowed = 0;
        for tenth in 0..10_000 {
            let now = start + SECOND * tenth / 10;
            if throttle.wait(&"c", now).is_none() {
                throttle.count("c", now);
                allowed += 1;
            }
        }
        assert_eq!(allowed, 3 + 99);
    }

    #[test]
    fn however_many_try_so_many_are_remembered_and_the_busiest_of_them() {
        let mut throttle = Throttle::new(2, SECOND);
        let now = Instant::now();
        for _ in 0..50 {
            throttle.count(0, now);
        }
        for other in 1..3 * MOST {
            throttle.count(other, now);
        }
        assert!(throttle.full_at.len() <= MOST);
        assert!(throttle.wait(&0, now).is_some());
    }
}
