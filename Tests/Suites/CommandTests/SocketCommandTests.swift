import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// `socket` and its commands.
@Suite(.standardTimeLimit) struct SocketCommandTests {
  private let scratch = Scratch()

  private static let ci =
    #"{"socketId":"ci","path":"/run/ci.sock","profiles":["shop"],"may":"hold","connections":2,"problem":"Taken."}"#
  private static let opened =
    #"{"socketId":"open-1","path":"/run/s","profiles":["work","shop"],"methods":["getAccessToken"],"scopes":["a","b"],"#
    + #""may":"use","connections":0,"expiresAt":"2099-01-01T00:00:00Z"}"#

  private func owner() throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, params in
      switch method {
      case "openSocket": return #""result":{"socketId":"open-1","path":"/run/s"}"#
      case "listSockets": return #""result":{"sockets":[\#(Self.ci),\#(Self.opened)]}"#
      case "closeSocket":
        guard (try? params?["socketId"]?.string()) == "open-1" else {
          return #""error":{"code":-32602,"message":"No.","data":{"kind":"invalidParams","nextAction":"fixRequest","#
            + #""retryable":false,"pointer":"/socketId"}}"#
        }
        return #""result":{}"#
      default: return FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
  }

  @Test func `open prints the path alone, and says elsewhere how long it is open`() throws {
    let owner = try owner()
    let run = try CommandRun(["socket", "open", "work"], in: scratch)
    #expect(run.code == 0 && run.output == "/run/s\n", "\(run.errors)")
    #expect(run.errors.contains("open for 1 h 0 min 0 s; close it with: authbroker"), "\(run.errors)")
    #expect(run.errors.hasSuffix(" socket close open-1\n"), "\(run.errors)")
    #expect(owner.requests == [#"openSocket {"profiles":["work"],"lifetimeSeconds":3600}"#])
    #expect(try CommandRun(["socket", "open", "work", "-q"], in: scratch).errors.isEmpty)
    #expect(try CommandRun(["socket", "open", "work", "--json"], in: scratch).output.contains(#""socketId":"open-1""#))
  }

  @Test func `every option is a member of the request`() throws {
    let owner = try owner()
    let words = [
      "socket", "open", "work", "shop", "--for", "90m", "--method", "getAccessToken", "--method", "getSession",
      "--scope", "a", "--scope", "b", "--audience", "u", "--use-only", "--uid", "1005", "--uid", "subuid",
      "--group", "ci", "--mode", "0666", "--path", "/run/x",
    ]
    let run = try CommandRun(words, in: scratch)
    #expect(run.code == 0 && run.errors.contains("AUTHBROKER_SERVER_UID=\(geteuid())"), "\(run.errors)")
    let request =
      #"openSocket {"profiles":["work","shop"],"methods":["getAccessToken","getSession"],"scopes":["a","b"],"#
      + #""audiences":["u"],"may":"use","uids":[1005,"subuid"],"group":"ci","lifetimeSeconds":5400,"path":"/run/x","#
      + #""mode":"0666"}"#
    #expect(owner.requests == [request])
  }

  @Test(arguments: ["", "h", "1w", "-1s", "1.5h", "10000000000s"])
  func `a time that is none is refused before the broker is asked`(_ time: String) throws {
    let owner = try owner()
    let run = try CommandRun(["socket", "open", "work", "--for", time], in: scratch)
    #expect(run.code == 2 && run.errors.contains("--for needs a time such as"), "\(run.errors)")
    #expect(owner.requests.isEmpty)
  }

  @Test(arguments: [
    ("--for", "40d", "/lifetimeSeconds"), ("--uid", "ann", "/uids/0"), ("--method", "lock", "/methods/0"),
    ("--path", "/run/x", "/path"),
  ])
  func `what the broker does not take is named by its option`(_ option: String, _ value: String, _ pointer: String)
    throws
  {
    let owner = try FakeOwner(in: scratch) { _, _ in
      #""error":{"code":-32602,"message":"The parameter \#(pointer) is wrong.","data":{"kind":"invalidParams","#
        + #""nextAction":"fixRequest","retryable":false,"pointer":"\#(pointer)"}}"#
    }
    let run = try CommandRun(["socket", "open", "work", option, value], in: scratch)
    #expect(run.code != 0 && run.errors.contains("authbroker: \(option) is wrong"), "\(run.errors)")
    #expect(owner.requests.count == 1)
  }

  @Test func `list has a line for each, and what is wrong with one`() throws {
    let owner = try owner()
    let run = try CommandRun(["socket", "list"], in: scratch)
    #expect(run.words.contains("ci shop all methods 2 - /run/ci.sock\n"), "\(run.output)")
    #expect(run.words.contains("open-1 work shop getAccessToken, scopes a b, no tokens 0 "), "\(run.output)")
    #expect(run.errors.contains("ci cannot be used: taken"), "\(run.errors)")
    #expect(try CommandRun(["socket", "list", "--json"], in: scratch).output.contains(Self.opened))
    #expect(owner.requests == ["listSockets {}", "listSockets {}"])
  }

  @Test func `close names the list where there is no such socket`() throws {
    let owner = try owner()
    #expect(try CommandRun(["socket", "close", "open-1"], in: scratch).errors.contains("closed open-1"))
    let run = try CommandRun(["socket", "close", "open-2"], in: scratch)
    #expect(run.code != 0 && run.errors.contains("no socket with the id open-2"), "\(run.errors)")
    #expect(run.errors.hasSuffix(" socket list\n"))
    #expect(owner.requests.map { $0.prefix(11) } == ["closeSocket", "closeSocket"])
  }

  /// A program `ssh` that writes down its arguments and ends as it is told.
  private func shell(_ body: String) throws -> [String: String] {
    mkdir(scratch.file("bin"), 0o700)
    try scratch.write(
      "#!/bin/sh\nprintf '%s\\n' \"$@\" > '\(scratch.file("words"))'\n\(body)\n", to: "bin/ssh")
    chmod(scratch.file("bin/ssh"), 0o700)
    return ["PATH": scratch.file("bin") + ":/usr/bin:/bin"]
  }

  private static let line =
    "-N\n-o\nExitOnForwardFailure=yes\n-o\nPort=9\n-R\n/tmp/authbroker-open-1.sock:/run/s\n--\nhost\n"

  @Test func `forward runs ssh, and closes the socket when that ends`() throws {
    let owner = try owner()
    let words = ["socket", "forward", "host", "work", "--ssh-option", "Port=9"]
    let run = try CommandRun(words, in: scratch, environment: try shell("exit 3"))
    #expect(run.code == 1 && run.errors.contains("ssh has ended with code 3"), "\(run.errors)")
    #expect(run.errors.contains("on host: export AUTHBROKER_SOCKET=/tmp/authbroker-open-1.sock\n"), "\(run.errors)")
    #expect(String(decoding: try scratch.bytes(of: "words"), as: UTF8.self) == Self.line)
    #expect(owner.requests.map { $0.prefix { $0 != " " } } == ["openSocket", "closeSocket"])
  }

  @Test func `ssh ends with the time of the socket`() throws {
    let owner = try owner()
    let words = ["socket", "forward", "host", "work", "--for", "1s"]
    let run = try CommandRun(words, in: scratch, environment: try shell("exec sleep 100"))
    #expect(run.code == 1 && run.errors.contains("the time of the socket is over"), "\(run.errors)")
    #expect(owner.requests.last == #"closeSocket {"socketId":"open-1"}"#)
  }

  @Test func `forward can print its line, and refuses what ssh would take for an option`() throws {
    let owner = try owner()
    let words = ["socket", "forward", "--print", "host", "work", "--ssh-option", "Port=9"]
    let run = try CommandRun(words, in: scratch)
    #expect(
      run.code == 0 && run.output == "ssh " + Self.line.dropLast().replacing("\n", with: " ") + "\n", "\(run.errors)")
    #expect(run.errors.hasSuffix(" socket close open-1\n"), "\(run.errors)")
    let count = owner.requests.count
    for wrong in [["--", "-oProxyCommand=x", "work"], ["", "work"], ["host", "work", "--remote", "a"]] {
      #expect(try CommandRun(["socket", "forward", "--print"] + wrong, in: scratch).code == 2, "\(wrong)")
    }
    #expect(owner.requests.count == count)
  }
}
