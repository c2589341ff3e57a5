import JSON
import SecretMemory
import TestSupport
import Testing
import TextCoding

@testable import JOSE
@testable import Signing

/// Keys for ES256 and RS256, by the examples of the standards, and by what is none.
@Suite(.standardTimeLimit) struct SigningKeyTests {
  private static let es256 = PublishedKeys.es256
  private static let rs256 = PublishedKeys.rs256

  /// A token of other parts is signed once more: RSA gives the same signature each time (RFC 8017, section 8.2).
  private static func signedAgain(_ token: String, _ key: SigningKey) throws -> String? {
    let parts = token.split(separator: ".").map { Array($0.utf8) }
    let encoded = parts[1]
    let payload = Base64.decodeURLForm(encoded.span) ?? []
    return try key.token(payload.span, header: parts[0]).revealedString()
  }

  @Test(arguments: [
    (PublishedKeys.rs256, PublishedKeys.rs256Token), (PublishedKeys.cookbookRSA, PublishedKeys.cookbookRSAToken),
  ])
  func `the tokens of RFC 7515, A.2, and RFC 7520, 4.1, are made and verified`(
    _ published: [String: String], _ token: String
  ) throws {
    let key = try KeyFiles.key(KeyFiles.pem("RSA PRIVATE KEY", KeyFiles.pkcs1(published)))
    #expect(key.algorithm == .rs256)
    #expect(try key.publicKey == KeyFiles.publicKey(published))
    #expect(try Self.signedAgain(token, key) == token)
    #expect(try KeyFiles.isSigned(token, with: key.publicKey))
  }

  @Test func `the token of RFC 7515, A.3, is verified, and one that is made anew`() throws {
    let key = try KeyFiles.key(KeyFiles.pem("EC PRIVATE KEY", KeyFiles.sec1(Self.es256)))
    #expect(key.algorithm == .es256)
    #expect(try key.publicKey == KeyFiles.publicKey(Self.es256))
    let (first, second) = (
      try Self.signedAgain(PublishedKeys.es256Token, key), try Self.signedAgain(PublishedKeys.es256Token, key)
    )
    // Each has a random number of its own (RFC 7515, appendix A.3.1).
    #expect(first != second)
    for token in [PublishedKeys.es256Token, try #require(first), try #require(second)] {
      #expect(try KeyFiles.isSigned(token, with: key.publicKey))
      #expect(token.split(separator: ".")[2].count == 86, "64 bytes, not DER")
    }
  }

  @Test func `no token is signed once a part of it has changed, or by another key`() throws {
    let others = [PublishedKeys.rs256: PublishedKeys.cookbookRSA, PublishedKeys.es256: Self.es256]
    for (published, token) in [
      (PublishedKeys.rs256, PublishedKeys.rs256Token), (PublishedKeys.es256, PublishedKeys.es256Token),
    ] {
      let key = try KeyFiles.publicKey(published)
      let parts = token.split(separator: ".").map(String.init)
      for part in 0...2 {
        var changed = parts.map { Array($0.utf8) }
        let middle = changed[part].count / 2
        changed[part][middle] ^= 1
        let text = changed.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
        #expect(try !KeyFiles.isSigned(text, with: key), "part \(part)")
      }
      for end in ["", "AAAA", String(parts[2].dropLast(4)), parts[2] + "AAAA"] {
        #expect(try !KeyFiles.isSigned(parts[0] + "." + parts[1] + "." + end, with: key))
      }
      if let other = others[published], other != published {
        #expect(try !KeyFiles.isSigned(token, with: try KeyFiles.publicKey(other)))
      }
    }
    #expect(try !KeyFiles.isSigned(PublishedKeys.es256Token, with: try SigningKey.random().publicKey))
    #expect(try !KeyFiles.isSigned(PublishedKeys.es256Token, with: try KeyFiles.publicKey(Self.rs256)))
  }

  @Test func `the thumbprint of RFC 7638, 3.1`() throws {
    let key = try KeyFiles.publicKey(PublishedKeys.thumbprint)
    #expect(key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
  }

  @Test func `each form of a key is read, whatever stands around it`() throws {
    let rsa = DER.rsaEncryption + DER.null
    let ec = DER.ecPublicKey + DER.p256
    let certificate = KeyFiles.pem("CERTIFICATE", [1, 2, 3])
    let texts = [
      KeyFiles.pem("PRIVATE KEY", KeyFiles.pkcs8(ec, KeyFiles.sec1(Self.es256))),
      KeyFiles.pem("PRIVATE KEY", KeyFiles.pkcs8(ec, KeyFiles.sec1(Self.es256, curve: [], publicKey: []))),
      KeyFiles.pem("EC PRIVATE KEY", KeyFiles.sec1(Self.es256, publicKey: [])),
      KeyFiles.pem("EC PARAMETERS", DER.p256) + KeyFiles.pem("EC PRIVATE KEY", KeyFiles.sec1(Self.es256)),
      "Bag Attributes: none\r\n" + KeyFiles.pem("EC PRIVATE KEY", KeyFiles.sec1(Self.es256), lineEnd: "  \r\n"),
      certificate + KeyFiles.pem("EC PRIVATE KEY", KeyFiles.sec1(Self.es256)) + certificate,
    ]
    for text in texts { #expect(try KeyFiles.key(text).publicKey == KeyFiles.publicKey(Self.es256), "\(text)") }
    let text = KeyFiles.pem("PRIVATE KEY", KeyFiles.pkcs8(rsa, KeyFiles.pkcs1(Self.rs256)))
    #expect(try KeyFiles.key(text).publicKey == KeyFiles.publicKey(Self.rs256))
  }

  @Test func `a new key is another one each time, and the same once it was kept`() throws {
    let key = try SigningKey.random()
    #expect(try SigningKey.random().publicKey != key.publicKey)
    #expect(key.publicKey.thumbprint.count == 43)
    let kept = try SigningKey(der: try key.withDER { try Secret(copying: $0) })
    #expect(kept.publicKey == key.publicKey)
    let header = CompactJWS.header(.es256, type: "dpop+jwt", key: key.publicKey)
    let payload = Array("{}".utf8)
    let token = try kept.token(payload.span, header: header)
    #expect(try KeyFiles.isSigned(try #require(token.revealedString()), with: key.publicKey))
    let read = CompactJWS.read(.header, of: token) { header in
      header["jwk"].flatMap { try? VerificationKey($0) }.map { ($0, header["jwk"]?["d"] == nil) }
    }
    #expect(read?.0 == key.publicKey && read?.1 == true)
    #expect(CompactJWS.read(.header, of: token) { try? $0["typ"]?.string() } == "dpop+jwt")
  }

  @Test func `many tasks sign with one key at once`() async throws {
    let key = try SigningKey.random()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<64 {
        group.addTask {
          let message = Array("message \(number)".utf8)
          let signature = try key.sign(message.span)
          return try key.publicKey.isValid(signature: signature.span, for: message.span)
        }
      }
      for try await isValid in group { #expect(isValid) }
    }
  }
}
