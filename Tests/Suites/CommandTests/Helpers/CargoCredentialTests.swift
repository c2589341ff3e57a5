import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import authbroker

/// cargo's requests.
@Suite(.standardTimeLimit) struct CargoCredentialTests {
  private static let registry = #""registry":{"index-url":"sparse+https://c.example/index/","name":"c"}"#

  @Test func `a request says what is wanted for which registry`() throws {
    let line = #"{"v":1,"kind":"get","operation":"read",\#(Self.registry),"args":["--profile","work"]}"#
    let request = try CargoCredential(parsing: Array(line.utf8))
    #expect(request.kind == "get" && request.index == "https://c.example/index/")
    #expect(request.arguments == ["--profile", "work"])
    let git = #"{"v":1,"kind":"logout","registry":{"index-url":"registry+https://c.example/"}}"#
    #expect(try CargoCredential(parsing: Array(git.utf8)).index == "https://c.example/")
  }

  @Test(arguments: [
    ("", CargoCredential.Fault.malformed), ("[]", .malformed), ("{}", .malformed), (#"{"v":"1"}"#, .malformed),
    (#"{"v":2}"#, .otherVersion), (#"{"v":1,"kind":"get"}"#, .malformed), ("{\"v\":1,\(registry)}", .malformed),
    (#"{"v":1,"kind":"get","registry":{"index-url":"https://a b"}}"#, .malformed),
    ("{\"v\":1,\"kind\":\"get\",\(registry),\"args\":[1]}", .malformed),
    ("{\"v\":1,\"kind\":\"get\",\(registry),\"args\":\"x\"}", .malformed),
  ]) func `a malformed request is refused`(line: String, fault: CargoCredential.Fault) {
    #expect(throws: fault) { try CargoCredential(parsing: Array(line.utf8)) }
    #expect(!fault.sentence.isEmpty)
  }

  @Test func `an answer is the value of the header, and says how long it is good`() throws {
    var token = AccessToken(
      accessToken: try Secret(utf8: "made-up"), expiresAt: Timestamp(milliseconds: 1_800_000_000_999), scopes: [],
      profile: .default, tokenID: "k3v9")
    var target = Target(url: "https://c.example", profile: .default)
    #expect(
      String(decoding: CargoCredential.answer(token, for: target), as: UTF8.self)
        == #"{"Ok":{"kind":"get","token":"Bearer made-up","cache":"expires","expiration":1800000000,"operation_independent":true}}"#
    )
    target.scheme = .basic
    target.username = "ann"
    token.expiresAt = nil
    #expect(
      String(decoding: CargoCredential.answer(token, for: target), as: UTF8.self)
        == #"{"Ok":{"kind":"get","token":"Basic YW5uOm1hZGUtdXA=","cache":"session","operation_independent":true}}"#)
  }

  @Test func `a refusal has a message where its kind does not say it`() {
    #expect(String(decoding: CargoCredential.refusal("not-found"), as: UTF8.self) == #"{"Err":{"kind":"not-found"}}"#)
    #expect(
      String(decoding: CargoCredential.refusal("other", "a \"b\""), as: UTF8.self)
        == #"{"Err":{"kind":"other","message":"a \"b\"","caused-by":[]}}"#)
    #expect(String(decoding: CargoCredential.done("login"), as: UTF8.self) == #"{"Ok":{"kind":"login"}}"#)
  }
}
