//! Stream keys: which random numbers belong to which piece of work.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Names one stream of random numbers: (seed, chain, sweep, block, chunk).
///
/// A sampler that gives every piece of work its own key draws the same numbers whatever the number
/// of threads and whatever the order in which the pieces run.
///
/// # Why distinct keys give distinct streams
///
/// A ChaCha generator is fixed by a 256-bit key and a 64-bit stream number. With $m$ the
/// finalizer of SplitMix64, a bijection of the 64-bit words, the key is $(w\_0, w\_1, w\_2, w\_3)$,
///
/// $$ w\_0 = m(\text{seed}),\quad w\_1 = m(w\_0 \oplus \text{sweep}),\quad
///    w\_2 = m(w\_1 \oplus \text{chain}),\quad w\_3 = m(w\_2 \oplus \text{constant}), $$
///
/// and the stream number is $2^{32}\\,\text{block} + \text{chunk}$. Seed, sweep and chain can be
/// read back from $w\_0, w\_1, w\_2$ one after the other, block and chunk from the stream number:
/// the map from keys to generators is one to one, so there is no collision to estimate. (A 64-bit
/// hash of chain, sweep, block and chunk would have a collision among $n$ keys with probability
/// about $n^2/2^{65}$: 3 % for $10^9$ keys.) Streams under one ChaCha key never overlap within
/// $2^{70}$ bytes; under different keys they are as independent as the cipher is good.
///
/// # Cost
///
/// Making the generator and drawing the first number costs about one hundred nanoseconds: one key
/// per block of work is free, one per cell is not.
///
/// ```
/// use polyview_random::{standard_normal, StreamKey};
///
/// let key = StreamKey::new(7).chain(1).sweep(120).block(3);
/// let a = standard_normal(&mut key.chunk(0).rng());
/// let b = standard_normal(&mut key.chunk(1).rng());
/// assert_ne!(a, b);
/// assert_eq!(a, standard_normal(&mut key.chunk(0).rng()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamKey {
    /// The user's seed.
    pub seed: u64,
    /// Markov chain, or restart.
    pub chain: u32,
    /// Sweep or iteration.
    pub sweep: u64,
    /// Block of the model that is being updated.
    pub block: u32,
    /// Chunk of rows or features inside the block.
    pub chunk: u32,
}

impl StreamKey {
    /// The key with this seed and all other fields zero.
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            chain: 0,
            sweep: 0,
            block: 0,
            chunk: 0,
        }
    }

    /// The same key for another chain.
    pub const fn chain(mut self, chain: u32) -> Self {
        self.chain = chain;
        self
    }

    /// The same key for another sweep.
    pub const fn sweep(mut self, sweep: u64) -> Self {
        self.sweep = sweep;
        self
    }

    /// The same key for another block.
    pub const fn block(mut self, block: u32) -> Self {
        self.block = block;
        self
    }

    /// The same key for another chunk.
    pub const fn chunk(mut self, chunk: u32) -> Self {
        self.chunk = chunk;
        self
    }

    /// The generator of this stream, at its beginning.
    pub fn rng(&self) -> ChaCha8Rng {
        let w0 = mix(self.seed);
        let w1 = mix(w0 ^ self.sweep);
        let w2 = mix(w1 ^ u64::from(self.chain));
        let w3 = mix(w2 ^ DOMAIN);
        let mut key = [0u8; 32];
        for (bytes, word) in key.chunks_exact_mut(8).zip([w0, w1, w2, w3]) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(u64::from(self.block) << 32 | u64::from(self.chunk));
        rng
    }
}

/// "polyview" in ASCII: keeps the keys of this crate apart from those of other programs.
const DOMAIN: u64 = 0x706f_6c79_7669_6577;

/// Finalizer of SplitMix64 (Steele, Lea and Flood, 2014), a bijection; the added constant keeps
/// zero from being a fixed point.
const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
