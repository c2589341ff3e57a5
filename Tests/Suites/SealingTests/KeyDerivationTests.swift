import SecretMemory
import TestSupport
import Testing

@testable import Sealing

@Suite(.standardTimeLimit) struct KeyDerivationTests {
  init() throws { try Sealing.initialize() }

  private let salt = [UInt8](0...15)

  private func refusal(passes: Int, memoryKiB: Int, salt: [UInt8]) -> SealingError? {
    do throws(SealingError) {
      _ = try KeyDerivation.Parameters(passes: passes, memoryKiB: memoryKiB, salt: salt)
      return nil
    } catch { return error }
  }

  @Test func `the same secret and parameters make the same key, and nothing else does`() throws {
    let parameters = try KeyDerivation.Parameters(passes: 2, memoryKiB: 65536, salt: salt)
    let key = try KeyDerivation.key(from: Secret(utf8: "correct horse"), parameters)
    #expect(try KeyDerivation.key(from: Secret(utf8: "correct horse"), parameters).secret == key.secret)
    #expect(try KeyDerivation.key(from: Secret(utf8: "correct horse\n"), parameters).id != key.id)
    let others = [
      try KeyDerivation.Parameters(passes: 3, memoryKiB: 65536, salt: salt),
      try KeyDerivation.Parameters(passes: 2, memoryKiB: 65537, salt: salt),
      try KeyDerivation.Parameters(passes: 2, memoryKiB: 65536, salt: salt.reversed()),
    ]
    for other in others { #expect(try KeyDerivation.key(from: Secret(utf8: "correct horse"), other).id != key.id) }
  }

  @Test func `the key is the bare output of Argon2id`() throws {
    let parameters = try KeyDerivation.Parameters(passes: 2, memoryKiB: 65536, salt: salt)
    let secret = try Secret(utf8: "")
    let bare = try KeyDerivation.bytes(from: secret, salt: salt, cost: .retrievedSecret, count: 32)
    #expect(try KeyDerivation.key(from: secret, parameters).secret == bare)
  }

  @Test(
    arguments: [
      (2, 65_536, nil), (3, 262_144, nil), (3, 1_048_576, .resourceLimit), (4, 262_144, .resourceLimit),
      (1, 65_536, .malformed), (0, 65_536, .malformed), (-1, 65_536, .malformed), (.min, .min, .malformed),
      (2, 65_535, .malformed), (2, 0, .malformed), (2, -65_536, .malformed),
      (11, 65_536, .resourceLimit), (2, 262_145, .resourceLimit), (.max, .max, .resourceLimit),
    ] as [(Int, Int, SealingError?)])
  func `stored parameters neither weaken nor exhaust`(passes: Int, memoryKiB: Int, expected: SealingError?) {
    #expect(refusal(passes: passes, memoryKiB: memoryKiB, salt: salt) == expected)
  }

  @Test(arguments: [0, 8, 15, 17, 32]) func `a salt has 16 bytes`(count: Int) {
    let salt = [UInt8](repeating: 1, count: count)
    #expect(refusal(passes: 2, memoryKiB: 65536, salt: salt) == .malformed)
  }

  @Test func `new parameters have a salt of their own and are accepted when they are read again`() throws {
    for cost in [Argon2Cost.passphrase, .retrievedSecret] {
      let new = KeyDerivation.Parameters(new: cost)
      #expect(new.passes == cost.passes && new.memoryKiB == cost.memoryKiB)
      #expect(KeyDerivation.Parameters(new: cost).salt != new.salt)
      #expect(
        try KeyDerivation.Parameters(passes: new.passes, memoryKiB: new.memoryKiB, salt: new.salt) == new)
    }
  }
}
