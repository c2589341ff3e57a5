import Glibc
import JSONRPC
import LinuxSystem
import Synchronization
import TestSupport
import Testing

@testable import authbroker

/// `login` where its user does something elsewhere.
struct LoginCommandTests {
  private let scratch = Scratch()

  private static let device =
    #"{"loginFlowId":"example-login","profile":"default","kind":"deviceCode","#
    + #""verificationUri":"https://id.example/device","verificationUriComplete":"https://id.example/device?c=AB-CD","#
    + #""userCode":"AB-CD","expiresAt":"2099-01-01T00:00:00Z","intervalSeconds":5}"#
  private static let browser =
    #"{"loginFlowId":"example-login","profile":"default","kind":"browser","#
    + #""verificationUri":"https://id.example/authorize?x=\u001b","expiresAt":"2099-01-01T00:00:00Z"}"#
  private static let session =
    #""result":{"status":"authenticated","session":{"profile":"default","provider":"oidc","state":"authenticated","#
    + #""user":{"id":"u","email":"ada@example.com"},"scopes":[],"refreshTokenPresent":true}}"#

  /// An owner whose user is done at the `rounds`-th time that somebody waits; never where that is nil.
  private func owner(_ action: String = device, rounds: Int?, end: String = session) throws -> FakeOwner {
    let count = Mutex(0)
    return try FakeOwner(in: scratch) { method, params in
      switch method {
      case "getStatus": return FakeOwner.status()
      case "login": return #""result":{"status":"userActionRequired","action":\#(action)}"#
      case "awaitLogin":
        let round = count.withLock { count in
          count += 1
          return count
        }
        return round == rounds ? end : FakeOwner.refusal(1087, "deadlineExceeded", "Not yet.")
      case "cancelLogin": return #""result":{}"#
      default: return FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
  }

  @Test func `the address and the code are shown, and the session is waited for`() throws {
    let owner = try owner(rounds: 3)
    let run = try CommandRun(["login", "--method", "device"], in: scratch)
    #expect(run.code == 0 && run.output.isEmpty)
    #expect(
      run.errors == """
        authbroker: on any device, open https://id.example/device and enter the code AB-CD
        authbroker: logged in as ada@example.com on the profile default.

        """)
    #expect(owner.requests.first == #"login {"method":"deviceCode"}"#)
    #expect(owner.requests.count == 4)
    #expect(owner.requests.last == #"awaitLogin {"loginFlowId":"example-login","timeoutSeconds":0.5}"#)
  }

  @Test func `a terminal shows the time that is left in one line, without escape sequences`() throws {
    let owner = try owner(rounds: 3)
    let run = try CommandRun(atTerminal: [], ["login"], in: scratch, environment: ["NO_COLOR": "1"])
    #expect(run.code == 0, "\(run.output)")
    #expect(run.output.contains(" left, Ctrl-C cancels"))
    #expect(run.output.split(separator: "authbroker: ").count == 2 && !run.output.contains("\u{1B}"), "\(run.output)")
    #expect(owner.requests.dropFirst().first == "login {}")
  }

  @Test func `Ctrl-C cancels the login`() throws {
    let owner = try owner(rounds: nil)
    let run = try CommandRun(
      atTerminal: [.init(question: "Ctrl-C cancels", answer: "\u{3}")], ["login", "--method", "device"], in: scratch)
    #expect(run.code == 1)
    #expect(run.output.contains("authbroker: the login was cancelled."), "\(run.output)")
    #expect(owner.requests.last == #"cancelLogin {"loginFlowId":"example-login"}"#)
  }

  @Test func `a refusal is told in its own words`() throws {
    let denied = FakeOwner.refusal(1082, "consentDenied", "The user did not agree.")
    let owner = try owner(rounds: 1, end: denied)
    let run = try CommandRun(["login", "--method", "browser"], in: scratch)
    #expect(run.code == 6 && run.errors.hasSuffix("authbroker: The user did not agree.\n"), "\(run.errors)")
    #expect(owner.requests.count == 2)
  }

  @Test func `an address is made fit for a terminal`() throws {
    let owner = try owner(Self.browser, rounds: 1)
    let run = try CommandRun(["login", "--method=browser"], in: scratch)
    #expect(run.errors.hasPrefix("authbroker: in a browser on this computer, open https://id.example/authorize?x=?\n"))
    #expect(owner.requests.first == #"login {"method":"browser"}"#)
  }

  @Test func `nobody has to wait`() throws {
    let owner = try owner(rounds: nil)
    let words = try CommandRun(["login", "--method", "device", "--no-wait"], in: scratch)
    #expect(words.code == 3 && words.errors.contains("AB-CD"))
    #expect(words.errors.contains("until 2099-01-01T00:00:00Z"))
    let json = try CommandRun(["login", "--method", "device", "--json"], in: scratch)
    #expect(json.code == 3 && json.errors.isEmpty, "\(json.errors)")
    let result = try JSONDocument(parsing: Array(json.output.utf8)).root
    #expect(try result.required("action").required("userCode").string() == "AB-CD")
    #expect(owner.requests.count == 2)
  }

  @Test func `a provider that wants a password is given one`() throws {
    let owner = try FakeOwner(in: scratch) { method, params in
      switch method {
      case "getStatus": return FakeOwner.status()
      case "login" where params?["password"] == nil:
        return FakeOwner.refusal(1021, "missingCredential", "The provider needs a credential that was not given.")
      default: return Self.session
      }
    }
    let run = try CommandRun(
      atTerminal: [
        .init(question: "E-mail address: ", answer: "ada@example.com\n"),
        .init(question: "Password: ", answer: "x y\n"),
      ], ["login"], in: scratch)
    #expect(run.code == 0, "\(run.output)")
    #expect(owner.requests.dropFirst() == ["login {}", #"login {"email":"ada@example.com","password":"x y"}"#])
  }

  @Test(arguments: [
    ["--method", "magic"], ["--method", "device", "--email", "a@b.c"], ["--method", "browser", "--password-stdin"],
  ])
  func `what does not fit together is a usage failure, and nothing is asked`(words: [String]) throws {
    let owner = try owner(rounds: 1)
    #expect(try CommandRun(["login"] + words, in: scratch).code == 2)
    #expect(owner.requests.isEmpty)
  }

  @Test func `a QR code is drawn of the address with the code in it, which no argument shows`() throws {
    let directory = scratch.file("bin")
    #expect(mkdir(directory, 0o700) == 0)
    try scratch.write("#!/bin/sh\necho \"arguments: $*\"\necho \"address: $(/bin/cat)\"\n", to: "bin/qrencode")
    #expect(chmod(directory + "/qrencode", 0o700) == 0)
    let owner = try owner(rounds: 2)
    let path = directory + ":/usr/bin:/bin"
    for (environment, type) in [(["PATH": path], "ANSIUTF8"), (["PATH": path, "NO_COLOR": "1"], "UTF8")] {
      let run = try CommandRun(atTerminal: [], ["login", "--no-wait"], in: scratch, environment: environment)
      #expect(run.output.contains("arguments: -t \(type) -m 2 -o -\r\n"), "\(run.output)")
      #expect(run.output.contains("address: https://id.example/device?c=AB-CD"))
    }
    let quiet = try CommandRun(["login", "--no-wait"], in: scratch, environment: ["PATH": path])
    #expect(!quiet.errors.contains("address:"))
    #expect(owner.requests.count == 5)
  }
}
