import TestSupport
import Testing

@testable import authbroker

/// What `--json` prints of names that others have chosen.
@Suite(.standardTimeLimit) struct PrintedJSONTests {
  private static let session =
    "{\"profile\":\"default\",\"provider\":\"oidc\",\"state\":\"authenticated\",\"userId\":\"u\u{9B}31m\",\"user\":{\"id\":\"u\u{9B}31m\",\"name\":"
    + "\"\u{202E}n\u{200B}\u{2028}\"},\"scopes\":[],\"refreshTokenPresent\":false}"

  @Test(arguments: [
    ["sessions", "--json"], ["status", "--json"], ["profiles", "--json"], ["whoami", "--json"], ["call", "getSession"],
    ["watch", "--json", "--count", "1"], ["login", "--method", "browser", "--json"],
  ])
  func `no character that a terminal obeys or hides is printed raw`(words: [String]) throws {
    let scratch = Scratch()
    let owner = try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "listSessions": #""result":{"sessions":[\#(Self.session)]}"#
      case "getStatus": FakeOwner.status(profiles: Self.session)
      case "login": #""result":{"status":"authenticated","session":\#(Self.session)}"#
      case "initialize":
        #""result":{"protocolVersion":"1","server":{"name":"authbroker"},"capabilities":{"methods":[],"events":[],"#
          + #""framings":[],"providers":[]},"profiles":[],"sessions":[\#(Self.session)],"sequence":1}"#
      case "getSession": #""result":\#(Self.session)"#
      default: FakeOwner.refusal(1081, "accessDenied", "N\u{9B}o.")
      }
    }
    let run = try CommandRun(words, in: scratch)
    let printed = run.output + run.errors
    #expect(run.output.contains(#"\u009b"#), "\(printed)")
    let raw = printed.unicodeScalars.filter { $0 != "\n" && !PlainTextCategory.isVisible($0) }
    #expect(raw.isEmpty && !owner.requests.isEmpty, "\(raw.map { String($0.value, radix: 16) })")
  }
}

/// What may stand on a terminal.
private enum PlainTextCategory {
  static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}
