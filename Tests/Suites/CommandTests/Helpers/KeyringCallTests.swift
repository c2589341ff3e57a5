import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import authbroker

/// Command lines of `keyring`, and what is answered.
@Suite(.standardTimeLimit) struct KeyringCallTests {
  @Test(arguments: [
    "get https://p.example/simple/ me", "--mode=password get https://p.example/simple/ me",
    "get --output plain https://p.example/simple/ me", "get -- https://p.example/simple/ me",
  ]) func `a password is asked for with a user`(line: String) throws {
    let call = try KeyringCall(words(line))
    #expect(call.operation == .password && call.service == "https://p.example/simple/" && call.user == "me")
    #expect(!call.isJSON && call.addresses == ["https://me@p.example/simple/"])
  }

  @Test(arguments: [
    "--mode=creds --output=json get p.example:8443", "get p.example:8443 --mode creds --output json",
    "--mode creds get --output=json p.example:8443",
  ]) func `credentials are asked for without a user, options before and behind`(line: String) throws {
    let call = try KeyringCall(words(line))
    #expect(call.operation == .credential && call.user == nil && call.isJSON)
    #expect(call.addresses == ["https://p.example:8443", "http://p.example:8443"])
  }

  @Test(arguments: ["set https://p.example me", "del https://p.example me"])
  func `a change names a service and a user`(line: String) throws {
    #expect(try KeyringCall(words(line)).operation == .change)
  }

  @Test(arguments: [
    "", "--list-backends", "--disable", "diagnose", "-b some.Backend get s u", "--keyring-backend=x get s u",
    "--mode=other get s u", "--output=xml get s u", "get s u --mode", "get s u more", "--help", "fetch s u",
    "--mode= get s u", "-", "--", "--mod=creds get s",
  ]) func `everything else is for the program itself`(line: String) {
    #expect(throws: KeyringCall.Foreign.foreign) { try KeyringCall(words(line)) }
  }

  @Test(arguments: [
    ("get", "get requires service and username"), ("get s", "get requires service and username"),
    ("set s", "set requires service and username"), ("--mode=creds get", "get requires service"),
  ]) func `missing words are told as the program tells them`(line: String, reason: String) {
    #expect(throws: KeyringCall.Foreign.incomplete(reason)) { try KeyringCall(words(line)) }
  }

  @Test func `another user's password is not ours, but a user in a question for credentials is a hint`() throws {
    var target = Target(url: "https://p.example", profile: .default, username: "me")
    let password = try KeyringCall(words("get https://p.example you"))
    let credential = try KeyringCall(words("--mode=creds get https://p.example you"))
    #expect(KeyringHelper.user(of: password, target) == nil)
    #expect(KeyringHelper.user(of: credential, target) == "me")
    target.username = nil
    #expect(KeyringHelper.user(of: password, target) == "you")
    #expect(KeyringHelper.user(of: try KeyringCall(words("--mode=creds get s")), target) == "oauth2")
  }

  @Test(arguments: [
    ("get s u", "made-\"up"), ("--mode=creds get s", "u\nmade-\"up"),
    ("--output=json get s u", #"{"password":"made-\"up"}"#),
    ("--mode=creds --output=json get s", #"{"username":"u","password":"made-\"up"}"#),
  ]) func `an answer has the form that was asked for`(line: String, answer: String) throws {
    let bytes = KeyringHelper.text(of: try Secret(utf8: "made-\"up"), "u", try KeyringCall(words(line)))
    #expect(String(decoding: bytes, as: UTF8.self) == answer)
  }

  private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }
}
