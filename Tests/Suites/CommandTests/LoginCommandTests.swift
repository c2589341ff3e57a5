import Glibc
import JSON
import LinuxSystem
import Synchronization
import TestSupport
import Testing

@testable import authbroker

/// `login` where its user does something elsewhere.
@Suite(.standardTimeLimit) struct LoginCommandTests {
  private let scratch = Scratch()

  private static let device =
    #"{"loginFlowId":"example-login","profile":"default","kind":"deviceCode","#
    + #""verificationUri":"https://id.example/device","verificationUriComplete":"https://id.example/device?c=AB-CD","#
    + #""userCode":"AB-CD","expiresAt":"2099-01-01T00:00:00Z","intervalSeconds":5}"#
  private static let browser =
    #"{"loginFlowId":"example-login","profile":"default","kind":"browser","#
    + #""verificationUri":"https://id.example/authorize?x=\u001b","expiresAt":"2099-01-01T00:00:00Z"}"#
  /// A login that is done.
  static let session =
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
        authbroker: on any device, open this address and enter the code AB-CD:
        https://id.example/device
        authbroker: logged in to default as ada@example.com

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
    #expect(owner.requests.prefix(2) == ["getSession {}", "login {}"])
  }

  @Test(arguments: [(device, true), (browser, false)])
  func `a QR code is drawn for another device, not for a browser on this computer`(action: String, isDrawn: Bool) throws
  {
    try scratch.write("#!/bin/sh\ncat >/dev/null; echo drawn-here\n", to: "qrencode")
    #expect(chmod(scratch.file("qrencode"), 0o700) == 0)
    let owner = try owner(action, rounds: 1)
    let run = try CommandRun(
      atTerminal: [], ["login"], in: scratch, environment: ["PATH": scratch.path + ":/usr/bin:/bin", "NO_COLOR": "1"])
    #expect(run.code == 0 && run.output.contains("https://id.example/"), "\(run.output)")
    #expect(run.output.contains("drawn-here") == isDrawn, "\(run.output)")
    #expect(owner.requests.contains { $0.hasPrefix("awaitLogin") })
  }

  @Test func `Ctrl-C cancels the login`() throws {
    let owner = try owner(rounds: nil)
    let run = try CommandRun(
      atTerminal: [.init(question: "Ctrl-C cancels", answer: "\u{3}")], ["login", "--method", "device"], in: scratch)
    // What a shell says of a program that ended by SIGINT.
    #expect(run.code == 130)
    #expect(run.output.contains("authbroker: the login was cancelled\r\n"), "\(run.output)")
    #expect(owner.requests.last == #"cancelLogin {"loginFlowId":"example-login"}"#)
  }

  @Test func `a refusal is told in its own words`() throws {
    let denied = FakeOwner.refusal(1082, "consentDenied", "The user did not agree.")
    let owner = try owner(rounds: 1, end: denied)
    let run = try CommandRun(["login", "--method", "browser"], in: scratch)
    #expect(run.code == 6, "\(run.errors)")
    #expect(run.errors.contains("authbroker: the user did not agree; ask again with: authbroker "), "\(run.errors)")
    #expect(owner.requests.count == 2)
  }

  @Test func `an address is made fit for a terminal`() throws {
    let owner = try owner(Self.browser, rounds: 1)
    let run = try CommandRun(["login", "--method=browser"], in: scratch)
    let text = "authbroker: in a browser on this computer, open this address:\nhttps://id.example/authorize?x=?\n"
    #expect(run.errors.hasPrefix(text), "\(run.errors)")
    #expect(owner.requests.first == #"login {"method":"browser"}"#)
  }

  @Test func `nobody has to wait`() throws {
    let owner = try owner(rounds: nil)
    let words = try CommandRun(["login", "--method", "device", "--no-wait"], in: scratch)
    #expect(words.code == 3 && words.errors.contains("AB-CD"))
    #expect(words.errors.contains("until 2099-01-01 00:00"))
    #expect(words.errors.hasSuffix("authbroker --state \(scratch.file("state")) login --flow example-login\n"))
    let json = try CommandRun(["login", "--method", "device", "--json", "--no-wait"], in: scratch)
    #expect(json.code == 3 && json.errors.isEmpty, "\(json.errors)")
    let result = try JSONDocument(parsing: Array(json.output.utf8)).root
    #expect(try result.required("action").required("userCode").string() == "AB-CD")
    #expect(owner.requests.count == 2)
  }

  @Test func `with --json the action is a line and the result another`() throws {
    let owner = try owner(rounds: 2)
    let run = try CommandRun(["login", "--method", "device", "--json"], in: scratch)
    #expect(run.code == 0 && run.errors.isEmpty, "\(run.errors)")
    let lines = try run.output.split(separator: "\n").map { try JSONDocument(parsing: Array($0.utf8)).root }
    #expect(try lines.map { try $0.required("status").string() } == ["userActionRequired", "authenticated"])
    #expect(try lines.first?.required("action").required("userCode").string() == "AB-CD")
    #expect(owner.requests.count == 3)
  }

  @Test func `the end of --timeout leaves the login as it is and names what to do`() throws {
    let owner = try owner(rounds: nil)
    let run = try CommandRun(["--timeout", "0.1", "login", "--method", "device"], in: scratch)
    #expect(run.code == 3)
    let end = "; wait for it again with: authbroker --state \(scratch.file("state")) login --flow example-login\n"
    let begin = "the login was not finished within 0.1 s (--timeout); the login goes on until 2099-01-01 00:00"
    #expect(run.errors.contains(begin) && run.errors.hasSuffix(end), "\(run.errors)")
    let methods = owner.requests.map { $0.prefix { $0 != " " } }
    #expect(methods.first == "login" && methods.count > 1 && methods.dropFirst().allSatisfy { $0 == "awaitLogin" })
  }

  @Test func `a login that nobody finishes in its own time is no wrong code`() throws {
    let late = FakeOwner.refusal(1023, "otpExpired", "The login was not finished in time; log in again.")
    let owner = try owner(rounds: 1, end: late)
    let run = try CommandRun(["login", "--method", "browser"], in: scratch)
    #expect(run.code == 3, "\(run.errors)")
    #expect(owner.requests.count == 2)
  }

  @Test func `a login outlives the broker that began it`() throws {
    let isFirst = Mutex(true)
    let owner = try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "login": return #""result":{"status":"userActionRequired","action":\#(Self.device)}"#
      case "awaitLogin"
      where isFirst.withLock({ first in
        defer { first = false }
        return first
      }):
        return FakeOwner.refusal(1084, "shuttingDown", "The broker ends.")
      default: return Self.session
      }
    }
    let run = try CommandRun(["login", "--method", "device"], in: scratch)
    #expect(run.code == 0, "\(run.errors)")
    #expect(owner.requests.map { $0.prefix { $0 != " " } } == ["login", "awaitLogin", "awaitLogin"])
  }

  @Test func `a login that was begun is waited for, and one that has ended says how`() throws {
    let owner = try FakeOwner(in: scratch) { method, params in
      switch method {
      case "listSessions":
        let session = #""provider":"oidc","state":"signedOut","scopes":[],"refreshTokenPresent":false"#
        return #""result":{"sessions":[{"profile":"a",\#(session)},{"profile":"b",\#(session)}]}"#
      case "listPendingLogins":
        let isOther = (try? params?["profile"]?.string()) == "b"
        return #""result":{"logins":[\#(isOther ? Self.device : "")]}"#
      default: return Self.session
      }
    }
    let run = try CommandRun(["login", "--flow", "example-login"], in: scratch)
    #expect(run.code == 0 && run.errors.contains("enter the code AB-CD"), "\(run.errors)")
    #expect(owner.requests.last == #"awaitLogin {"loginFlowId":"example-login","timeoutSeconds":0.5}"#)
    let ended = try CommandRun(["login", "--flow", "another"], in: scratch)
    #expect(ended.code == 0 && ended.errors.contains("logged in to default as ada@example.com"), "\(ended.errors)")
    #expect(owner.requests.last == #"awaitLogin {"loginFlowId":"another"}"#)
    #expect(try CommandRun(["login", "--flow", "x", "--method", "device"], in: scratch).code == 2)
  }

  @Test func `a token is asked for again, once, where the broker ends`() throws {
    let count = Mutex(0)
    let scratch = scratch
    let owner = try FakeOwner(in: scratch) { _, _ in
      let round = count.withLock { count in
        count += 1
        return count
      }
      guard round == 2 else {
        // The next one holds the lock by now: its record is there.
        let record = try? FakeOwner.record(in: scratch, startedAt: "2026-01-01T00:0\(round):00Z")
        try? scratch.write(record ?? "", to: "state/broker.lock")
        return FakeOwner.refusal(1084, "shuttingDown", "The broker ends.")
      }
      return #""result":{"accessToken":"example-token"}"#
    }
    let first = try CommandRun(["token"], in: scratch)
    #expect(first.code == 0 && first.output == "example-token\n", "\(first.errors)")
    #expect(try CommandRun(["token"], in: scratch).code == 8)
    #expect(owner.requests.count == 4)
  }

  @Test func `a provider that wants a password is given one`() throws {
    let owner = try FakeOwner(in: scratch) { method, params in
      switch method {
      case "getStatus": return FakeOwner.status()
      case "login" where params?["password"] == nil:
        return FakeOwner.refusal(1021, "missingCredential", "The provider requires a credential that was not given.")
      default: return Self.session
      }
    }
    let run = try CommandRun(
      atTerminal: [
        .init(question: "E-mail address: ", answer: "ada@example.com\n"),
        .init(question: "Password: ", answer: "x y\n"),
      ], ["login"], in: scratch)
    #expect(run.code == 0, "\(run.output)")
    let sent = #"login {"email":"ada@example.com","password":"x y"}"#
    #expect(owner.requests.filter { $0.hasPrefix("login") } == ["login {}", sent])
  }

  @Test func `a login that is done before it can be cancelled is told as ever`() throws {
    let owner = try FakeOwner(in: scratch) { method, _ in
      // Longer than the command waits before it cancels the login.
      if method == "login" { usleep(2_000_000) }
      return Self.session
    }
    let words = ["login", "--email", "ada@example.com", "--password-stdin", "--timeout", "1"]
    let run = try CommandRun(words, in: scratch, input: "x y\n")
    #expect(run.code == 0 && run.errors == "authbroker: logged in to default as ada@example.com\n")
    #expect(Patience.wait { owner.requests.last == #"$/cancelRequest {"id":2}"# })
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
    #expect(owner.requests.filter { $0.hasPrefix("login ") }.count == 3)
  }
}
