import BrokerCore
import BrokerProtocol
import JSON
import Sealing
import SecretMemory
import TestSupport
import Testing
import TextCoding

@testable import LocalProvider

/// The keys that sign access tokens, and how they follow one another.
@Suite(.standardTimeLimit) struct SigningKeyTests {
  /// The name of the key in a token's header.
  private func keyID(_ token: BoundToken) throws -> String { try #require(AccessTokenSigner.keyID(of: token.value)) }

  private func isAccepted(_ fixture: ProviderFixture, _ token: BoundToken) async -> Bool {
    await failure { () throws(ProviderFailure) in try await fixture.provider.currentUser(accessToken: token) } == nil
  }

  @Test func `a key is written as RFC 8037 writes it`() throws {
    try Sealing.initialize()
    // RFC 8037, appendices A.1 and A.2.
    let seed = try Secret.decodeBase64URL("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A".utf8.span)
    let key = AccessTokenSigner(key: try Ed25519SigningKey(seed: seed)).publicJSONWebKey
    #expect(key.publicKey == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
    var writer = JSONWriter()
    key.encode(to: &writer)
    let members = try JSONDocument(parsing: writer.bytes).root.members()
    #expect(members.map(\.name) == ["kty", "crv", "x", "kid", "use", "alg"])
    let values = try members.map { try $0.value.string() }
    #expect(values == ["OKP", "Ed25519", key.publicKey, key.keyID, "sig", "EdDSA"])
  }

  @Test func `the key set has the key that has signed, and its signature is good`() async throws {
    try await ProviderFixture.run { fixture in
      let token = try await fixture.session().tokens.accessToken
      let keys = try await fixture.provider.keySet()
      #expect(try keys.map(\.keyID) == [keyID(token)])
      let bytesBytes = Base64.decodeURLForm(keys[0].publicKey.utf8.span)
      let bytes = try #require(bytesBytes)
      let key = try Ed25519PublicKey(bytes: bytes.span)
      let parts = try #require(token.value.revealedString()).split(separator: ".").map { Array($0.utf8) }
      let encoded = parts[2]
      let signatureBytes = Base64.decodeURLForm(encoded.span)
      let signature = try #require(signatureBytes)
      let signed = parts[0] + [UInt8(ascii: ".")] + parts[1]
      let isValid = key.isValid(signature: signature.span, for: signed.span)
      #expect(isValid)
    }
  }

  @Test func `after a rotation the new key signs, and tokens of the old one are good until they expire`() async throws {
    try await ProviderFixture.run { fixture in
      let first = try await fixture.session().tokens
      let before = try await fixture.provider.keySet()
      let after = try await fixture.provider.rotateSigningKey()
      #expect(after.count == 2 && after[1] == before[0] && after[0] != before[0])
      #expect(try await fixture.provider.keySet() == after)
      #expect(await isAccepted(fixture, first.accessToken))
      let second = try await fixture.provider.refresh(try #require(first.refreshToken))
      #expect(
        try keyID(first.accessToken) == before[0].keyID && keyID(second.accessToken) == after[0].keyID)
      await fixture.provider.shutDown()
      #expect(await isAccepted(fixture, first.accessToken))
      fixture.clock.advance(.seconds(900))
      #expect(await !isAccepted(fixture, first.accessToken))
      #expect(try await fixture.provider.auditEvents().contains("keyRotated"))
    }
  }

  @Test func `a retired key leaves the set when no token of it can be good, and then its row goes`() async throws {
    let longest: (inout LocalProviderConfiguration) -> Void = { $0.accessTokenLifetime = .seconds(86_400) }
    try await ProviderFixture.run(longest) { fixture in
      let tokens = try await fixture.session().tokens
      let keys = try await fixture.provider.rotateSigningKey()
      fixture.clock.advance(.seconds(86_399))
      #expect(await isAccepted(fixture, tokens.accessToken))
      #expect(try await fixture.provider.keySet() == keys)
      fixture.clock.advance(.seconds(1))
      #expect(await !isAccepted(fixture, tokens.accessToken))
      #expect(try await fixture.provider.keySet() == [keys[0]])
      fixture.clock.advance(.seconds(60))
      _ = try await fixture.provider.keySet()
      #expect(try await fixture.number("SELECT count(*) FROM signing_key") == 1)
    }
  }

  @Test func `several rotations in a row leave every key that has signed`() async throws {
    try await ProviderFixture.run { fixture in
      var tokens: [BoundToken] = []
      for number in 1...4 {
        tokens.append(try await fixture.session("\(number)@example.com").tokens.accessToken)
        fixture.clock.advance(.seconds(1))
        _ = try await fixture.provider.rotateSigningKey()
      }
      let keys = try await fixture.provider.keySet()
      #expect(try keys.dropFirst().map(\.keyID) == tokens.reversed().map { try keyID($0) })
      for token in tokens { #expect(await isAccepted(fixture, token)) }
    }
  }

  @Test func `a token that names another key than the one that signed it is refused`() async throws {
    try await ProviderFixture.run { fixture in
      let token = try await fixture.session().tokens.accessToken
      _ = try await fixture.provider.rotateSigningKey()
      let other = try await fixture.session("c@example.com").tokens.accessToken
      let (parts, others) = (try segments(token), try segments(other))
      let mixed = try BoundToken(Secret(utf8: [others[0], parts[1], parts[2]].joined(separator: ".")))
      #expect(await !isAccepted(fixture, mixed))
      let keyID = try keyID(token)
      let header = #"{"alg":"none","kid":"\#(keyID)","typ":"JWT"}"#
      let none = String(decoding: Base64.encode(header.utf8.span, as: .url), as: UTF8.self)
      let unsigned = try BoundToken(Secret(utf8: "\(none).\(parts[1])."))
      #expect(await !isAccepted(fixture, unsigned))
    }
  }

  @Test func `a signing key that was moved to another row does not open`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      _ = try await fixture.provider.rotateSigningKey()
      try await fixture.change(
        "UPDATE signing_key SET value = (SELECT value FROM signing_key WHERE retired_at IS NOT NULL)")
      let credentials = try fixture.credentials()
      let refused = await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
      #expect(refused == .misconfigured(.embeddedFiles))
    }
  }

  private func segments(_ token: BoundToken) throws -> [String] {
    try #require(token.value.revealedString()).split(separator: ".").map(String.init)
  }
}
