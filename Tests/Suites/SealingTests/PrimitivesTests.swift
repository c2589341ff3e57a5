import SecretMemory
import TestSupport
import Testing

@testable import Sealing

@Suite(.standardTimeLimit) struct PrimitivesTests {
  init() throws { try Sealing.initialize() }

  private static let signatures: [(seed: String, publicKey: String, message: String, signature: String)] = [
    // RFC 8032, section 7.1: tests 1, 2 and 3
    (
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
      """
      e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
      5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
      """
    ),
    (
      "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
      """
      92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
      085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
      """
    ),
    (
      "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
      """
      6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac
      18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
      """
    ),
  ]

  @Test(arguments: signatures.indices)
  func `Ed25519 gives the published answers`(index: Int) throws {
    let vector = Self.signatures[index]
    let message = bytes(vector.message)
    let key = try Ed25519SigningKey(seed: Secret(copying: bytes(vector.seed).span))
    #expect(key.publicKey.bytes == bytes(vector.publicKey))
    let signature = key.sign(message.span)
    #expect(signature == bytes(vector.signature))
    #expect(key.publicKey.accepts(signature, for: message))
    #expect(key.withSeed { seed in seed.indices.map { seed[$0] } } == bytes(vector.seed))
    #expect(!key.publicKey.accepts(signature, for: message + [0]))
    for byte in signature.indices {
      var forged = signature
      forged[byte] ^= 1
      #expect(!key.publicKey.accepts(forged, for: message))
    }
    #expect(!key.publicKey.accepts(Array(signature.dropLast()), for: message))
    #expect(try !Ed25519SigningKey.random().publicKey.accepts(signature, for: message))
  }

  @Test func `BLAKE2b gives the published answers`() throws {
    // RFC 7693, appendix A
    #expect(
      KeyedHash.unkeyedDigest(ofBytes: Array("abc".utf8), count: 64)
        == bytes(
          """
          ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1
          7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923
          """))
    // blake2b-kat.txt of the reference implementation: empty message, key 00…3f
    let hash = try KeyedHash(key: Secret(copying: Array(0...63).span))
    #expect(
      hash.digest(ofBytes: [], count: 64)
        == bytes(
          """
          10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786
          b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568
          """))
  }

  @Test func `a keyed hash knows its own digests`() throws {
    let hash = try KeyedHash(key: RandomBytes.secret(count: 32))
    let message = Array("message".utf8)
    let digest = hash.digest(of: message.span)
    #expect(digest.count == 32)
    #expect(hash.accepts(digest, for: message))
    #expect(!hash.accepts(digest, for: []))
    #expect(!hash.accepts([], for: message))
    #expect(try hash.secretDigest(of: message.span) == Secret(copying: digest.span))
    #expect(throws: SealingError.malformed) { try KeyedHash(key: RandomBytes.secret(count: 15)) }
    #expect(throws: SealingError.malformed) { try KeyedHash(key: RandomBytes.secret(count: 65)) }
  }

  @Test func `a secret is read from base64url, and nothing else`() throws {
    let read = { (text: String) throws(SealingError) in try Secret.decodeBase64URL(text.utf8.span) }
    #expect(try read("Zm9vYg") == Secret(utf8: "foob"))
    for text in ["Z", "Zg==", "Zh"] {
      #expect(throws: SealingError.malformed) { try read(text) }
    }
  }

  @Test func `random bytes differ, and random numbers stay below their bound`() throws {
    #expect(RandomBytes.array(count: 32) != RandomBytes.array(count: 32))
    #expect(try RandomBytes.secret(count: 32) != RandomBytes.secret(count: 32))
    #expect(RandomBytes.array(count: 0).isEmpty)
    let drawn = Set((0..<1_000).map { _ in RandomBytes.uniform(upperBound: 10) })
    #expect(drawn == Set(0..<10))
    #expect(RandomBytes.uniform(upperBound: 1) == 0)
  }

  @Test func `no error says more than a constant sentence`() {
    let errors: [SealingError] = [
      .libraryUnavailable, .secretMemoryUnavailable, .malformed, .unsupportedFormat, .wrongKey, .notAuthentic,
      .resourceLimit,
      .secretMemoryExhausted,
    ]
    #expect(Set(errors.map(\.description)).count == errors.count)
  }
}
