import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import authbroker

/// git's questions, and what they may look like.
@Suite(.standardTimeLimit) struct GitCredentialTests {
  private static func credential(_ text: String) throws -> GitCredential {
    try GitCredential(parsing: Array(text.utf8))
  }

  @Test func `a question ends at an empty line, and what has no meaning here is left out`() throws {
    let text = """
      protocol=https
      host=git.example.com:8443
      path=team/tool.git
      username=ann
      capability[]=authtype
      capability[]=state
      wwwauth[]=Basic realm="x"
      oauth_refresh_token=made-up
      x=y=z

      host=other.example
      """
    let question = try Self.credential(text)
    #expect(question.urls == ["https://ann@git.example.com:8443/team/tool.git"])
    #expect(question.username == "ann" && question.capabilities == ["authtype", "state"])
    #expect(question.password == nil && question.refusedTokenID == nil)
  }

  @Test func `an empty value empties a list`() throws {
    let question = try Self.credential("state[]=other:1\nstate[]=\nstate[]=authbroker:a\nstate[]=authbroker:b\n")
    #expect(question.states == ["authbroker:a", "authbroker:b"])
    #expect(question.refusedTokenID == "b", "the last one counts")
    #expect(try Self.credential("state[]=other:1").refusedTokenID == nil)
  }

  @Test(arguments: [
    ("protocol", GitCredential.Fault.noEqualsSign), ("=x", .noEqualsSign), ("host=a\u{0}b", .controlByte),
    ("host=a\r\n", .controlByte), ("host=" + String(repeating: "a", count: 65_531), .longLine),
  ]) func `a malformed question is refused`(text: String, fault: GitCredential.Fault) {
    #expect(throws: fault) { try Self.credential(text) }
    #expect(!fault.reason.isEmpty)
  }

  @Test func `a line may have as many bytes as git writes, and must be UTF-8`() throws {
    let longest = "host=" + String(repeating: "a", count: 65_530)
    #expect(try Self.credential(longest).host.utf8.count == 65_530)
    #expect(throws: GitCredential.Fault.noText) { try GitCredential(parsing: Array("host=".utf8) + [0xFF]) }
    #expect(try Self.credential("").urls.isEmpty)
  }

  /// Scheme, host and path as git says them, and the addresses of the targets that are looked for.
  private static let addresses: [(String, String, String?, [String])] = [
    ("https", "a.example", "b c/%2f/ü", ["https://a.example/b%20c/%252f/%C3%BC"]),
    ("http", "127.0.0.1:8080", nil, ["http://127.0.0.1:8080"]),
    ("smtp", "m.example:465", nil, ["smtp://m.example:465", "smtps://m.example:465"]),
    ("smtp", "m.example", nil, ["smtp://m.example"]), ("imaps", "[::1]", nil, ["imaps://[::1]"]),
    ("ssh", "a.example", nil, []), ("cert", "", "/key.pem", []), ("https", "x@a.example", nil, []),
    ("https", "a.example/..", nil, []), ("", "a.example", nil, []),
  ]

  @Test(arguments: addresses)
  func `the addresses of a server`(scheme: String, host: String, path: String?, urls: [String]) {
    var question = GitCredential()
    (question.scheme, question.host, question.path) = (scheme, host, path)
    #expect(question.urls == urls)
  }

  @Test func `the scheme of an offer is its first word`() throws {
    let question = try Self.credential("wwwauth[]=BEARER realm=\"x\"\nwwwauth[]=Basic\n")
    #expect(question.offers("bearer") && question.offers("basic") && !question.offers("realm=\"x\""))
  }

  @Test func `a token goes as the target says, else as the server offers it, else as a password`() throws {
    var target = Target(url: "https://a.example", profile: .default)
    let both = "wwwauth[]=Basic\nwwwauth[]=Bearer\n"
    let able = try Self.credential("protocol=https\ncapability[]=authtype\n" + both)
    let unable = try Self.credential("protocol=https\n" + both)
    let bearer = GitAnswer.Form.credential(authtype: "Bearer")
    #expect(try GitHelper.form(for: target, able) == bearer)
    #expect(try GitHelper.form(for: target, unable) == .password(username: "oauth2"))
    let unasked = try Self.credential("capability[]=authtype\n")
    #expect(try GitHelper.form(for: target, unasked) == .password(username: "oauth2"))
    target.scheme = .bearer
    #expect(try GitHelper.form(for: target, unasked) == bearer)
    #expect(throws: CommandFailure.self) { try GitHelper.form(for: target, unable) }
    target.scheme = .basic
    target.username = "robot"
    #expect(try GitHelper.form(for: target, able) == .password(username: "robot"))
  }

  @Test func `mail takes a token as the password of the user that git names`() throws {
    let target = Target(url: "smtp://m.example", profile: .default)
    let question = try Self.credential("protocol=smtp\nhost=m.example:587\nusername=ann@example.com\n")
    #expect(try GitHelper.form(for: target, question) == .password(username: "ann@example.com"))
  }
}
