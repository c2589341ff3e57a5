/// Random numbers for the spreading of waits, without a system call for each: SplitMix64 (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014), begun at a number of the system's generator.
///
/// An observer of some of them can compute the others: no secret may depend on them.
struct JitterGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// Numbers that follow from a seed, by default a random one.
  init(seed: UInt64 = .random(in: 0...UInt64.max)) { state = seed }

  /// The next number.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
