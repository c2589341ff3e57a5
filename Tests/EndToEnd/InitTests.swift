import JSON
import LinuxSystem
import TestSupport
import Testing

/// `init` with the real daemon, and a real OpenID Connect server.
@Suite(.standardTimeLimit) struct InitTests {
  /// A home, its configuration and the command.
  private struct Home {
    let sandbox: Sandbox
    var directory: String { sandbox.root + "/home/config/authbroker" }
    var file: String { directory + "/config.json" }

    func run(_ words: [String], input: String = "") throws -> Sandbox.Outcome {
      try sandbox.run(BuiltPrograms.command, words, input: input)
    }

    func play(_ steps: [(String, String)], _ words: [String]) throws -> Sandbox.Outcome {
      let steps = steps.map { TerminalPlayer.Step(question: $0, answer: $1) }
      return try sandbox.run("/usr/bin/env", TerminalPlayer.arguments(steps, [BuiltPrograms.command] + words))
    }

    func write(_ text: String) throws {
      _ = try PrivateDirectory(directory, create: true)
      try Directory.write(text, to: file)
    }

    var text: String? { (try? Directory.bytes(of: file)).map { String(decoding: $0, as: UTF8.self) } }
  }

  private static func inHome(_ body: @Sendable @escaping (Home) throws -> Void) async throws {
    try await Sandbox.run { sandbox in try body(Home(sandbox: sandbox)) }
  }

  @Test func `options alone write a configuration of mode 0600, which the daemon accepts`() async throws {
    try await Self.inHome { home in
      let run = try home.run([
        "init", "--provider", "github", "--client-id", "made-up", "--name", "work", "--no-network",
      ])
      #expect(run.code == 0 && run.output.isEmpty, "\(run.errors)")
      #expect(run.errors.contains("log in with: authbroker login --profile work\n"), "\(run.errors)")
      #expect(try FileStatus.ofLink(home.file).permissions == 0o600)
      #expect(try FileStatus.ofLink(home.directory).permissions == 0o700)
      #expect(Directory.names(in: home.directory) == ["config.json"])
      let check = try home.run(["config", "check"])
      #expect(check.code == 0 && check.output.contains("(profiles: work)"), "\(check.output)\(check.errors)")
      let again = try home.run([
        "init", "--provider", "github", "--client-id", "other", "--name", "work", "--no-network",
      ])
      #expect(again.code == 2 && again.errors.contains("there is a profile work already"), "\(again.errors)")
      #expect(home.text?.contains("other") == false)
    }
  }

  @Test(arguments: [
    "// mine\n{\n  lingerSeconds: 20, // short\n  profiles: { // all\n    default: { provider: 'local' }, /* keep */\n  }\n}\n",
    "{profiles:{default:{provider:\"local\"}}}", "{ lingerSeconds: 20 }\n", "{}",
    "{\r\n  profiles: {\r\n    a: { provider: 'local' },\r\n  },\r\n}\r\n",
  ])
  func `a profile is added, and every byte that was there stays`(before: String) async throws {
    try await Self.inHome { home in
      try home.write(before)
      let words = ["init", "--provider", "keycloak", "--base-url", "https://id.example", "--set", "realm=acme"]
      let run = try home.run(words + ["--client-id", "cli", "--name", "sso", "--no-network"])
      #expect(run.code == 0, "\(run.errors)")
      let after = try #require(home.text)
      // What was added is one piece.
      let prefix = zip(before.utf8, after.utf8).prefix { $0 == $1 }.count
      let rest = before.utf8.dropFirst(prefix)
      #expect(Array(after.utf8).suffix(rest.count) == Array(rest)[...], "\(after)")
      let check = try home.run(["config", "check", "--json"])
      #expect(check.code == 0 && check.output.contains("\"sso\""), "\(after)\(check.errors)")
      #expect(try FileStatus.ofLink(home.file).permissions == 0o600)
    }
  }

  @Test func `what the daemon refuses is not written`() async throws {
    try await Self.inHome { home in
      let words = [
        "init", "--provider", "keycloak", "--base-url", "https://id.example", "--client-id", "cli", "--no-network",
      ]
      let wrong = try home.run(words + ["--set", "realm=a/b"])
      #expect(
        wrong.code == 2 && wrong.errors.contains("profiles.default.realm: must be a realm's name"), "\(wrong.errors)")
      let unknown = try home.run(words + ["--set", "realm=acme", "--set", "relm=acme"])
      #expect(unknown.code == 2 && unknown.errors.contains("relm"), "\(unknown.errors)")
      #expect(home.text == nil && Directory.names(in: home.directory).isEmpty)
      let broken = "{ profiles: "
      try home.write(broken)
      let invalid = try home.run(words + ["--set", "realm=acme"])
      #expect(invalid.code == 1 && invalid.errors.contains("authbroker config check"), "\(invalid.errors)")
      #expect(home.text == broken)
    }
  }

  @Test func `an issuer that is wrong is refused before anything is written, and asked for again`() async throws {
    try await Self.inHome { home in
      let backend = try OIDCBackend(home.sandbox)
      let script = try home.run(["init", "--issuer", backend.issuer + "/not", "--client-id", "cli"])
      #expect(script.code == 1 && script.errors.contains("\"\(backend.issuer)\""), "\(script.errors)")
      #expect(home.text == nil)
      let steps = [
        ("Number, or", "http://127.0.0.1:1/\n"), ("Client ID: ", "cli\n"), ("Client secret (", "\n"),
        ("Redirect address", "\n"), ("Name of the profile [default]: ", "\n"),
        ("127.0.0.1:1 cannot be reached", ""), ("Issuer, such as", backend.issuer + "\n"),
      ]
      let run = try home.play(steps, ["init", "--no-login"])
      #expect(run.code == 0 && run.output.contains("wrote the profile default"), "\(run.output)")
      #expect(home.text?.contains("issuer: \"\(backend.issuer)\"") == true)
    }
  }

  @Test func `without a network, a provider says where its client ID comes from, and is written all the same`()
    async throws
  {
    try await Self.inHome { home in
      let steps: [(String, String)] = [
        ("Number, or", "8\n"), ("https://github.com/settings/applications/new\r\n", ""),
        ("tick Enable Device Flow", ""),
        ("Client ID: ", "cli\n"), ("Client secret (", "\n"), ("Name of the profile", "\n"), ("--no-network", ""),
        ("Enter tries again", "\n"), ("Enter tries again", "w\n"),
      ]
      let command = ["/usr/bin/env", "https_proxy=http://127.0.0.1:1", BuiltPrograms.command, "init", "--no-login"]
      let player = TerminalPlayer.arguments(steps.map { .init(question: $0.0, answer: $0.1) }, command)
      let run = try home.sandbox.run("/usr/bin/env", player)
      #expect(run.code == 0 && run.output.contains("wrote the profile default"), "\(run.output)")
      #expect(!run.output.contains("Redirect address") && home.text?.contains("clientId: \"cli\"") == true)
    }
  }

  @Test func `a resource is enough, by an option and at a terminal`() async throws {
    try await Self.inHome { home in
      let backend = try OIDCBackend(home.sandbox)
      let origin = String(backend.issuer.prefix(backend.issuer.count - "/o".count))
      let words = ["init", "--client-id", "cli", "--no-login"]
      let run = try home.run(words + ["--resource", origin + "/api", "--name", "api"])
      #expect(run.code == 0 && run.errors.contains("come from \(backend.issuer)"), "\(run.errors)")
      let written = try #require(home.text)
      #expect(written.contains("provider: \"mcp\"") && written.contains("resource: \"\(origin)/api\""))
      #expect(!written.contains("issuer:") && !written.contains("scopes:"), "\(written)")
      let other = try home.run(words + ["--resource", origin, "--issuer", "https://as.example", "--name", "b"])
      #expect(other.code == 2 && other.errors.contains("does not name https://as.example"), "\(other.errors)")
      let both = try home.run(words + ["--resource", origin, "--provider", "github", "--name", "b"])
      #expect(both.code == 2, "\(both.errors)")
      let closed = try home.run(words + ["--resource", "http://127.0.0.1:1/", "--name", "b"])
      #expect(closed.code == 5 && closed.errors.contains("cannot be asked"), "\(closed.errors)")
      let wrong = try home.run(words + ["--resource", "http://api.example", "--name", "b"])
      #expect(wrong.code == 1 && wrong.errors.contains("must be https://"), "\(wrong.errors)")
      #expect(home.text == written)
      let steps = [
        ("Number, or", "resource http://127.0.0.1:1/\n"), ("cannot be asked", ""),
        ("Number, or", "resource \(origin)\n"), ("Name of the profile", "c\n"),
      ]
      let typed = try home.play(steps, words)
      #expect(typed.code == 0 && typed.output.contains("wrote the profile c"), "\(typed.output)")
      #expect(home.text?.contains("resource: \"\(origin)\"") == true)
    }
  }

  @Test func `a secret that was typed goes into a file of its own, and works`() async throws {
    try await Self.inHome { home in
      let backend = try OIDCBackend(home.sandbox)
      let words = [
        "init", "--issuer", backend.issuer, "--client-id", "confidential", "--name", "sso", "--secret-stdin",
      ]
      let wrong = try home.run(words, input: "not the secret\n")
      #expect(wrong.code == 1 && wrong.errors.contains("invalid_client"), "\(wrong.errors)")
      #expect(Directory.names(in: home.directory).isEmpty)
      let several = try home.run(words, input: backend.clientSecret + "\nmore\n")
      #expect(several.code == 2 && several.errors.contains("more than one line"), "\(several.errors)")
      #expect(Directory.names(in: home.directory).isEmpty)
      let run = try home.run(words, input: backend.clientSecret + "\n")
      #expect(run.code == 0 && !run.errors.contains(backend.clientSecret), "\(run.errors)")
      #expect(home.text?.contains(backend.clientSecret) == false)
      let file = home.directory + "/sso.secret"
      #expect(try FileStatus.ofLink(file).permissions == 0o600)
      #expect(String(decoding: try Directory.bytes(of: file), as: UTF8.self) == backend.clientSecret)
      #expect(home.text?.contains("{ file: \"\(file)\" }") == true)
    }
  }

  @Test(arguments: ["\u{3}", "\u{4}"])
  func `who leaves in between leaves nothing behind`(key: String) async throws {
    try await Self.inHome { home in
      let first = [
        ("Number, or", "8\n"), ("Client ID: ", "cli\n"), ("Client secret (", "t\n"), ("not shown", "made up\n"),
      ]
      for count in 0...first.count {
        let question = ["Number, or", "Client ID: ", "Client secret (", "not shown", "Name of the profile"][count]
        let run = try home.play(Array(first.prefix(count)) + [(question, key)], ["init"])
        #expect(run.code != 0, "\(run.output)")
      }
      #expect(Directory.files(below: home.sandbox.root + "/home").isEmpty)
    }
  }

  @Test(arguments: [
    nil, "// mine\n{\n  lingerSeconds: 20, // short\n}\n", "{ targets: { /* keep */ 'https://a.example': 'default' } }",
    "{\n  targets: {\n    // none\n  },\n}\n",
  ])
  func `target add puts an entry into the file, and every byte that was there stays`(before: String?) async throws {
    try await Self.inHome { home in
      if let before { try home.write(before) }
      let run = try home.run(["target", "add", "https://git.example.com/"])
      let told = "https://git.example.com gets the token of default"
      #expect(run.code == 0 && run.errors.contains(told), "\(run.errors)")
      let after = try #require(home.text)
      if let before {
        let prefix = zip(before.utf8, after.utf8).prefix { $0 == $1 }.count
        let rest = before.utf8.dropFirst(prefix)
        #expect(Array(after.utf8).suffix(rest.count) == Array(rest)[...], "\(after)")
      }
      let listed = try home.run(["call", "listTargets"])
      #expect(listed.output.contains(#"{"url":"https://git.example.com","profile":"default""#), "\(listed)")
      let again = try home.run(["target", "add", "https://git.example.com"])
      let already = "https://git.example.com gets the token of default already, by "
      #expect(again.code == 0 && home.text == after && again.errors.contains(already), "\(again.errors)")
      #expect(try home.run(["target", "add", "HTTPS://Git.Example.com:443/", "--print"]).output == after)
      // The broker that runs since then reads the next one at once.
      #expect(try home.run(["target", "add", "https://b.example", "default"]).code == 0)
      #expect(try home.run(["call", "listTargets"]).output.contains("https://b.example"))
      #expect(try home.run(["target", "add", "https://docker.io", "default"]).code == 0)
      let hub = try home.run(["target", "add", "https://index.docker.io/v1/", "default"])
      #expect(hub.code == 0 && hub.errors.contains("gets the token of default already, by "), "\(hub.errors)")
      for words in [["https://c.example", "wrok"], ["c.example"], ["https://u:p@c.example"], [""], []] {
        let wrong = try home.run(["target", "add"] + words)
        #expect(wrong.code != 0 && home.text?.contains("c.example") == false, "\(words): \(wrong.errors)")
      }
    }
  }

  @Test func `a target of another profile is told with the line that says so`() async throws {
    try await Self.inHome { home in
      let text =
        "{ profiles: { own: { provider: 'local' }, work: { provider: 'github', clientId: 'x' } },\n"
        + "targets: { // mine\n'https://a.example/': 'work' } }\n"
      try home.write(text)
      let other = try home.run(["target", "add", "https://a.example", "own"])
      #expect(other.code == 1 && home.text == text, "\(other.errors)")
      #expect(other.errors.contains("https://a.example gets the token of work, by "), "\(other.errors)")
      #expect(other.errors.contains("config.json, line 3; write the other profile there"), "\(other.errors)")
      let same = try home.run(["target", "add", "https://a.example", "work", "--json"])
      #expect(same.code == 0 && same.output.contains(#""profile":"work""#) && home.text == text, "\(same.errors)")
    }
  }

  @Test func `an address without its scheme is refused where it is typed`() async throws {
    try await Self.inHome { home in
      let steps = [
        ("Issuer, such as", "sso.example.com\n"), ("write https://sso.example.com", ""),
        ("Issuer, such as", "https://sso.example.com\n"), ("Client ID: ", "cli\n"),
      ]
      let run = try home.play(steps, ["init", "--provider", "oidc", "--no-network", "--no-login"])
      #expect(run.code == 0 && home.text?.contains("issuer: \"https://sso.example.com\"") == true, "\(run.output)")
    }
  }

  @Test func `a directory that cannot be written is told of before anything is asked`() async throws {
    // Root may write everywhere but on a disk that is read-only.
    try await Self.inHome { home in
      let place = "/proc/sys/none/deeper/config.json"
      let played = try home.play([], ["--config", place, "init"])
      #expect(played.code == 1 && played.output.contains("\(place) cannot be written: /proc/sys: "), "\(played.output)")
      #expect(!played.output.contains("?"), "\(played.output)")
    }
  }

  @Test func `only the file is shown with --print, and a link stays as it is`() async throws {
    try await Self.inHome { home in
      let words = ["init", "--provider", "github", "--client-id", "made-up", "--no-network"]
      let printed = try home.run(words + ["--print"])
      #expect(printed.code == 0 && printed.output.contains("provider: \"github\"") && home.text == nil)
      try home.write("{ profiles: { own: { provider: 'local' } } }\n")
      let elsewhere = home.sandbox.root + "/home/dotfiles.json"
      try Directory.write("{ profiles: { own: { provider: 'local' } } }\n", to: elsewhere)
      try DirectoryEntry.remove(home.file)
      let link = try home.sandbox.run("/bin/ln", ["-s", elsewhere, home.file])
      #expect(link.code == 0)
      let run = try home.run(words)
      #expect(run.code == 1 && run.output.contains("github") && run.errors.contains("symbolic link"), "\(run.errors)")
      #expect(home.text == "{ profiles: { own: { provider: 'local' } } }\n")
    }
  }

  @Test func `a running broker reads the profile at once, and an account that is there keeps its own`() async throws {
    try await Self.inHome { home in
      let account = try home.run(
        ["register", "--email", "a@example.com", "--password-stdin"], input: "example password 1\n")
      #expect(account.code == 0, "\(account.errors)")
      let taken = try home.run([
        "init", "--provider", "github", "--client-id", "x", "--no-network", "--name", "default",
      ])
      #expect(taken.code == 2, "\(taken.errors)")
      let run = try home.run(["init", "--provider", "github", "--client-id", "x", "--no-network"])
      #expect(run.code == 0 && run.errors.contains("the profile github"), "\(run.errors)")
      let profiles = try home.run(["profiles"])
      #expect(profiles.output.contains("a@example.com") && profiles.output.contains("github"), "\(profiles.output)")
    }
  }
}
