//! Samples and what is read off them.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Sorted samples of one measurement.
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn new(mut samples: Vec<Duration>) -> Self {
        assert!(!samples.is_empty(), "nothing was measured");
        samples.sort_unstable();
        Self(samples)
    }

    /// The value that `part` of the samples do not exceed.
    pub(crate) fn quantile(&self, part: f64) -> Duration {
        let last = self.0.len() - 1;
        self.0[((last as f64) * part).round() as usize]
    }

    pub(crate) fn median(&self) -> Duration {
        self.quantile(0.5)
    }
}

/// Calls `work` `count` times, one sample each.
pub(crate) fn each<T>(count: usize, mut work: impl FnMut() -> T) -> Samples {
    each_of(count, |_| (), |()| work())
}

/// The same with an input that is made outside the time.
pub(crate) fn each_of<I, T>(count: usize, mut input: impl FnMut(usize) -> I, mut work: impl FnMut(I) -> T) -> Samples {
    let sample = |n: usize| {
        let input = input(n);
        let start = Instant::now();
        let out = black_box(work(black_box(input)));
        let spent = start.elapsed();
        drop(out);
        spent
    };
    Samples::new((0..count).map(sample).collect())
}

/// For work of microseconds and less: 60 samples of about a millisecond, each the mean of its calls. Two works
/// take turns, so that a busy machine slows both.
pub(crate) fn pair<A, B>(mut a: impl FnMut() -> A, mut b: impl FnMut() -> B) -> (Duration, Duration) {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    let (n_a, n_b) = (calls_per_sample(&mut a), calls_per_sample(&mut b));
    for _ in 0..60 {
        of_a.push(mean(n_a, &mut a));
        of_b.push(mean(n_b, &mut b));
    }
    (Samples::new(of_a).median(), Samples::new(of_b).median())
}

fn calls_per_sample<T>(work: &mut impl FnMut() -> T) -> u32 {
    let mut n = 1;
    while n < 1 << 20 && mean(n, work) * n < Duration::from_millis(1) {
        n *= 2;
    }
    n
}

fn mean<T>(n: u32, work: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..n {
        drop(black_box(work()));
    }
    start.elapsed() / n
}
