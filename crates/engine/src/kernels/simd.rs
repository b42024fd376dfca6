//! Vectors of `f32` behind one trait, chosen at run time.
//!
//! Every implementation rounds alike: multiply-add is fused everywhere, so that the bits of a
//! result do not depend on the vector width of the machine.

/// Lanes of the widest vector.
const WIDEST: usize = 16;

/// One vector register of `f32` values.
///
/// # Safety
/// The methods of an implementation may only be called on a processor that has its instructions,
/// and pointers must be valid for [`Vector::LANES`] values.
pub(crate) unsafe trait Vector: Copy {
    /// How many values one register holds.
    const LANES: usize;
    /// The register with `x` in every lane.
    unsafe fn splat(x: f32) -> Self;
    /// The values at `from`.
    unsafe fn load(from: *const f32) -> Self;
    /// Writes the values to `to`.
    unsafe fn store(self, to: *mut f32);
    /// The first `count` values at `from`, the other lanes zero.
    #[inline(always)]
    unsafe fn load_some(from: *const f32, count: usize) -> Self {
        let mut lanes = [0.0f32; WIDEST];
        // SAFETY: `count` is at most the number of lanes.
        unsafe {
            std::ptr::copy_nonoverlapping(from, lanes.as_mut_ptr(), count);
            Self::load(lanes.as_ptr())
        }
    }
    /// Writes the first `count` values to `to`.
    #[inline(always)]
    unsafe fn store_some(self, to: *mut f32, count: usize) {
        let mut lanes = [0.0f32; WIDEST];
        // SAFETY: `count` is at most the number of lanes.
        unsafe {
            self.store(lanes.as_mut_ptr());
            std::ptr::copy_nonoverlapping(lanes.as_ptr(), to, count);
        }
    }
    /// `self · b + c`, rounded once.
    unsafe fn mul_add(self, b: Self, c: Self) -> Self;
    /// Asks for the cache line at `from`, which need not be readable.
    #[inline(always)]
    fn prefetch(from: *const f32) {
        let _ = from;
    }
}

/// The portable vector: as wide as AVX2, with whatever instructions the compiler may use.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f32; 8]);

// SAFETY: no instructions beyond the compiler's own target are used.
unsafe impl Vector for Portable {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        Self([x; 8])
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller vouches for the pointer and the instructions.
        Self(unsafe { from.cast::<[f32; 8]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller vouches for the pointer and the instructions.
        unsafe { to.cast::<[f32; 8]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].mul_add(b.0[i], c.0[i])))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Vector;
    use std::arch::x86_64::*;

    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256);

    // SAFETY: all methods compute with Avx2's instructions alone, as the trait allows.
    unsafe impl Vector for Avx2 {
        const LANES: usize = 8;

        #[inline(always)]
        unsafe fn splat(x: f32) -> Self {
            // SAFETY: the caller vouches for the instructions.
            Self(unsafe { _mm256_set1_ps(x) })
        }

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller vouches for the pointer and the instructions.
            Self(unsafe { _mm256_loadu_ps(from) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller vouches for the pointer and the instructions.
            unsafe { _mm256_storeu_ps(to, self.0) }
        }

        #[inline(always)]
        unsafe fn mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: the caller vouches for the instructions.
            Self(unsafe { _mm256_fmadd_ps(self.0, b.0, c.0) })
        }

        #[inline(always)]
        fn prefetch(from: *const f32) {
            // SAFETY: a prefetch never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
        }
    }

    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(__m512);

    // SAFETY: all methods compute with Avx512's instructions alone, as the trait allows.
    unsafe impl Vector for Avx512 {
        const LANES: usize = 16;

        #[inline(always)]
        unsafe fn splat(x: f32) -> Self {
            // SAFETY: the caller vouches for the instructions.
            Self(unsafe { _mm512_set1_ps(x) })
        }

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Self {
            // SAFETY: the caller vouches for the pointer and the instructions.
            Self(unsafe { _mm512_loadu_ps(from) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut f32) {
            // SAFETY: the caller vouches for the pointer and the instructions.
            unsafe { _mm512_storeu_ps(to, self.0) }
        }

        #[inline(always)]
        unsafe fn load_some(from: *const f32, count: usize) -> Self {
            // SAFETY: the caller vouches for the pointer and the instructions.
            Self(unsafe { _mm512_maskz_loadu_ps(((1u32 << count) - 1) as __mmask16, from) })
        }

        #[inline(always)]
        unsafe fn store_some(self, to: *mut f32, count: usize) {
            // SAFETY: the caller vouches for the pointer and the instructions.
            unsafe { _mm512_mask_storeu_ps(to, ((1u32 << count) - 1) as __mmask16, self.0) }
        }

        #[inline(always)]
        unsafe fn mul_add(self, b: Self, c: Self) -> Self {
            // SAFETY: the caller vouches for the instructions.
            Self(unsafe { _mm512_fmadd_ps(self.0, b.0, c.0) })
        }

        #[inline(always)]
        fn prefetch(from: *const f32) {
            // SAFETY: a prefetch never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

/// The instruction sets that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isa {
    /// 512-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 256-bit vectors with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What the compiler's target guarantees.
    Portable,
}

/// The values that `FAULTLENS_ISA` takes; any other asks for nothing, so that a program should refuse
/// it.
pub const ISA_NAMES: [&str; 3] = ["avx512", "avx2", "portable"];

/// The best instruction set of this processor. `FAULTLENS_ISA` (`avx512`, `avx2`, `portable`)
/// asks for a lesser one, to show that the answers stay the same.
pub(crate) fn isa() -> Isa {
    static ISA: std::sync::OnceLock<Isa> = std::sync::OnceLock::new();
    *ISA.get_or_init(detect)
}

fn detect() -> Isa {
    // Miri interprets the portable path: it knows few vector instructions.
    if cfg!(miri) {
        return Isa::Portable;
    }
    #[cfg(target_arch = "x86_64")]
    {
        let asked = std::env::var("FAULTLENS_ISA").unwrap_or_default();
        if asked == "portable" {
            return Isa::Portable;
        }
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        if avx512 && asked != "avx2" {
            return Isa::Avx512;
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Isa::Avx2;
        }
    }
    Isa::Portable
}

/// The name of the instruction set in use, for a run's manifest.
pub fn isa_name() -> &'static str {
    match isa() {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => "avx512",
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => "avx2",
        Isa::Portable => "portable",
    }
}

/// Defines a function whose body is compiled once per instruction set and chosen at run time.
/// The body must be `#[inline(always)]`, so that the compiler vectorises it for each set.
macro_rules! per_isa {
    ($(#[$doc:meta])* fn $name:ident [$($gen:tt)*] ($($arg:ident: $ty:ty),* $(,)?) = $body:expr;) => {
        $(#[$doc])*
        pub(crate) fn $name<$($gen)*>($($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
                fn avx512<$($gen)*>($($arg: $ty),*) {
                    $body
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2<$($gen)*>($($arg: $ty),*) {
                    $body
                }
                match $crate::kernels::simd::isa() {
                    // SAFETY: the processor has the instructions, `isa` has checked.
                    $crate::kernels::simd::Isa::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    $crate::kernels::simd::Isa::Avx2 => return unsafe { avx2($($arg),*) },
                    $crate::kernels::simd::Isa::Portable => {}
                }
            }
            $body
        }
    };
}
pub(crate) use per_isa;
