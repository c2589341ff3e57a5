import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing
import TextCoding

@testable import JOSE

/// Compact JSON Web Signatures, and the claims in them.
@Suite(.standardTimeLimit) struct CompactJWSTests {
  private static func encoded(_ text: String, _ form: Base64.Form = .url) -> String {
    String(decoding: Base64.encode(Array(text.utf8).span, as: form), as: UTF8.self)
  }

  private static func token(_ payload: String, _ form: Base64.Form = .url) throws -> Secret {
    try Secret(utf8: "\(encoded(#"{"alg":"x"}"#)).\(encoded(payload, form)).c2ln")
  }

  private static func claim(_ name: String, of token: Secret) -> String? {
    UnverifiedToken.claims(of: token) { $0.text(name) }
  }

  /// No signature, but the hash FNV-1a, which every byte changes.
  private static func sign(_ message: Span<UInt8>) -> [UInt8] {
    var hash = 0xcbf2_9ce4_8422_2325 as UInt64
    for index in message.indices { hash = (hash ^ UInt64(message[index])) &* 0x100_0000_01b3 }
    return (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
  }

  private static func isSigned(_ token: Secret, _ header: [UInt8]) -> Bool {
    CompactJWS.isSigned(token, header: header) { signature, message in
      signature.indices.map { signature[$0] } == sign(message)
    }
  }

  @Test func `a token that was made is read, and verified by its own header alone`() throws {
    let header = CompactJWS.header(.edDSA, keyID: "k1")
    let payload = Array(#"{"sub":"u1"}"#.utf8)
    let token = try CompactJWS.signed(payload.span, header: header, signatureByteCount: 8, Self.sign)
    #expect(CompactJWS.read(.header, of: token) { try? $0["alg"]?.string() } == "EdDSA")
    #expect(CompactJWS.read(.payload, of: token) { JWTClaims($0)?.text("sub") } == "u1")
    #expect(Self.isSigned(token, header))
    #expect(!Self.isSigned(token, CompactJWS.header(.edDSA, keyID: "k2")))
    let text = try #require(token.revealedString())
    for other in [text + "A", "." + text] { #expect(!Self.isSigned(try Secret(utf8: other), header)) }
  }

  @Test func `a header that begins alike, and goes on, is another one`() throws {
    let header = CompactJWS.header(.edDSA, keyID: "k1")
    let longer = header + Array("AAAA".utf8)
    let token = try CompactJWS.signed(Array("{}".utf8).span, header: longer, signatureByteCount: 8, Self.sign)
    #expect(Self.isSigned(token, longer) && !Self.isSigned(token, header))
  }

  @Test(arguments: ["", ".", "..", "...", "a", "a.b", "a.b.c", "e30.e30", "e30.e30.e30.e30", "é.é.é", "e30..x"])
  func `what is no token has no claims`(_ text: String) throws {
    let token = try Secret(utf8: text)
    #expect(UnverifiedToken.claims(of: token) { _ in true } == nil)
    #expect(CompactJWS.read(.payload, of: token) { _ in true } == nil)
  }

  @Test func `a hint is read in any form of Base64, what counts in one`() throws {
    let payload = #"{"a":"??>>"}"#
    let token = try Self.token(payload, .padded)
    #expect(Self.claim("a", of: token) == "??>>")
    #expect(CompactJWS.read(.payload, of: token) { _ in true } == nil)
    #expect(CompactJWS.read(.payload, of: try Self.token(payload)) { _ in true } == true)
    #expect(UnverifiedToken.claims(of: try Self.token("[]")) { _ in true } == nil)
  }

  @Test(
    arguments: [
      (#"{"exp":1800000900,"iat":1800000000}"#, 1_800_000_000_000, 1_800_000_900_000),
      (#"{"exp":"1800000900","iat":null}"#, nil, 1_800_000_900_000), (#"{"iat":1800000000}"#, nil, nil),
      (#"{"exp":1e300}"#, nil, nil), (#"{"exp":"soon"}"#, nil, nil),
    ] as [(String, Int64?, Int64?)])
  func `times are moments, or are not there`(_ payload: String, _ issuedAt: Int64?, _ end: Int64?) throws {
    let span = UnverifiedToken.span(of: try Self.token(payload))
    #expect(span?.end.milliseconds == end && span?.issuedAt?.milliseconds == issuedAt)
  }

  @Test(arguments: [
    (#"{"aud":"a"}"#, ["a"]), (#"{"aud":["a",7,"b"]}"#, ["a", "b"]), (#"{"aud":7}"#, []), ("{}", []),
  ])
  func `audiences are a string or a list`(_ payload: String, _ audiences: [String]) throws {
    #expect(UnverifiedToken.claims(of: try Self.token(payload)) { $0.audiences } == audiences)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a changed token is another one, or none`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let header = CompactJWS.header(.edDSA, keyID: "k1")
    let good = try CompactJWS.signed(
      Array(#"{"exp":1800000900,"aud":["a"]}"#.utf8).span, header: header, signatureByteCount: 8, Self.sign)
    let bytes = good.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    for _ in 0..<2000 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0..<changed.count, using: &random)
        changed[place] = Bool.random(using: &random) ? UInt8(ascii: ".") : UInt8.random(in: 0...255, using: &random)
      }
      let isSame = changed == bytes
      let token = try Secret(wiping: &changed)
      _ = UnverifiedToken.span(of: token)
      _ = CompactJWS.read(.header, of: token) { $0.kind }
      #expect(isSame || !Self.isSigned(token, header))
    }
  }
}
