import SecretMemory
import Synchronization
import TestSupport
import Testing

@testable import Sealing

@Suite(.standardTimeLimit) struct PasswordHashTests {
  init() throws { try Sealing.initialize() }

  private let fast = PasswordHash(parameters: .init(passes: 1, memoryKiB: 8))

  @Test func `a published hash is verified`() throws {
    // test.c of the Argon2 reference implementation
    let encoded = Array("$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4".utf8)
    #expect(try fast.accepts("password", for: encoded))
    #expect(try !fast.accepts("Password", for: encoded))
    #expect(try fast.isOutdated(encoded))
  }

  @Test(arguments: ["", "fake", "påss wörd", String(repeating: "long ", count: 1_000)])
  func `only the password that was hashed is right`(password: String) throws {
    let encoded = try fast.hash(Secret(utf8: password))
    #expect(String(decoding: encoded, as: UTF8.self).hasPrefix("$argon2id$v=19$m=8,t=1,p=1$"))
    #expect(try fast.accepts(password, for: encoded))
    #expect(try !fast.accepts(password + " ", for: encoded))
    #expect(try !fast.isOutdated(encoded))
    #expect(try fast.hash(Secret(utf8: password)) != encoded)
  }

  @Test func `other parameters ask for a new hash`() throws {
    let encoded = try fast.hash(Secret(utf8: "fake"))
    #expect(try PasswordHash(parameters: .init(passes: 2, memoryKiB: 8)).isOutdated(encoded))
    #expect(try PasswordHash(parameters: .init(passes: 1, memoryKiB: 16)).isOutdated(encoded))
    #expect(PasswordHash().parameters == .init(passes: 3, memoryKiB: 65_536))
  }

  @Test func `no password is right for an account that does not exist`() throws {
    #expect(try !fast.verifyAgainstNothing(Secret(utf8: "fake")))
    #expect(try !fast.verifyAgainstNothing(Secret(utf8: "")))
  }

  @Test func `what there is no memory for is refused before it is computed, whoever asks for it`() throws {
    let computations = Mutex(0)
    let count = { @Sendable () -> Void in computations.withLock { $0 += 1 } }
    let hash = PasswordHash(
      parameters: .init(passes: 1, memoryKiB: 8), availableMemory: { 1 << 30 }, willCompute: count)
    // Ten passes over a GiB, the most that is ever computed: a row that somebody has changed.
    let forged = "$argon2id$v=19$m=1048576,t=10,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
    #expect(throws: SealingError.resourceLimit) { try hash.accepts("fake", for: Array(forged.utf8)) }
    let scarce = PasswordHash(
      parameters: .init(passes: 1, memoryKiB: 8), availableMemory: { 8 << 10 }, willCompute: count)
    #expect(throws: SealingError.resourceLimit) { try scarce.hash(Secret(utf8: "fake")) }
    #expect(throws: SealingError.resourceLimit) { try scarce.verifyAgainstNothing(Secret(utf8: "fake")) }
    #expect(computations.withLock { $0 } == 0)
    #expect(try !hash.verifyAgainstNothing(Secret(utf8: "fake")))
    #expect(computations.withLock { $0 } == 1)
  }

  @Test(arguments: [
    ("$argon2id$v=19$m=1048577,t=1,p=1$c29tZXNhbHQ$nf65EOgLrQMR", SealingError.resourceLimit),
    ("$argon2id$v=19$m=8,t=11,p=1$c29tZXNhbHQ$nf65EOgLrQMR", .resourceLimit),
    ("$argon2id$v=19$m=99999999999999999999,t=1,p=1$c29tZXNhbHQ$nf65EOgLrQMR", .resourceLimit),
    ("$argon2id$v=19$m=8,t=1,p=2$c29tZXNhbHQ$nf65EOgLrQMR", .malformed),
    ("$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$!", .malformed),
    ("$argon2id$v=19$m=,t=1,p=1$c29tZXNhbHQ$nf65EOgLrQMR", .malformed),
    ("$argon2i$v=19$m=8,t=1,p=1$c29tZXNhbHQ$nf65EOgLrQMR", .malformed),
    ("", .malformed), ("$argon2id$", .malformed), (String(repeating: "$", count: 128), .malformed),
    ("$argon2id$v=19$m=8,t=1,p=1$\u{0}", .malformed),
  ])
  func `a forged hash neither exhausts nor passes`(encoded: String, expected: SealingError) throws {
    #expect(throws: expected) { try fast.accepts("fake", for: Array(encoded.utf8)) }
  }
}
