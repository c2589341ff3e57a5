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

  private func token(
    _ text: String, expiresAt: Timestamp? = expiry, type: String = "Bearer", header: String? = nil
  ) throws -> AccessToken {
    AccessToken(
      accessToken: try Secret(utf8: text), expiresAt: expiresAt, scopes: [], profile: .default, tokenID: "k3v9",
      tokenType: type, header: header)
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
    let token = try token("made-up")
    #expect(
      text(GoHelper.answer(token, for: target(), asked: "https://a.example/v1/x"))
        == "https://a.example/v1\nhttps://a.example/v1/x\n\nAuthorization: Bearer made-up\n")
    #expect(
      text(GoHelper.answer(token, for: target(), asked: "https://a.example/v1"))
        == "https://a.example/v1\n\nAuthorization: Bearer made-up\n")
  }

  @Test func `a line of curl's configuration quotes what curl would read otherwise`() throws {
    #expect(text(CurlHelper.line(try token(#"a"b\c"#), for: target())) == #"oauth2-bearer = "a\"b\\c""#)
    #expect(
      text(CurlHelper.line(try token("made-up"), for: target(.basic, username: #"a"b"#)))
        == #"user = "a\"b:made-up""#)
    #expect(text(CurlHelper.line(try token("x"), for: target(.basic))) == #"user = "oauth2:x""#)
    for bad in ["a\nurl = \"https://evil.example\"", "a\rb", "a\u{0}b", "a\u{7F}"] {
      #expect(CurlHelper.line(try token(bad), for: target()) == nil)
    }
  }

  /// The configured field and scheme, the target's scheme, and the header that is sent.
  @Test(
    arguments: [
      (nil, "Bearer", nil, "Authorization: Bearer made-up"),
      ("Authorization", "Bearer", nil, "Authorization: Bearer made-up"),
      ("Authorization", "token", nil, "Authorization: token made-up"),
      ("Authorization", "", nil, "Authorization: made-up"),
      ("X-Api-Key", "Bearer", nil, "X-Api-Key: made-up"),
      ("X-Api-Key", "Bearer", .basic, "Authorization: Basic b2F1dGgyOm1hZGUtdXA="),
      ("X-Api-Key", "Bearer", .bearer, "X-Api-Key: made-up"),
    ] as [(String?, String, Target.Scheme?, String)])
  func `a secret of the configuration is sent as that says`(
    header: String?, type: String, scheme: Target.Scheme?, sent: String
  ) throws {
    let (token, target) = (try token("made-up", type: type, header: header), target(scheme))
    let (name, value) = AuthorizationValue.field(with: token, for: target)
    #expect("\(name): \(text(value) ?? "")" == sent)
    #expect(text(GoHelper.answer(token, for: target, asked: target.url))?.hasSuffix("\n\n\(sent)\n") == true)
    let parts = sent.split(separator: ": ").map(String.init)
    #expect(
      text(BazelHelper.answer(token, for: target))?.hasPrefix(#"{"headers":{"\#(parts[0])":["\#(parts[1])"]}"#) == true)
    let line =
      scheme == .basic
      ? #"user = "oauth2:made-up""# : header == nil ? #"oauth2-bearer = "made-up""# : #"header = "\#(sent)""#
    #expect(text(CurlHelper.line(token, for: target)) == line)
  }

  @Test func `a tool is refused what it cannot send, and the refusal has nothing of the secret`() throws {
    let tokens = [
      try token("made-up"), try token("made-up", header: "Authorization"),
      try token("made-up", type: "token", header: "Authorization"), try token("made-up", header: "X-Api-Key"),
      try token("made-up", type: "DPoP"),
    ]
    func refused(_ carrier: BearerToken.Carrier) -> [Int] {
      tokens.indices.filter { index in
        do throws(CommandFailure) {
          try BearerToken.check(tokens[index], for: carrier)
          return false
        } catch {
          #expect(error.exitCode == .accessDenied && !error.message.sentence.contains("made-up"))
          return true
        }
      }
    }
    #expect(refused(.any) == [4] && refused(.password) == [4])
    #expect(refused(.authorization) == [3, 4] && refused(.bearer) == [2, 3, 4])
  }

  @Test func `git is told the scheme where it can send one, and else has a password`() throws {
    let request = try GitCredential(parsing: Array("capability[]=authtype\nprotocol=https\nhost=a.example\n".utf8))
    let bearer = target(.bearer)
    #expect(try GitHelper.form(for: bearer, request) == .credential(authtype: "Bearer"))
    #expect(try GitHelper.form(for: bearer, request, as: "token") == .credential(authtype: "token"))
    #expect(try GitHelper.form(for: bearer, request, as: nil) == .password(username: "oauth2"))
  }
}
