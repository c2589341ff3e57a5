import BrokerProtocol
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// Tools whose configuration runs a helper with `--profile` for every server.
@Suite(.standardTimeLimit) struct UnboundHelperTests {
  private let scratch = Scratch()

  private func found(_ tool: String, _ variables: [String: String] = [:]) throws -> [UnboundHelper] {
    let environment = ["PATH": "/usr/bin:/bin", "HOME": scratch.path, "GIT_CONFIG_NOSYSTEM": "1"]
      .merging(variables) { $1 }
    let setup = SetupContext(environment: environment, home: scratch.path, program: scratch.file("authbroker"))
    return try ToolSetup.named(tool).unboundHelpers(setup)
  }

  @Test(arguments: [
    ("git", ".gitconfig", "[credential]\n\thelper = authbroker --profile work\n", "credential.helper"),
    ("git", ".gitconfig", "[credential]\n\thelper = !/opt/git-credential-authbroker -p work\n", "credential.helper"),
    (
      "git", ".gitconfig", "[credential \"https://*.example.com\"]\n\thelper = authbroker -pwork\n",
      "credential.https://*.example.com.helper"
    ),
    (
      "cargo", ".cargo/config.toml",
      "[registry]\nglobal-credential-providers = [\"cargo:token\",\n  \"cargo-credential-authbroker --profile work\"]\n",
      "global-credential-providers"
    ),
    (
      "cargo", ".cargo/config.toml",
      "[registry]\nglobal-credential-providers = [\"mine\"]\n[credential-alias]\nother = \"x\"\n"
        + "mine = [\n\"cargo-credential-authbroker\", \"--profile=work\"]\n",
      "global-credential-providers"
    ),
    (
      "terraform", ".terraformrc", "credentials_helper \"authbroker\" {\n  args = [\"--profile\", \"work\"]\n}\n",
      "credentials_helper"
    ),
    ("go", ".config/go/env", "GOPROXY=direct\nGOAUTH=netrc; /opt/authbroker helper go -p work\n", "GOAUTH"),
    (
      "kubectl", ".kube/config",
      "users:\n- name: a\n  user:\n    exec:\n      command: authbroker\n      args:\n      - helper\n      - kubectl\n"
        + "      - --profile\n      - work\n      env: null\n",
      "args"
    ),
    (
      "kubectl", ".kube/config",
      "user:\n  exec:\n    command: authbroker\n    args: [--profile, work, helper, kubectl]\n",
      "args"
    ),
  ])
  func `a helper that has one profile for every server is found`(
    tool: String, file: String, text: String, setting: String
  ) throws {
    try DirectoryEntry.makeDirectories(PathName.directory(of: scratch.file(file)))
    try scratch.write(text, to: file)
    #expect(try found(tool) == [UnboundHelper(setting: setting, place: scratch.file(file))])
  }

  @Test(arguments: [
    ("git", ".gitconfig", "[credential \"https://a.example\"]\n\thelper = authbroker --profile work\n"),
    ("git", ".gitconfig", "[credential]\n\thelper = store --file -p\n\thelper = authbroker\n"),
    (
      "cargo", ".cargo/config.toml",
      "# global-credential-providers = [\"cargo-credential-authbroker --profile work\"]\n"
        + "[registry]\nglobal-credential-providers = [\"cargo-credential-authbroker\"]\n[registries.a]\n"
        + "credential-provider = [\"cargo-credential-authbroker\", \"--profile\", \"work\"]\n"
    ),
    (
      "terraform", ".terraformrc",
      "credentials_helper \"authbroker\" {\n  args = []\n}\nother { a = [\"--profile\"] }\n"
    ),
    ("terraform", ".terraformrc", "credentials_helper \"other\" {\n  args = [\"--profile\", \"work\"]\n}\n"),
    ("go", ".config/go/env", "GOAUTH=/opt/authbroker helper go\nGOFLAGS=-p=1\n"),
    (
      "kubectl", ".kube/config",
      "user:\n  exec:\n    command: aws\n    args: [eks, --profile, work]\n---\nuser:\n  exec:\n    args: [helper, kubectl]\n"
    ),
  ])
  func `a helper for one server, or without a profile, is none`(tool: String, file: String, text: String) throws {
    try DirectoryEntry.makeDirectories(PathName.directory(of: scratch.file(file)))
    try scratch.write(text, to: file)
    #expect(try found(tool).isEmpty)
  }

  @Test func `the variable of go is looked at before its file`() throws {
    try DirectoryEntry.makeDirectories(scratch.file(".config/go"))
    try scratch.write("GOAUTH=authbroker helper go --profile work\n", to: ".config/go/env")
    #expect(try found("go", ["GOAUTH": "authbroker helper go"]).isEmpty)
    let chosen = try found("go", ["GOAUTH": "authbroker helper go --profile work"])
    #expect(chosen.map { $0.place } == ["the environment"])
    let sentence = chosen.first?.message("go").text(for: try Arguments([], known: [])) ?? ""
    #expect(sentence.contains("every server that go asks it about") && sentence.contains("authbroker target add URL"))
  }

  @Test func `a tool without any configuration has none`() throws {
    for tool in ToolSetup.all { #expect(try found(tool.name).isEmpty) }
  }
}
