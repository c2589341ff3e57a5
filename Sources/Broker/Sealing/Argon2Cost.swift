/// How much work one Argon2id computation is (RFC 9106); with one lane, which is what libsodium computes.
package struct Argon2Cost: Sendable, Equatable {
  /// Passes over the memory.
  package let passes: Int
  /// Memory in KiB.
  package let memoryKiB: Int

  /// The cost for accounts' passwords: three passes over 64 MiB, the second recommended option of RFC 9106, section 4.
  package static let standard = Argon2Cost(passes: 3, memoryKiB: 64 * 1024)

  /// For a passphrase that protects a whole vault and is asked for once a start: libsodium's MODERATE.
  package static let passphrase = Argon2Cost(passes: 3, memoryKiB: 256 * 1024)

  /// For a secret that another program keeps, which may be a random key or what a person chose: libsodium's INTERACTIVE.
  package static let retrievedSecret = Argon2Cost(passes: 2, memoryKiB: 64 * 1024)

  /// The most that something stored may ask for, so that a forged cost cannot exhaust the machine: 10 passes, 1 GiB.
  package static let largest = Argon2Cost(passes: 10, memoryKiB: 1024 * 1024)

  /// The most that a stored key derivation may ask for: no key was ever worth more, and a forged vault gets no more memory.
  package static let mostForKeys = passphrase

  /// The least that a stored key derivation may ask for, so that a forged cost cannot weaken it: libsodium's
  /// INTERACTIVE.
  package static let leastForKeys = retrievedSecret

  /// Chooses the work.
  ///
  /// - Parameters:
  ///   - passes: 1 to 10.
  ///   - memoryKiB: 8 KiB to 1 GiB.
  package init(passes: Int, memoryKiB: Int) {
    precondition((1...10).contains(passes) && (8...1024 * 1024).contains(memoryKiB), "the work is within bounds")
    self.passes = passes
    self.memoryKiB = memoryKiB
  }

  /// Whether there is memory for a computation.
  ///
  /// Where memory is promised that is not there, the kernel would end the process in the middle.
  ///
  /// - Parameters:
  ///   - memoryKiB: what the computation takes, in KiB.
  ///   - available: how many bytes there are; nil where that is not known.
  /// - Returns: true also where it is not known.
  package static func fits(memoryKiB: Int, in available: Int64?) -> Bool {
    Int64(memoryKiB) * 1024 < available ?? .max
  }

  /// The memory in bytes, as libsodium wants it.
  var memoryByteCount: Int { memoryKiB * 1024 }
}
