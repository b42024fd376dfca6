//! Precision over recall, and the average precision read off it.

/// The interpolated precision-recall curve: the best precision at each recall or beyond, from true
/// and false positives by descending score.
///
/// Only true positives raise recall, and precision has its maxima at them; so the curve has a point
/// for each, and false positives only lower the points behind them.
pub(crate) struct Curve {
    /// For each true positive, how many objects are found up to there, and the best precision there
    /// or beyond.
    points: Vec<(usize, f64)>,
    objects: f64,
}

impl Curve {
    /// The curve of `objects` that are to be found.
    pub(crate) fn new(judged: impl Iterator<Item = bool>, objects: usize) -> Self {
        Self::weighted(judged.map(|right| (right, 1)), objects)
    }

    /// The curve where each detection counts as several. The last of several right ones has the
    /// best precision of them, so that one point tells of all.
    pub(crate) fn weighted(judged: impl Iterator<Item = (bool, usize)>, objects: usize) -> Self {
        let mut right = 0;
        let mut all = 0;
        let mut points = Vec::new();
        for (hit, times) in judged.filter(|&(_, times)| times > 0) {
            all += times;
            if hit {
                right += times;
                points.push((right, right as f64 / all as f64));
            }
        }
        // From the back: interpolation takes the best precision at this recall or beyond.
        let mut best = 0.0f64;
        for (_, precision) in points.iter_mut().rev() {
            best = best.max(*precision);
            *precision = best;
        }
        Self { points, objects: objects as f64 }
    }

    /// COCO's: the mean over recalls 0, 0.01 … 1.
    pub(crate) fn at_101_recalls(&self) -> f64 {
        self.mean_at((0..101).map(|step| f64::from(step) * 0.01))
    }

    /// TIDE's: the same recalls with the nearest bits, which a recall such as 7/20 reaches.
    pub(crate) fn at_101_hundredths(&self) -> f64 {
        self.mean_at((0..101).map(|step| f64::from(step) / 100.0))
    }

    /// VOC's until 2009: the mean over recalls 0, 0.1 … 1.
    pub(crate) fn at_11_recalls(&self) -> f64 {
        self.mean_at((0..11).map(|step| f64::from(step) * 0.1))
    }

    /// VOC's since 2010: the area under the curve.
    pub(crate) fn area(&self) -> f64 {
        let mut before = 0;
        let parts = self.points.iter().map(|&(found, precision)| {
            let part = (found - before) as f64 * precision;
            before = found;
            part
        });
        // The sum of nothing is minus zero.
        (0.0 + parts.sum::<f64>()) / self.objects
    }

    /// The mean of the interpolated precision at recalls in ascending order.
    fn mean_at(&self, recalls: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = recalls.len() as f64;
        let mut sum = 0.0;
        let mut nth = 0;
        for wanted in recalls {
            while let Some(&(found, _)) = self.points.get(nth) {
                if found as f64 / self.objects >= wanted {
                    break;
                }
                nth += 1;
            }
            sum += self.points.get(nth).map_or(0.0, |&(_, precision)| precision);
        }
        sum / count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_twice_is_there_twice() {
        let judged = [(true, 2), (false, 0), (false, 1), (true, 3), (false, 2), (true, 1)];
        let once = Curve::new(judged.iter().flat_map(|&(right, times)| vec![right; times]), 8);
        let weighted = Curve::weighted(judged.into_iter(), 8);
        for of in [Curve::at_101_recalls, Curve::at_11_recalls, Curve::area] {
            assert!((of(&once) - of(&weighted)).abs() < 1e-12);
        }
    }

    #[test]
    fn a_recall_can_fall_between_two_roundings() {
        // 7/20 is 35/100 but less than 35 times 0.01.
        let curve = Curve::new([true; 7].into_iter(), 20);
        assert_eq!((curve.at_101_recalls() * 101.0).round(), 35.0);
        assert_eq!((curve.at_101_hundredths() * 101.0).round(), 36.0);
    }

    #[test]
    fn curves_are_read_at_recalls() {
        let yes = true;
        let no = false;
        // JudgedClass, objects; at 101 recalls, at 11, area.
        let cases: [(&[bool], usize, [f64; 3]); 5] = [
            (&[yes, yes], 2, [1.0; 3]),
            (&[], 2, [0.0; 3]),
            (&[no, no], 1, [0.0; 3]),
            // Precision 1 up to recall 1/2: 51 of 101 recalls, 6 of 11.
            (&[yes, no], 2, [51.0 / 101.0, 6.0 / 11.0, 0.5]),
            // Precision 1/2 at recall 1/2, 2/3 at recall 1, which is best at all recalls.
            (&[no, yes, yes], 2, [2.0 / 3.0; 3]),
        ];
        for (judged, objects, wanted) in cases {
            let curve = Curve::new(judged.iter().copied(), objects);
            let got = [curve.at_101_recalls(), curve.at_11_recalls(), curve.area()];
            for (got, wanted) in got.iter().zip(wanted) {
                assert!((got - wanted).abs() < 1e-12, "{judged:?}: {got}, not {wanted}");
            }
        }
    }
}
