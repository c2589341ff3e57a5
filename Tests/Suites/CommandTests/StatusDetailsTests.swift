import BrokerProtocol
import JSON
import TestSupport
import Testing

@testable import authbroker

/// Where a profile's provider is, how long its session lives, what it may do and where its tokens rest: in `status`.
@Suite(.standardTimeLimit) struct StatusDetailsTests {
  private let scratch = Scratch()

  private static let work =
    #"{"profile":"work","provider":"keycloak","state":"authenticated","user":{"id":"1","email":"ann@example.com"},"#
    + #""scopes":["openid","offline_access","orders:read"],"refreshTokenPresent":true,"#
    + #""accessTokenExpiresAt":"2099-01-01T10:00:00Z","refreshTokenExpiresAt":"2099-02-01T10:00:00Z","#
    + #""idleExpiresAt":"2099-01-15T10:00:00Z"}"#
  private static let home =
    #"{"profile":"home","provider":"local","state":"signedOut","scopes":[],"refreshTokenPresent":false}"#
  private static let address = "https://sso.example.com/realms/a-realm-with-a-long-name"
  private static let file = "/home/ann/.local/state/authbroker/vault.sqlite"

  private static func status(source: String = "file") -> String {
    let addresses = #""addresses":[{"profile":"work","address":"\#(address)"}],"profiles":["#
    return FakeOwner.status(source: source, profiles: work + "," + home)
      .replacing(#""profiles":["#, with: addresses)
      .replacing(#""noticesRollback":true"#, with: #""noticesRollback":true,"path":"\#(file)""#)
  }

  private func run(_ words: [String] = [], source: String = "file", columns: Int? = nil) throws -> CommandRun {
    let status = Self.status(source: source)
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "getStatus" ? status : #""result":{"logins":[]}"#
    }
    return try withExtendedLifetime(owner) {
      guard let columns else { return try CommandRun(["status"] + words, in: scratch) }
      return try CommandRun(
        atTerminal: [], ["status"] + words, in: scratch, environment: ["NO_COLOR": "1"], columns: columns)
    }
  }

  @Test func `each profile has its provider's address, its token's and its session's expiry and its scopes`() throws {
    let run = try run()
    let paragraph = """
      work  authenticated as ann@example.com
        provider  keycloak, \(Self.address)
        token     expires on 2099-01-01 10:00
        session   its refresh token expires on 2099-02-01 10:00; unused, it expires on 2099-01-15 10:00
        scopes    openid, offline_access, orders:read
      home  signed out
        provider  local, on this machine

      """
    #expect(run.code == 0 && run.output.hasSuffix("\n\n" + paragraph), "\(run.output)\(run.errors)")
  }

  @Test(arguments: [
    ("file", "a file"), ("passphrase", "a passphrase"), ("credential", "a credential of the service manager"),
    ("command", "a command"), ("later", "later"),
  ])
  func `the place of the tokens is told, and what opens it`(_ source: String, _ words: String) throws {
    let run = try run(source: source)
    let line = "\ntokens   rest encrypted in \(Self.file); its key comes from \(words)\n"
    #expect(run.output.contains(line), "\(run.output)")
  }

  @Test(arguments: [80, 50])
  func `in a terminal no line is cut, and every word is there`(_ columns: Int) throws {
    let (wide, narrow) = (try run(), try run(columns: columns))
    let lines = narrow.output.split(whereSeparator: \.isNewline)
    // A word is never broken.
    let longest = "  provider  ".count + Self.address.count
    let isFit = lines.allSatisfy { $0.count <= columns || ($0.count <= longest && $0.contains("/")) }
    #expect(isFit, "\(lines.filter { $0.count > columns })")
    func words(_ text: String) -> [Substring] { text.split { $0.isWhitespace } }
    #expect(words(narrow.output) == words(wide.output), "\(narrow.output)")
  }

  @Test func `programs get the same, narrowed to the profile that is named`() throws {
    for (words, addresses) in [([], 1), (["-p", "work"], 1), (["-p", "home"], 0)] as [([String], Int)] {
      let root = try JSONDocument(parsing: Array(try run(words + ["--json"]).output.utf8)).root
      #expect(try root.required("addresses").elements().count == addresses)
      #expect(try root.required("vault").required("path").string() == Self.file)
    }
  }

  @Test func `the client of a login that has found it is told`() throws {
    let json =
      #"{"profile":"a","provider":"mcp","issuer":"https://as.example.com","clientId":"made\u001b-1","#
      + #""state":"authenticated"}"#
    let session = try Session(from: try JSONDocument(parsing: Array(json.utf8)).root)
    let row = try #require(SessionDetails.rows(session, "https://mcp.example.com/x").dropFirst().first)
    #expect(row.name == "client" && row.value.hasPrefix("made") && row.value.hasSuffix("-1 at https://as.example.com"))
    #expect(!row.value.contains("\u{1B}"))
  }

  @Test(arguments: [
    (#","refreshTokenPresent":true"#, "is refreshed in time; its own expiry is not known"),
    (#","refreshTokenPresent":false"#, "has no refresh token"),
    (
      #","refreshTokenPresent":true,"refreshTokenExpiresAt":"2000-01-01T00:00:00Z""#,
      "its refresh token expired on 2000-01-01 00:00"
    ),
  ])
  func `what is not known of a session's end is not made up`(_ members: String, _ text: String) throws {
    let json = #"{"profile":"a","provider":"oidc","state":"authenticated"\#(members)}"#
    let session = try Session(from: try JSONDocument(parsing: Array(json.utf8)).root)
    let rows = SessionDetails.rows(session, nil)
    #expect(rows.map(\.name) == ["provider", "token", "session"])
    #expect(rows.map(\.value) == ["oidc", "its expiry is not known", text])
  }
}
