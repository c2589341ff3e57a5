import CSodium
package import SecretMemory

/// Makes a sealing key of a passphrase or another secret of any length: Argon2id (RFC 9106, libsodium's
/// `crypto_pwhash`).
///
/// Each call takes the memory and the time that its parameters name, on the calling thread: never on the event loop.
package enum KeyDerivation {
  /// The parameters of a derivation, stored beside the sealed data so that the same secret gives the same key again; no
  /// secret.
  package struct Parameters: Sendable, Hashable {
    /// How many bytes a salt has: what libsodium asks for, and enough to be drawn at random.
    package static let saltByteCount = Int(crypto_pwhash_SALTBYTES)

    /// Passes over the memory.
    package let passes: Int
    /// Memory in KiB.
    package let memoryKiB: Int
    /// The 16 bytes that make equal secrets different keys.
    package let salt: [UInt8]

    /// Reads parameters that were stored, maybe by another program.
    ///
    /// - Throws: `SealingError.malformed` when the salt has another length or the work is less than
    ///   ``Argon2Cost/leastForKeys``, `.resourceLimit` when it is more than ``Argon2Cost/mostForKeys``.
    package init(passes: Int, memoryKiB: Int, salt: [UInt8]) throws(SealingError) {
      let (least, most) = (Argon2Cost.leastForKeys, Argon2Cost.mostForKeys)
      guard salt.count == Self.saltByteCount, passes >= least.passes, memoryKiB >= least.memoryKiB else {
        throw .malformed
      }
      guard passes <= most.passes, memoryKiB <= most.memoryKiB else { throw .resourceLimit }
      self.passes = passes
      self.memoryKiB = memoryKiB
      self.salt = salt
    }

    /// Chooses parameters for a new key, with a new random salt.
    ///
    /// - Parameter cost: the work, at least ``Argon2Cost/leastForKeys``.
    package init(new cost: Argon2Cost) {
      let least = Argon2Cost.leastForKeys
      precondition(cost.passes >= least.passes && cost.memoryKiB >= least.memoryKiB, "a key is worth the least work")
      passes = cost.passes
      memoryKiB = cost.memoryKiB
      salt = RandomBytes.array(count: Self.saltByteCount)
    }
  }

  /// The key that belongs to a secret.
  ///
  /// - Parameters:
  ///   - secret: of any length.
  ///   - parameters: new ones, or those that were stored.
  /// - Returns: always the same key for the same secret and parameters, computed straight into locked memory.
  /// - Throws: `SealingError.resourceLimit` when there is not enough memory, `.secretMemoryExhausted`.
  package static func key(from secret: Secret, _ parameters: Parameters) throws(SealingError) -> SealingKey {
    let cost = Argon2Cost(passes: parameters.passes, memoryKiB: parameters.memoryKiB)
    return try SealingKey(bytes(from: secret, salt: parameters.salt, cost: cost, count: SealingKey.byteCount))
  }

  /// The bare function, of any cost and output length: for known-answer tests.
  static func bytes(
    from secret: Secret, salt: [UInt8], cost: Argon2Cost, count: Int
  ) throws(SealingError) -> Secret {
    precondition(salt.count == Parameters.saltByteCount, "the salt has its fixed length")
    return try Secret.filling(byteCount: count) { output throws(SealingError) in
      let status = secret.withBytes { secret in
        // All pointers go with their own lengths and live until the closures return; the salt's length is checked.
        unsafe output.withMutableCBytes { output, outputCount in
          unsafe secret.withCCharacters { secret, secretCount in
            unsafe salt.span.withCBytes { salt, _ in
              unsafe crypto_pwhash(
                output, UInt64(outputCount), secret, UInt64(secretCount), salt, UInt64(cost.passes),
                cost.memoryByteCount, crypto_pwhash_ALG_ARGON2ID13)
            }
          }
        }
      }
      // All lengths and costs are within libsodium's bounds: what is left is that the memory is not there.
      guard status == 0 else { throw .resourceLimit }
    }
  }
}
