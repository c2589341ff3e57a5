import SecretMemory
import TestSupport
import Testing
import TextCoding

@testable import JOSE
@testable import Signing

/// What is no key for ES256 or RS256 is refused, each with its own sentence.
@Suite(.standardTimeLimit) struct KeyFaultTests {
  private static let es256 = PublishedKeys.es256
  private static let good = KeyFiles.pem("EC PRIVATE KEY", KeyFiles.sec1(es256))
  private static let rsa = KeyFiles.pkcs1(PublishedKeys.rs256)

  @Test(
    arguments: [
      ("", .noKey), ("not a key", .noKey), ("-----BEGIN PRIVATE KEY----", .noKey), ("-----BEGIN -----", .noKey),
      (KeyFiles.pem("CERTIFICATE", [1]), .notPrivate(label: "CERTIFICATE")),
      (KeyFiles.pem("PUBLIC KEY", [1]), .notPrivate(label: "PUBLIC KEY")),
      (KeyFiles.pem("CERTIFICATE", [1]) + KeyFiles.pem("ENCRYPTED PRIVATE KEY", [1]), .encrypted),
      ("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----", .encrypted),
      (KeyFiles.pem("OPENSSH PRIVATE KEY", [1]), .openSSH),
      (good + KeyFiles.pem("PRIVATE KEY", [1]), .several), (good + good, .several),
      (KeyFiles.pem("PRIVATE KEY", []), .damaged), (KeyFiles.pem("PRIVATE KEY", [0x30, 0x00]), .damaged),
      (String(good.dropLast(30)), .damaged), (good.replacing("END EC", with: "END DC"), .damaged),
      (good.replacing("MHc", with: "MH!"), .damaged),
      (KeyFiles.pem("EC PRIVATE KEY", KeyFiles.sec1(es256) + [0]), .damaged),
      (KeyFiles.pem("RSA PRIVATE KEY", rsa.dropLast(1)), .damaged),
      (KeyFiles.pem("EC PRIVATE KEY", KeyFiles.sec1(es256, curve: [])), .damaged),
    ] as [(String, KeyFault)])
  func `a text that is no private key`(_ text: String, _ fault: KeyFault) throws {
    #expect(try KeyFiles.fault(text) == fault)
  }

  @Test func `another curve, another kind, and halves that do not belong together`() throws {
    let p521: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
    let secp256k1: [UInt8] = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A]
    let ed25519: [UInt8] = [0x06, 0x03, 0x2B, 0x65, 0x70]
    let other = try SigningKey.random().publicKey
    guard case .p256(let x, let y) = other else { throw Unexpected() }
    var changed = PublishedKeys.rs256
    changed["n"] = PublishedKeys.cookbookRSA["n"]
    let keys: [(String, [UInt8], KeyFault)] = [
      ("EC PRIVATE KEY", KeyFiles.sec1(PublishedKeys.cookbookEC, curve: p521), .curve),
      ("EC PRIVATE KEY", KeyFiles.sec1(Self.es256, curve: secp256k1, publicKey: []), .curve),
      ("PRIVATE KEY", KeyFiles.pkcs8(ed25519, DER.element(0x04, [UInt8](repeating: 7, count: 32))), .kind),
      ("EC PRIVATE KEY", KeyFiles.sec1(Self.es256, publicKey: [4] + x + y), .mismatched),
      ("RSA PRIVATE KEY", KeyFiles.pkcs1(changed), .mismatched),
    ]
    for (label, der, fault) in keys { #expect(try KeyFiles.fault(KeyFiles.pem(label, der)) == fault, "\(fault)") }
  }

  @Test func `a public key that is none`() throws {
    var key = Self.es256
    let changes: [(String, String, KeyFault)] = [
      ("kty", "OKP", .kind), ("crv", "P-384", .curve), ("x", "AAAA", .damaged), ("y", "=", .damaged),
      ("alg", "ES384", .kind),
    ]
    for (name, value, fault) in changes {
      key = Self.es256
      key[name] = value
      #expect(throws: fault) { try KeyFiles.publicKey(key) }
    }
    #expect(throws: KeyFault.curve) { try KeyFiles.publicKey(PublishedKeys.cookbookEC) }
    // No point of the curve: libcrypto says so.
    key = Self.es256
    key["y"] = Self.es256["x"]
    let off = try KeyFiles.publicKey(key)
    #expect(throws: KeyFault.damaged) { try KeyFiles.isSigned(PublishedKeys.es256Token, with: off) }
    var rsa = PublishedKeys.rs256
    let weak = [UInt8](repeating: 0x7F, count: 128)
    rsa["n"] = String(decoding: Base64.encode(weak.span, as: .url), as: UTF8.self)
    #expect(throws: KeyFault.size(bits: 1023)) { try KeyFiles.publicKey(rsa) }
    rsa["n"] = "AAAA"
    #expect(throws: KeyFault.damaged) { try KeyFiles.publicKey(rsa) }
  }

  @Test func `each fault has a sentence of its own, and says what to do`() throws {
    let faults: [KeyFault] = [
      .libraryMissing, .noKey, .notPrivate(label: "CERTIFICATE"), .several, .encrypted, .openSSH, .damaged, .mismatched,
      .kind, .curve, .size(bits: 1024), .size(bits: 32768), .secretMemoryExhausted, .failed,
    ]
    #expect(Set(faults.map(\.description)).count == faults.count)
    #expect("\(KeyFault.libraryMissing)".contains("libcrypto.so.3 is not installed"))
    #expect("\(KeyFault.libraryMissing)".hasSuffix("apt-get install libssl3"))
    #expect("\(KeyFault.size(bits: 1024))".contains("2048 bits or more"))
  }

  @Test(arguments: ["libcrypto-that-nobody-has.so.3", "libc.so.6"])
  func `a machine without the library, or with one that is another, says so`(_ name: String) {
    #expect(throws: KeyFault.libraryMissing) { try CryptoLibrary(fileName: name) }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a damaged key is refused or another one, and nothing breaks`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for whole in [KeyFiles.sec1(Self.es256), Self.rsa] {
      for _ in 0..<60 {
        var der = whole
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let place = Int.random(in: 0..<der.count, using: &random)
          if Bool.random(using: &random) {
            der[place] = UInt8.random(in: 0...255, using: &random)
          } else {
            der.removeLast(min(der.count - 1, place))
          }
        }
        let key = try? SigningKey(der: try Secret(copying: der.span))
        if let key { _ = try key.sign(whole.span) }
      }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a signature has one form in each notation`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      var halves = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
      // Numbers that begin with zeros, or with a bit that would make them negative.
      for start in [0, 32] { for index in 0..<Int.random(in: 0...32, using: &random) / 8 { halves[start + index] = 0 } }
      var der = ECDSASignature.der(ofHalves: halves.span)
      #expect(Self.halves(der) == halves)
      der[Int.random(in: 0..<der.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      _ = Self.halves(der)
      #expect(Self.halves(der.dropLast(1)) == nil)
    }
    #expect(Self.halves([]) == nil)
  }

  private static func halves(_ der: [UInt8]) -> [UInt8]? { ECDSASignature.halves(ofDER: der.span) }

  private struct Unexpected: Error {}
}
