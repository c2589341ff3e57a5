import Configuration
import ConfigurationFile
import JSON
import TestSupport
import Testing

/// What newcomers write, and the exact lines that they are told.
@Suite(.standardTimeLimit) struct ConfigurationMistakeTests {
  private func refusal(_ text: String) -> ConfigurationError? {
    do throws(ConfigurationError) {
      _ = try BrokerConfiguration.parse(Array(text.utf8), file: "config.json", environment: ["HOME": "/home/ann"])
      return nil
    } catch { return error }
  }

  private func json(_ text: String) -> String {
    var writer = JSONWriter()
    for mistake in refusal(text)?.mistakes ?? [] { mistake.encode(to: &writer) }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test(arguments: Self.table)
  func `each mistake is told with its place and what to write`(_ name: String, _ text: String, _ lines: [String]) {
    #expect(refusal(text)?.lines == lines.map { "config.json:\($0)" }, "\(name)")
  }

  @Test func `a mistake as JSON has place, path, message and suggestion`() {
    #expect(
      json("{profile:{}}")
        == #"{"line":1,"column":2,"path":"profile","message":"unknown key \"profile\"","#
        + #""suggestion":"did you mean \"profiles\"?"}"#)
    let methods = "methods:['browser','devise']"
    #expect(
      json("{profiles:{a:{provider:'oidc',issuer:'https://sso.example.com',clientId:'c',\n\(methods)}}}")
        == #"{"line":2,"column":20,"path":"profiles.a.methods[1]","message":"unknown login method \"devise\"","#
        + #""suggestion":"did you mean \"deviceCode\"?"}"#)
    #expect(
      json("{lingerSeconds:-1}")
        == #"{"line":1,"column":16,"path":"lingerSeconds","#
        + #""message":"must be a number of seconds from 0 to 86400, not -1"}"#)
    #expect(json("{lingerSeconds:1}").isEmpty)
  }

  @Test func `profiles with the same mistake are each told of it`() {
    let good = "{provider:'local'}"
    let bad = "{provider:'local',skew:1}"
    let paths = refusal("{profiles:{a:\(good),b:\(bad),C:\(good),d:\(good),e:\(bad)}}")?.mistakes.map(\.path)
    #expect(paths == ["profiles.b.skew", "profiles.C", "profiles.e.skew"])
  }

  @Test func `one line has the first mistake and how many more there are`() {
    #expect(
      refusal("{a:1}")?.description.hasSuffix("profiles, store, targets, hooks, sockets, access, local") == true)
    #expect(
      refusal("{loglevel:1,\nlingerSeconds:-1}")?.description.hasSuffix(#""logLevel"? (and 1 more mistake)"#) == true)
    let many = (0..<130).map { "k\($0):0" }.joined(separator: ",")
    let error = refusal("{\(many)}")
    #expect(error?.mistakes.count == ConfigurationError.listLimit && error?.omittedCount == 30)
    #expect(error?.description.hasSuffix("(and 129 more mistakes)") == true)
  }

  @Test func `a byte order mark is no mistake and has no column, UTF-16 is one`() {
    #expect(refusal("\u{FEFF}{}") == nil)
    #expect(refusal("\u{FEFF}{a:1}")?.mistakes.first?.position.column == 2)
    let bytes: [UInt8] = [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00]
    let error = #expect(throws: ConfigurationError.self) {
      try BrokerConfiguration.parse(bytes, file: "c", environment: [:])
    }
    #expect(error?.lines == ["c:1:1: the file is UTF-16; save it as UTF-8"])
  }

  @Test func `no secret and no variable's value is quoted`() {
    let profile = "provider:'oidc',issuer:'https://sso.example.com',clientId:'c'"
    for text in ["clientSecret:'canary'", "clientSecret:['canary']", "methods:['${HOME}']", "clientAuth:'${HOME}'"] {
      let lines = refusal("{profiles:{a:{\(profile),\(text)}}}")?.lines ?? []
      #expect(lines.count == 1 && !lines[0].contains("canary") && !lines[0].contains("/home/ann"), "\(lines)")
    }
    for text in ["clientSecret:canary", "issuer:'https://x${HOME}/.well-known/x'"] {
      let lines = refusal("{profiles:{a:{provider:'oidc',clientId:'c',\(text)}}}")?.lines ?? []
      #expect(!lines.isEmpty && lines.allSatisfy { !$0.contains("canary") && !$0.contains("/home/ann") }, "\(lines)")
    }
  }
}
