import Glibc
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct StatePathsTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var options = StatePaths.Options()
    var environment: [String: String] = [:]
    var state: String
    var socket: String
    var configuration: String?
    var isChosen = false
    var vaultKey: String?
    var testDescription: String { name }
  }

  static let home = ["HOME": "/home/ada"]
  /// Stands for the directory of a login session, which is this user's alone.
  static let session = "/session"
  static let cases = [
    Case(
      name: "home alone", environment: home, state: "/home/ada/.local/state/authbroker",
      socket: "/home/ada/.local/state/authbroker/run/broker.sock",
      configuration: "/home/ada/.config/authbroker/config.json",
      vaultKey: "/home/ada/.local/share/authbroker/vault.key"),
    Case(
      name: "all XDG directories",
      environment: [
        "XDG_STATE_HOME": "/x/state", "XDG_CONFIG_HOME": "/x/config", "XDG_DATA_HOME": "/x/data",
        "XDG_RUNTIME_DIR": session,
      ],
      state: "/x/state/authbroker", socket: session + "/authbroker/broker.sock",
      configuration: "/x/config/authbroker/config.json", vaultKey: "/x/data/authbroker/vault.key"),
    Case(
      name: "relative and empty XDG directories are ignored",
      environment: home.merging(["XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "", "XDG_RUNTIME_DIR": "run"]) { $1 },
      state: "/home/ada/.local/state/authbroker", socket: "/home/ada/.local/state/authbroker/run/broker.sock",
      configuration: "/home/ada/.config/authbroker/config.json",
      vaultKey: "/home/ada/.local/share/authbroker/vault.key"),
    Case(
      name: "a chosen state directory keeps its socket and key", options: .init(state: "/s"),
      environment: home.merging(["XDG_RUNTIME_DIR": session]) { $1 },
      state: "/s", socket: "/s/run/broker.sock", configuration: "/home/ada/.config/authbroker/config.json",
      vaultKey: "/s/vault.key"),
    Case(
      name: "naming the default state directory changes nothing",
      options: .init(state: "/home/ada/.local/state/authbroker/"),
      environment: home.merging(["XDG_RUNTIME_DIR": session]) { $1 },
      state: "/home/ada/.local/state/authbroker", socket: session + "/authbroker/broker.sock",
      configuration: "/home/ada/.config/authbroker/config.json",
      vaultKey: "/home/ada/.local/share/authbroker/vault.key"),
    Case(
      name: "the environment chooses", environment: ["AUTHBROKER_STATE": "/e", "AUTHBROKER_CONFIG": "/c.json"],
      state: "/e", socket: "/e/run/broker.sock", configuration: "/c.json", isChosen: true, vaultKey: "/e/vault.key"),
    Case(
      name: "options win, and begin at the working directory",
      options: .init(state: "../s", socket: "b.sock", configuration: "c.json"),
      environment: ["AUTHBROKER_STATE": "/e", "AUTHBROKER_CONFIG": "/c.json"],
      state: "/project/s", socket: "/project/dir/b.sock", configuration: "/project/dir/c.json", isChosen: true,
      vaultKey: "/project/s/vault.key"),
    Case(
      name: "without a home a chosen state directory is enough", options: .init(state: "/s"), state: "/s",
      socket: "/s/run/broker.sock", vaultKey: "/s/vault.key"),
  ]

  @Test(arguments: cases)
  func `paths follow from options and environment`(_ example: Case) throws {
    let scratch = Scratch()
    let environment = example.environment.mapValues { $0 == Self.session ? scratch.path : $0 }
    let paths = try StatePaths(
      example.options, environment: EnvironmentVariables(environment), workingDirectory: "/project/dir")
    #expect(paths.state == example.state)
    #expect(paths.socket == example.socket.replacing(Self.session, with: scratch.path))
    #expect(paths.configuration == example.configuration)
    #expect(paths.isConfigurationChosen == example.isChosen)
    #expect(paths.vaultKey == example.vaultKey)
    #expect(paths.ownerLock == example.state + "/broker.lock")
    #expect(paths.log == example.state + "/broker.log")
  }

  @Test func `a directory of a login session is used while it is there and this user's alone`() throws {
    let scratch = Scratch()
    let paths = try StatePaths(
      .init(), environment: ["HOME": "/home/ada", "XDG_RUNTIME_DIR": scratch.file("7")], workingDirectory: "/")
    #expect(paths.socket == paths.ownSocket)
    mkdir(scratch.file("7"), 0o700)
    #expect(paths.socket == scratch.file("7/authbroker/broker.sock"))
    chmod(scratch.file("7"), 0o755)
    #expect(paths.socket == paths.ownSocket)
    chmod(scratch.file("7"), 0o700)
    if geteuid() == 0 {
      chown(scratch.file("7"), 1, 0)
      #expect(paths.socket == paths.ownSocket)
    }
  }

  @Test func `the working directory is asked for where a choice is relative, and only there`() throws {
    var asked = 0
    func workingDirectory() -> String {
      asked += 1
      return "/here"
    }
    let absolute = try StatePaths(
      .init(state: "/s/", socket: "/s/./sock"), environment: ["HOME": "/home/ada"], workingDirectory: workingDirectory()
    )
    #expect(absolute.state == "/s" && absolute.socket == "/s/sock" && asked == 0)
    let relative = try StatePaths(.init(state: "s"), environment: [:], workingDirectory: workingDirectory())
    #expect(relative.state == "/here/s" && asked == 1)
  }

  @Test(arguments: ["AUTHBROKER_STATE", "AUTHBROKER_CONFIG", "AUTHBROKER_SOCKET"], ["state", "./state", "../state"])
  func `a variable that means another file in each directory is refused by its name`(name: String, value: String) {
    #expect(throws: StatePaths.Refusal.relative(variable: name, value: value)) {
      try StatePaths(.init(state: "/s"), environment: [name: value], workingDirectory: "/project/dir")
    }
    #expect(
      StatePaths.Refusal.relative(variable: name, value: value).description.hasPrefix("\(name) must be an absolute"))
  }

  @Test(arguments: [[:], ["HOME": ""], ["HOME": "relative"], ["AUTHBROKER_STATE": ""]])
  func `without a home the error names the option`(environment: [String: String]) {
    #expect(throws: StatePaths.Refusal.noHome) {
      try StatePaths(
        .init(), environment: EnvironmentVariables(environment), workingDirectory: "/")
    }
    #expect(StatePaths.Refusal.noHome.description.contains("--state"))
  }
}
