//! The same code compiled for wider vectors, where the CPU has them.

#![expect(unsafe_code, reason = "a CPU's vectors may be used once the CPU has been asked for them")]

/// Work on many values. `run` and what it calls must be `#[inline(always)]`, or it is compiled for
/// the least CPU only.
pub(crate) trait Kernel {
    /// What comes out.
    type Output;

    /// Does the work.
    fn run(self) -> Self::Output;
}

/// Runs a kernel, compiled for 256-bit vectors if the CPU has them.
///
/// The numbers stay the same: nothing is fused or summed in another order. `FAULTLENS_ISA=portable`
/// keeps to the least CPU, to show that.
pub(crate) fn widest<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn wide<K: Kernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        if has_avx2() {
            // SAFETY: the CPU has these instructions, it has just been asked.
            return unsafe { wide(kernel) };
        }
    }
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    static HAS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *HAS.get_or_init(|| {
        let portable = std::env::var("FAULTLENS_ISA").is_ok_and(|isa| isa == "portable");
        is_x86_feature_detected!("avx2") && !portable
    })
}

/// Defines a function that runs another one, which must be `#[inline(always)]`, by [`widest`].
macro_rules! wide {
    (fn $name:ident<$life:lifetime>($($arg:ident: $ty:ty),* $(,)?) -> $out:ty = $kernel:path) => {
        fn $name<$life>($($arg: $ty),*) -> $out {
            struct Arguments<$life>($($ty,)* std::marker::PhantomData<&$life ()>);
            impl<$life> $crate::image::paint::vectors::Kernel for Arguments<$life> {
                type Output = $out;

                #[inline(always)]
                fn run(self) -> $out {
                    let Self($($arg,)* _) = self;
                    $kernel($($arg),*)
                }
            }
            $crate::image::paint::vectors::widest(Arguments($($arg,)* std::marker::PhantomData))
        }
    };
}
pub(crate) use wide;

#[cfg(test)]
mod tests {
    #[inline(always)]
    fn mix(a: &[f32], b: &mut [f32]) {
        for (a, b) in a.iter().zip(b) {
            *b = *a * 1.1 + *b / 3.0 - (*a - *b) * 0.7;
        }
    }

    wide!(fn wide_mix<'a>(a: &'a [f32], b: &'a mut [f32]) -> () = mix);

    #[test]
    fn wide_numbers_are_the_same_numbers() {
        let a: Vec<f32> = (0..103).map(|at| at as f32 * 0.37 - 9.0).collect();
        let mut wide = a.clone();
        let mut plain = a.clone();
        wide_mix(&a, &mut wide);
        mix(&a, &mut plain);
        assert_eq!(wide, plain);
    }
}
