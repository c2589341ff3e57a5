import JSON
import TestSupport
import Testing

@testable import authbroker

/// The profile that commands mean where they name none, and the commands `cancel` and `reauthenticate`.
@Suite(.standardTimeLimit) struct CurrentProfileTests {
  private let scratch = Scratch()

  private static let device =
    #"{"loginFlowId":"flow-w","profile":"work","kind":"deviceCode","verificationUri":"https://id.example/d","#
    + #""userCode":"AB","expiresAt":"2099-01-01T00:00:00Z"}"#

  private func owner() throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, params in
      let session = #""provider":"oidc","state":"authenticated","scopes":[],"refreshTokenPresent":true"#
      switch method {
      case "getAccessToken": return #""result":{"accessToken":"example-token"}"#
      case "listSessions":
        return #""result":{"sessions":[{"profile":"default",\#(session)},{"profile":"work",\#(session)}]}"#
      case "listPendingLogins":
        let isWork = (try? params?["profile"]?.string()) == "work"
        return #""result":{"logins":[\#(isWork ? Self.device : "")]}"#
      case "login", "reauthenticate":
        return #""result":{"status":"authenticated","session":{"profile":"work",\#(session)}}"#
      case "logout": return #""result":{"results":[]}"#
      case "getSession": return #""result":{"profile":"work",\#(session)}"#
      default: return #""result":{}"#
      }
    }
  }

  private func use(_ words: String...) throws -> CommandRun {
    try CommandRun(["profile", "use"] + words, in: scratch)
  }

  @Test func `an option wins over the variable, and that over the file`() throws {
    let owner = try owner()
    let chosen = try use("work")
    #expect(chosen.code == 0 && chosen.errors.contains("commands mean the profile work now"), "\(chosen.errors)")
    let variable = ["AUTHBROKER_PROFILE": "shop"]
    _ = try CommandRun(["token"], in: scratch)
    _ = try CommandRun(["token"], in: scratch, environment: variable)
    _ = try CommandRun(["token", "-p", "default"], in: scratch, environment: variable)
    #expect(try use("--none").code == 0)
    _ = try CommandRun(["token"], in: scratch)
    let asked = owner.requests.map { $0.split(separator: " ", maxSplits: 1)[1] }
    #expect(asked.map { $0.contains(#""profile":"work""#) } == [true, false, false, false], "\(asked)")
    #expect(asked.map { $0.contains(#""profile":"shop""#) } == [false, true, false, false], "\(asked)")
    #expect(asked[2].contains(#""profile":"default""#) && !asked[3].contains("profile"), "\(asked)")
  }

  @Test func `login, logout and reauthenticate use it, helpers and --all do not`() throws {
    let owner = try owner()
    let variable = ["AUTHBROKER_PROFILE": "work"]
    for words in [["login", "--method", "device", "--scope", "a b", "--scope", "c"], ["logout"], ["reauthenticate"]] {
      #expect(try CommandRun(words, in: scratch, environment: variable).code == 0, "\(words)")
    }
    #expect(owner.requests.contains(#"login {"profile":"work","method":"deviceCode","scopes":["a","b","c"]}"#))
    #expect(owner.requests.contains { $0.hasPrefix(#"logout {"profile":"work""#) }, "\(owner.requests)")
    #expect(owner.requests.contains(#"reauthenticate {"profile":"work"}"#), "\(owner.requests)")
    #expect(try CommandRun(["logout", "--all"], in: scratch, environment: variable).code == 0)
    #expect(owner.requests.last.map { $0.hasPrefix("logout") && !$0.contains("work") } == true, "\(owner.requests)")
    let helper = try CommandRun(
      ["helper", "git", "get"], in: scratch, input: "protocol=https\nhost=git.example.com\n\n", environment: variable)
    #expect(owner.requests.last == #"getAccessToken {"url":"https://git.example.com"}"#, "\(helper.errors)")
  }

  @Test(arguments: ["No Name", "-", "a/b"])
  func `what is no profile's name is refused, with where it stands`(text: String) throws {
    let run = try CommandRun(["token"], in: scratch, environment: ["AUTHBROKER_PROFILE": text])
    #expect(run.code == 2 && run.errors.contains("AUTHBROKER_PROFILE must be a profile's name"), "\(run.errors)")
    #expect(try use(text).code == 2 && use().code == 2 && use("work", "--none").code == 2)
  }

  @Test func `cancel finds the login that waits`() throws {
    let owner = try owner()
    let run = try CommandRun(["cancel"], in: scratch)
    #expect(run.code == 0 && run.errors == "authbroker: the login to work is cancelled\n", "\(run.errors)")
    #expect(owner.requests.last == #"cancelLogin {"loginFlowId":"flow-w"}"#)
    let other = try CommandRun(["cancel", "-p", "default"], in: scratch)
    #expect(other.code == 3 && other.errors.contains("no such login waits"), "\(other.errors)")
    #expect(try CommandRun(["cancel", "another"], in: scratch).code == 3)
    let json = try CommandRun(["cancel", "another", "--json"], in: scratch)
    #expect(json.code == 3 && json.output.contains(#""kind":"flowNotFound""#), "\(json.output)")
    #expect(try CommandRun(["cancel", "no handle"], in: scratch).code == 2)
    #expect(owner.requests.filter { $0.hasPrefix("cancelLogin") }.count == 1)
  }
}
