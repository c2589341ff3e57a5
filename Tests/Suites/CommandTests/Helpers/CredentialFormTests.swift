import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

import TextCoding
@testable import authbroker

/// What the helpers of Bazel, Google, go and curl read and write.
@Suite(.standardTimeLimit) struct CredentialFormTests {
  private static let expiry = Timestamp(milliseconds: 1_800_000_000_500)

  private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

  private func token(_ text: String, expiresAt: Timestamp? = expiry) throws -> AccessToken {
    AccessToken(
      accessToken: try Secret(utf8: text), expiresAt: expiresAt, scopes: [], profile: .default, tokenID: "k3v9")
  }

  private func target(_ scheme: Target.Scheme? = nil, username: String? = nil) -> Target {
    Target(url: "https://a.example/v1", profile: .default, username: username, scheme: scheme)
  }

  // The vectors of RFC 4648, section 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"), ("\u{FF}\u{3FF}>?", "w7/Pvz4/"),
  ]) func `Base64 is that of RFC 4648`(plain: String, encoded: String) {
    var bytes: [UInt8] = []
    Base64.append(Array(plain.utf8).span, as: .padded, to: &bytes)
    #expect(text(bytes) == encoded)
    #expect(Base64.characterCount(of: plain.utf8.count, as: .padded) == encoded.utf8.count)
  }

  @Test func `a header has the scheme of the target`() throws {
    let secret = try Secret(utf8: "made-up")
    #expect(text(AuthorizationValue.bytes(secret, for: target())) == "Bearer made-up")
    #expect(text(AuthorizationValue.bytes(secret, for: target(.basic))) == "Basic b2F1dGgyOm1hZGUtdXA=")
    #expect(text(AuthorizationValue.bytes(secret, for: target(.basic, username: "ci"))) == "Basic Y2k6bWFkZS11cA==")
  }

  @Test(arguments: [
    "", "{", "[]", "null", "{}", #"{"uri":1}"#, #"{"uri":null}"#, #"{"uri":["https://a.example"]}"#,
    #"{"uri":"a","uri":"b"}"#, #"{"uri":"https://a.example"} x"#, "{\"uri\":\"\u{1}\"}",
  ]) func `a malformed request of Bazel has no address`(request: String) {
    #expect(BazelHelper.address(in: Array(request.utf8)) == nil)
  }

  @Test func `unknown members of a request of Bazel are ignored`() {
    let request = #"{"later":{"x":[1]},"uri":"https:\/\/a.example\/b"}"#
    #expect(BazelHelper.address(in: Array(request.utf8)) == "https://a.example/b")
  }

  @Test func `an answer to Bazel has the header, and the expiry where it is known`() throws {
    #expect(
      text(BazelHelper.answer(try token("made-\"up"), for: target()))
        == #"{"headers":{"Authorization":["Bearer made-\"up"]},"expires":"2027-01-15T08:00:00.500Z"}"#)
    #expect(
      text(BazelHelper.answer(try token("made-up", expiresAt: nil), for: target(.basic, username: "ci")))
        == #"{"headers":{"Authorization":["Basic Y2k6bWFkZS11cA=="]}}"#)
  }

  @Test func `an answer to Google has a number for the expiry, rounded down`() throws {
    let secret = try Secret(utf8: "made-up")
    #expect(
      text(GoogleHelper.text(of: secret, .jwt, Self.expiry))
        == #"{"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:jwt","id_token":"made-up","#
        + #""expiration_time":1800000000}"#)
    #expect(
      text(GoogleHelper.text(of: secret, .idToken, nil))
        == #"{"version":1,"success":true,"token_type":"urn:ietf:params:oauth:token-type:id_token","#
        + #""id_token":"made-up"}"#)
    #expect(
      text(GoogleHelper.text(of: GoogleHelper.Refusal(code: "loginRequired", message: "say \"hello\"")))
        == #"{"version":1,"success":false,"code":"loginRequired","message":"say \"hello\""}"#)
  }

  @Test func `an answer to go names the prefix and the address, each once`() throws {
    let secret = try Secret(utf8: "made-up")
    #expect(
      text(GoHelper.answer(secret, for: target(), asked: "https://a.example/v1/x"))
        == "https://a.example/v1\nhttps://a.example/v1/x\n\nAuthorization: Bearer made-up\n")
    #expect(
      text(GoHelper.answer(secret, for: target(), asked: "https://a.example/v1"))
        == "https://a.example/v1\n\nAuthorization: Bearer made-up\n")
  }

  @Test func `a line of curl's configuration quotes what curl would read otherwise`() throws {
    #expect(text(CurlHelper.line(try Secret(utf8: #"a"b\c"#), for: target())) == #"oauth2-bearer = "a\"b\\c""#)
    #expect(
      text(CurlHelper.line(try Secret(utf8: "made-up"), for: target(.basic, username: #"a"b"#)))
        == #"user = "a\"b:made-up""#)
    #expect(text(CurlHelper.line(try Secret(utf8: "x"), for: target(.basic))) == #"user = "oauth2:x""#)
    for bad in ["a\nurl = \"https://evil.example\"", "a\rb", "a\u{0}b", "a\u{7F}"] {
      #expect(CurlHelper.line(try Secret(utf8: bad), for: target()) == nil)
    }
  }
}
