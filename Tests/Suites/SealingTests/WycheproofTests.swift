import JSON
import SecretMemory
import TestSupport
import Testing

@testable import Sealing

/// Project Wycheproof's cases: edges of the arithmetic, and what must be refused.
@Suite(.standardTimeLimit) struct WycheproofTests {
  init() throws { try Sealing.initialize() }

  /// One case, and what its group says about the key.
  private struct Case {
    let group: JSONNode
    let test: JSONNode

    func bytes(_ name: String) throws -> [UInt8] {
      let digits = try test.required(name).string()
      return SealingTests.bytes(digits)
    }

    func isValid() throws -> Bool {
      let result = try test.required("result").string()
      return result == "valid"
    }

    func name() throws -> String {
      let number = try test.required("tcId").integer()
      return "case \(number)"
    }
  }

  private func cases(of name: String) throws -> [Case] {
    let root = try JSONDocument(parsing: Fixture.bytes(name)).root
    var cases: [Case] = []
    for group in try root.required("testGroups").elements() {
      for test in try group.required("tests").elements() { cases.append(Case(group: group, test: test)) }
    }
    let expected = try root.required("numberOfTests").integer()
    #expect(cases.count == Int(expected))
    return cases
  }

  @Test func `XChaCha20-Poly1305 agrees with each case`() throws {
    var opened = 0
    var unfit = 0
    for vector in try cases(of: "wycheproof-xchacha20_poly1305.json") {
      let isValid = try vector.isValid()
      let nonce = try vector.bytes("iv")
      guard nonce.count == XChaCha20Poly1305.nonceByteCount else {
        // No box can hold such a nonce: its length is part of the format.
        #expect(!isValid)
        unfit += 1
        continue
      }
      let key = try vector.bytes("key")
      let message = try vector.bytes("msg")
      let associatedData = try vector.bytes("aad")
      let sealed = try vector.bytes("ct") + vector.bytes("tag")
      let name = try vector.name()
      let plaintext = XChaCha20Poly1305.decrypted(sealed, associatedData, nonce: nonce, key: key)
      #expect(plaintext == (isValid ? message : nil), "\(name)")
      guard isValid else { continue }
      opened += 1
      let again = XChaCha20Poly1305.encrypted(message, associatedData, nonce: nonce, key: key)
      #expect(again == sealed, "\(name)")
    }
    #expect(opened == 246 && unfit == 9)
  }

  @Test func `Ed25519 agrees with each case`() throws {
    var accepted = 0
    for vector in try cases(of: "wycheproof-ed25519.json") {
      let digits = try vector.group.required("publicKey").required("pk").string()
      let key = try Ed25519PublicKey(bytes: bytes(digits).span)
      let signature = try vector.bytes("sig")
      let message = try vector.bytes("msg")
      let isValid = try vector.isValid()
      let name = try vector.name()
      #expect(key.accepts(signature, for: message) == isValid, "\(name)")
      if isValid { accepted += 1 }
    }
    #expect(accepted == 88)
  }
}
