import BrokerProtocol
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// What each tool is set up with.
@Suite(.standardTimeLimit) struct ToolSetupTests {
  private let scratch = Scratch()

  private var setup: SetupContext {
    SetupContext(environment: ["PATH": "/usr/bin:/bin"], home: scratch.path, program: scratch.file("authbroker"))
  }

  private func text(_ name: String) throws -> String { String(decoding: try scratch.bytes(of: name), as: UTF8.self) }

  @Test func `some tools send no token in the clear, whatever the machine`() throws {
    let plain = Target(url: "http://localhost:1", profile: .default)
    let secure = Target(url: "https://localhost:1", profile: .default)
    for name in ["go", "terraform"] {
      let tool = try ToolSetup.named(name)
      #expect(!tool.concerns(plain) && tool.concerns(secure))
    }
  }

  @Test func `a profile of AWS's configuration is written where a role is named`() throws {
    var setup = setup
    let tool = try ToolSetup.named("aws")
    let target = Target(url: "aws", profile: .default)
    #expect(tool.steps([target], setup).map { $0.state(setup) } == [.manual])
    let words = ["--role-arn", "arn:aws:iam::123456789012:role/r", "--aws-profile", "work", "--duration", "900"]
    setup.arguments = try Arguments(words, known: AWSHelper.setupOptions)
    for step in tool.steps([target], setup) { #expect(try step.install(setup)) }
    let written = try text(".aws/config")
    let line =
      "credential_process = \(scratch.file("authbroker")) helper aws --role-arn arn:aws:iam::123456789012:role/r "
      + "--profile default --duration=900\n"
    #expect(written.contains("\n[profile work]\n\(line)"), "\(written)")
    #expect(scratch.mode(".aws/config") == 0o600)
    setup.arguments = try Arguments(["--role-arn", "arn:x", "--aws-profile", "default"], known: AWSHelper.setupOptions)
    for step in tool.steps([target], setup) { #expect(try step.install(setup)) }
    #expect(try text(".aws/config").contains("\n[default]\ncredential_process = "))
    try scratch.write("[ profile work ]\nregion = x\n", to: ".aws/config")
    setup.arguments = try Arguments(words, known: AWSHelper.setupOptions)
    let step = try #require(tool.steps([target], setup).first)
    #expect(throws: CommandFailure.self) { try step.install(setup) }
    #expect(try text(".aws/config") == "[ profile work ]\nregion = x\n")
  }

  @Test func `a tool is found by the programs that it sets up`() throws {
    for (word, name) in [("uv", "pip"), ("keyring", "pip"), ("podman", "docker"), ("msmtp", "mail"), ("git", "git")] {
      let tool = try ToolSetup.named(word)
      #expect(tool.name == name)
    }
    let all = ToolSetup.all.flatMap { [$0.name] + $0.otherNames }
    #expect(Set(all).count == all.count)
  }

  @Test(arguments: [("https://a.example/x/", "x"), ("https://a.example/x/y", "x/y"), ("https://a.example/", "")])
  func `a slash at the end of a target makes no difference`(url: String, path: String) {
    let target = Target(url: url, profile: .default)
    #expect(target.path == path && target.authority == "a.example" && !target.address.hasSuffix("/"))
  }

  @Test func `every tool has a name and a line of its own`() {
    let tools = ToolSetup.all
    #expect(Set(tools.map(\.name)).count == tools.count && Set(tools.map(\.summary)).count == tools.count)
  }

  @Test func `a tool is found by its own name and by that of its helper`() throws {
    for (word, name) in [("pip", "pip"), ("keyring", "pip"), ("mail", "mail"), ("sasl", "mail"), ("aws", "aws")] {
      #expect(try ToolSetup.named(word).name == name)
    }
    #expect(throws: CommandFailure.self) { try ToolSetup.named("kering") }
    // Whatever helper comes next: its name says something to those who set tools up.
    for helper in HelperCommand.helpers where helper.setup != nil {
      #expect(try ToolSetup.named(helper.toolName).name == helper.setup?.name)
    }
  }

  @Test func `a program without a helper is told from a slip`() throws {
    let run = try CommandRun(["helper", "install", "npm"], in: scratch)
    #expect(run.code == 2 && run.errors.contains("npm takes a token from a variable alone"), "\(run.errors)")
    #expect(run.errors.contains("help exec"), "\(run.errors)")
  }

  @Test func `a host in brackets is not cut`() {
    let hosts = ["https://[::1]:8443/a": "[::1]", "https://[::1]": "[::1]", "https://a.example:1/b": "a.example"]
    for (url, host) in hosts { #expect(Target(url: url, profile: .default).host == host) }
  }

  @Test func `a line for each tool says in one word how far it is`() {
    let words: [([SetupState], String)] = [
      ([.manual], "manual"), ([.installed, .manual], "installed"), ([.missing], "not installed"),
      ([.installed, .missing], "partly installed"), ([.missing, .blocked("x")], "blocked"),
    ]
    for (states, word) in words { #expect(HelperListCommand.word(for: states) == word) }
    // A package brings links for every tool.
    let linked: [([SetupState], [SetupState], String)] = [
      ([.missing], [.installed], "not installed"), ([.installed], [.installed], "installed"),
      ([.manual], [.installed], "installed"), ([.installed], [.missing], "partly installed"),
      ([.installed, .missing], [.installed], "partly installed"), ([.missing], [.blocked("x")], "blocked"),
    ]
    for (states, links, word) in linked { #expect(HelperListCommand.word(for: states, links: links) == word) }
  }

  @Test(
    arguments: [
      ("common --credential_helper=a.example.com=/x/y\n", true),
      ("build --credential_helper 'a.example.com=/x'\n", true),
      ("# common --credential_helper=a.example.com=/x/y\n", false),
      ("common --credential_helper=/x --credential_helper=*.example.com=/y\n", false),
    ])
  func `bazel's option for a host of the user's own is not contradicted`(before: String, isBlocked: Bool) throws {
    try scratch.write(before, to: ".bazelrc")
    let target = Target(url: "https://a.example.com", profile: .default)
    let step = try #require(try ToolSetup.named("bazel").steps([target], setup).last)
    guard isBlocked else {
      #expect(try step.install(setup))
      return
    }
    #expect(throws: CommandFailure.self) { try step.install(setup) }
    guard case .blocked = step.state(setup) else {
      Issue.record("\(step.state(setup))")
      return
    }
    #expect(try text(".bazelrc") == before)
  }

  @Test func `cargo's key goes into the user's own table, and out of it again`() throws {
    _ = try PrivateDirectory(scratch.file(".cargo"), create: true)
    let step = try #require(try ToolSetup.named("cargo").steps([], setup).last)
    let other = "[source.mine]\nregistry = \"https://a.example\"\n[registries.b]\nregistry.c = 1\n"
    for before in ["[registry] # mine\ndefault = \"x\"\n", other + "[registry]"] {
      try scratch.write(before, to: ".cargo/config.toml")
      #expect(step.text.contains("in its [registry]:\n  global-credential-providers"))
      #expect(try step.install(setup) && !step.install(setup) && step.state(setup) == .installed)
      let written = try text(".cargo/config.toml")
      #expect(written.components(of: "[registry]") == 1, "\(written)")
      #expect(written.contains("\n# authbroker: begin (made by authbroker helper install)\nglobal-"), "\(written)")
      for block in BlockStep.installed(in: scratch.file(".cargo/config.toml")) { #expect(try block.remove(setup)) }
      #expect(try text(".cargo/config.toml") == before)
    }
    try scratch.write("a = \"\"\"\n[registry]\n\"\"\"\n", to: ".cargo/config.toml")
    #expect(try step.install(setup))
    #expect(try text(".cargo/config.toml").contains("\n[registry]\nglobal-credential-providers"))
    for own in ["[ registry ]\ndefault = 1\nglobal-credential-providers = []\n", "registry = {}\n", "registry.a = 1\n"]
    {
      try scratch.write(own, to: ".cargo/config.toml")
      #expect(throws: CommandFailure.self) { try step.install(setup) }
    }
  }

  @Test func `a path that a tool's configuration holds whole need not be on the PATH`() throws {
    for name in ["bazel", "cargo"] {
      let tool = try ToolSetup.named(name)
      guard case .run(let program, _, _, _)? = tool.probe(Target(url: "https://a.example", profile: .default), setup)
      else {
        Issue.record("\(name)")
        continue
      }
      #expect(PathName.isAbsolute(program) && tool.steps([], setup).first?.text.contains("PATH") == false)
    }
  }
}
