import TestSupport
import Testing

@testable import authbroker

/// What the word that is being typed can become.
@Suite(.standardTimeLimit) struct CompleterTests {
  private static let completer = Completer { completion, arguments in
    switch completion {
    case .profiles: ["home", "work", arguments["--state"].map { "of" + $0 } ?? "usual"]
    case .events: ["login", "logout"]
    case .methods: ["getStatus", "getSession"]
    case .providers: ["oidc", "github", "gitlab"]
    case .targets: ["https://git.example.com", "https://pkg.example.com"]
    default: []
    }
  }

  private static func words(_ line: String...) -> [String]? {
    guard case .candidates(let candidates) = completer.answer(line) else { return nil }
    return candidates.map(\.word)
  }

  @Test func `commands, and the commands of a group`() {
    #expect(Self.words("lo") == ["login", "logout", "lock", "local"])
    #expect(Self.words("--json", "-p", "work", "tok") == ["token"])
    #expect(Self.words("account", "ver") == ["verify-email"])
    #expect(Self.words("account", "--json", "2") == ["2fa"])
    #expect(Self.words("help", "whoa") == ["whoami"])
    #expect(Self.words("compl") == ["completion"])
    #expect(Self.words("nothing-like-this", "") == CommandList.all.map { $0.description.name })
  }

  @Test func `options of the command and of every command, none behind two dashes`() {
    #expect(Self.words("token", "--sc") == ["--scope"])
    #expect(Self.words("status", "--sc") == [])
    #expect(Self.words("status", "--prof") == ["--profile"])
    #expect(Self.words("--vers") == ["--version"])
    #expect(Self.words("call", "--", "--prof") == [])
  }

  @Test func `values of options, with a blank, an equals sign and short names`() {
    #expect(Self.words("token", "--profile", "wo") == ["work"])
    #expect(Self.words("token", "--profile=wo") == ["--profile=work"])
    #expect(Self.words("-qp", "wo") == ["work"])
    #expect(Self.words("login", "--method", "d") == ["deviceCode"])
    #expect(Self.words("watch", "--events", "login,logo") == ["login,logout"])
    #expect(Self.words("token", "--min-validity", "3") == [])
    #expect(Self.completer.answer(["--config", "x"]) == .files)
    #expect(Self.completer.answer(["--config=x"]) == .files)
    #expect(Self.completer.answer(["--state", "x"]) == .directories)
  }

  @Test func `operands`() {
    #expect(Self.words("provider-check", "ho") == ["home"])
    #expect(Self.words("call", "getSt") == ["getStatus"])
    #expect(Self.words("call", "getStatus", "{") == [])
    #expect(Self.words("config", "") == ["check"])
    #expect(Self.completer.answer(["config", "check", "x"]) == .files)
    #expect(Self.words("completion", "") == ["bash", "zsh", "fish"])
    #expect(Self.words("account", "2fa", "t") == ["totp"])
  }

  @Test func `tools, forms, types of provider and targets`() {
    #expect(Self.words("helper", "install", "do") == ["docker"])
    #expect(Self.words("helper", "remove", "--print", "car") == ["cargo"])
    #expect(Self.words("helper", "install", "git", "") == [])
    #expect(Self.words("doctor", "--tool", "ku") == ["kubectl"])
    #expect(Self.words("doctor", "--tool=terra") == ["--tool=terraform"])
    #expect(Self.words("token", "--format", "head") == ["header", "headers"])
    #expect(Self.words("token", "--format=exec") == ["--format=execcredential"])
    #expect(Self.words("header", "--format", "") == ["headers"])
    #expect(Self.words("init", "--provider", "git") == ["github", "gitlab"])
    #expect(Self.words("token", "--url", "https://g") == ["https://git.example.com"])
    #expect(Self.words("helper", "install", "git", "--url=https://p") == ["--url=https://pkg.example.com"])
    #expect(Self.words("status", "--wa") == ["--watch"])
    #expect(Self.words("doctor", "--bun") == ["--bundle"])
    #expect(Self.completer.answer(["doctor", "--bundle", "x"]) == .files)
  }

  @Test func `a tool is told with its meaning`() {
    guard case .candidates(let tools) = Self.completer.answer(["helper", "install", ""]) else {
      Issue.record("no candidates")
      return
    }
    #expect(tools.map(\.word) == ToolSetup.all.map(\.name) && tools.allSatisfy { !$0.meaning.isEmpty })
  }

  @Test func `the broker that the line means is asked`() {
    #expect(Self.words("--state", "/s", "token", "-p", "of") == ["of/s"])
    #expect(Self.words("--state=/s", "token", "-p", "of") == ["of/s"])
  }

  @Test func `a running broker says its names, and nothing is said where something is wrong`() throws {
    let scratch = Scratch()
    let nothing = try CommandRun(["complete", "--", "token", "-p", ""], in: scratch)
    #expect(nothing.code == 0 && nothing.output.isEmpty && nothing.errors.isEmpty, "\(nothing.errors)")
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "initialize"
        ? #""result":{"protocolVersion":"1","server":{"name":"authbroker"},"capabilities":{"methods":["getStatus"],"#
          + #""events":["later"],"framings":[],"providers":[]},"sessions":[],"sequence":1}"#
        : FakeOwner.refusal(-32601, "methodNotFound", "No.")
    }
    try withExtendedLifetime(owner) {
      let state = scratch.file("state")
      for (words, expected) in [(["call", "get"], "getStatus\n"), (["watch", "--events", "la"], "later\n")] {
        let run = try CommandRun(["complete", "--", "--state", state] + words, in: scratch)
        #expect(run.output == expected && run.errors.isEmpty, "\(words): \(run.output)\(run.errors)")
      }
    }
  }
}
