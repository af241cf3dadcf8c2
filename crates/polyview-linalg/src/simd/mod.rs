//! One kernel source, compiled for several instruction sets and chosen at run time.
//!
//! A kernel is plain safe code over slices, or over arrays of eight numbers, that the compiler turns into vector
//! instructions. The AVX-512 and the AVX2 version use fused multiply-adds and give the same bits as each other; the
//! portable version fuses only where every processor of the target can. On one machine the choice is always the same one.
//!
//! What is made of one number at a time is written as a function of one number without branches, and a loop over slices
//! calls it ([`decay`], [`ln_1p`], [`ln`] are such functions):
//!
//! ```
//! use polyview_linalg::simd::{Kernel, decay, dispatch};
//!
//! /// y = e^(-x²).
//! struct Bells<'a> {
//!     x: &'a [f64],
//!     y: &'a mut [f64],
//! }
//! impl Kernel for Bells<'_> {
//!     #[inline(always)]
//!     fn run<const FUSED: bool>(self) {
//!         for (y, x) in self.y.iter_mut().zip(self.x) {
//!             *y = decay::<FUSED>(x * x).value;
//!         }
//!     }
//! }
//! let mut y = [0.0; 3];
//! dispatch(Bells { x: &[0.0, 1.0, 30.0], y: &mut y });
//! assert!(y[0] == 1.0 && (y[1] - (-1f64).exp()).abs() < 1e-16 && y[2] == 0.0);
//! ```

mod elementary;

pub use elementary::{Decay, decay, ln, ln_1p};

/// Eight numbers side by side, on a cache line of their own: a vector load from it never straddles two lines.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Lane(pub [f64; 8]);

impl Lane {
    pub(crate) const ZERO: Self = Self([0.0; 8]);
    pub(crate) const ONE: Self = Self([1.0; 8]);
}

/// `c + a * b`, fused where `FUSED`.
#[inline(always)]
pub fn mul_add<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Work that gains from wide vectors. `run` must be `#[inline(always)]`, as must all that it calls in its inner loops:
/// only inlined code is compiled for the chosen instruction set.
pub trait Kernel {
    /// Does the work; `FUSED` where fused multiply-adds are one instruction.
    fn run<const FUSED: bool>(self);
}

/// Runs a kernel with the widest vectors that this processor has.
#[allow(unsafe_code)]
pub fn dispatch(kernel: impl Kernel) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
        {
            // SAFETY: the processor has just reported every feature that `avx512` is compiled for.
            return unsafe { avx512(kernel) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has just reported every feature that `avx2` is compiled for.
            return unsafe { avx2(kernel) };
        }
    }
    kernel.run::<ALWAYS_FUSED>();
}

/// Clears the upper halves of the vector registers, where there are any.
///
/// The matrix products leave them as they are. As long as they hold something,
/// every change between code for wide vectors and code for the base
/// instruction set costs some hundred cycles: exponentials cell by cell were
/// found to take fifteen times as long after a product.
#[allow(unsafe_code)]
pub(crate) fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") {
        // SAFETY: the processor has just reported AVX.
        unsafe { std::arch::x86_64::_mm256_zeroupper() };
    }
}

/// Whether every processor of this target has fused multiply-adds.
const ALWAYS_FUSED: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn avx512(kernel: impl Kernel) {
    kernel.run::<true>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(kernel: impl Kernel) {
    kernel.run::<true>();
}

/// Runs a kernel in the portable version.
#[cfg(test)]
pub(crate) fn portable(kernel: impl Kernel) {
    kernel.run::<false>();
}
