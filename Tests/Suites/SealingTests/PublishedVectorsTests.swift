import SecretMemory
import TestSupport
import Testing

@testable import Sealing

/// libsodium's own answers, which the linked library must give through our bindings.
@Suite(.standardTimeLimit) struct PublishedVectorsTests {
  init() throws { try Sealing.initialize() }

  private func counting(_ count: Int) -> [UInt8] { (0..<count).map(UInt8.init) }

  @Test func `XChaCha20-Poly1305 gives libsodium's answers`() throws {
    let answers = try Fixture.lines("libsodium-xchacha20poly1305.txt")
    let sunscreen = Array(
      ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        + "sunscreen would be it.").utf8)
    let nonce = bytes("07000000404142434445464748494a4b4c4d4e4f50515253")
    let key = [UInt8](0x80...0x9f)
    for (associatedData, answer) in [(bytes("50515253c0c1c2c3c4c5c6c7"), answers[0]), ([], answers[1])] {
      let sealed = XChaCha20Poly1305.encrypted(sunscreen, associatedData, nonce: nonce, key: key)
      #expect(sealed == bytes(answer))
      #expect(XChaCha20Poly1305.decrypted(sealed, associatedData, nonce: nonce, key: key) == sunscreen)
    }
    #expect(answers.count == 2)
  }

  @Test func `BLAKE2b gives libsodium's answers for every length of a message`() throws {
    let answers = try Fixture.lines("libsodium-blake2b-keyed.txt")
    #expect(answers.count == 256)
    let hash = try KeyedHash(key: Secret(copying: counting(64).span))
    for (count, answer) in answers.enumerated() {
      #expect(hash.digest(ofBytes: counting(count), count: 64) == bytes(answer))
      let secret = try hash.secretDigest(of: counting(count).span, count: 64)
      #expect(try secret == Secret(copying: bytes(answer).span))
    }
  }

  @Test func `BLAKE2b gives libsodium's answers for every length of key and digest`() throws {
    let answers = try Fixture.lines("libsodium-blake2b-lengths.txt")
    #expect(answers.count == 65)
    for count in KeyedHash.keyByteCounts {
      let hash = try KeyedHash(key: Secret(copying: counting(count).span))
      #expect(hash.digest(ofBytes: counting(count - 1), count: count) == bytes(answers[count - 1]))
    }
    #expect(KeyedHash.unkeyedDigest(ofBytes: counting(64), count: 64) == bytes(answers[64]))
  }

  @Test func `Argon2id gives libsodium's answers`() throws {
    let vectors = try Fixture.lines("libsodium-argon2id.txt").map { $0.split(separator: " ").map(String.init) }
    #expect(vectors.count == 7)
    for vector in vectors {
      let passes = try #require(Int(vector[2]))
      let memoryKiB = try #require(Int(vector[3]))
      let derived = try KeyDerivation.bytes(
        from: Secret(copying: bytes(vector[0]).span), salt: bytes(vector[1]),
        cost: Argon2Cost(passes: passes, memoryKiB: memoryKiB), count: vector[4].utf8.count / 2)
      #expect(try derived == Secret(copying: bytes(vector[4]).span))
    }
  }
}
