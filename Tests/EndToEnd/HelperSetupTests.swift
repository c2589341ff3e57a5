import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// Tools whose configuration the command writes, checks and takes back.
@Suite(.standardTimeLimit) struct HelperSetupTests {
  private static let configuration =
    #"{ profiles: { default: { provider: "local" } }, targets: { "https://git.example.com/acme": "default", "#
    + #""https://registry.example.com": { profile: "default", username: "oauth2accesstoken", scheme: "Basic" } } }"#

  /// A copy of the command in a directory of the sandbox, where it may make its other names.
  private struct Installed {
    let sandbox: Sandbox
    let bin: String

    init(_ sandbox: Sandbox) throws {
      self.sandbox = sandbox
      bin = sandbox.root + "/bin"
      _ = try PrivateDirectory(bin, create: true)
      let copy = try sandbox.run("/bin/cp", [BuiltPrograms.command, bin + "/authbroker"])
      guard copy.code == 0 else { throw TestFailure(copy.errors) }
      sandbox.environment["PATH"] = "\(bin):/usr/local/bin:/usr/bin:/bin"
      sandbox.environment["AUTHBROKER_STATE"] = sandbox.state
      sandbox.environment["GIT_CONFIG_NOSYSTEM"] = "1"
      let options = try sandbox.configure(HelperSetupTests.configuration)
      sandbox.environment["AUTHBROKER_CONFIG"] = options[1]
      _ = try sandbox.owner(options)
      try SocketWire(sandbox.socket).register()
    }

    func run(_ arguments: String...) throws -> Sandbox.Outcome {
      try sandbox.run(bin + "/authbroker", arguments)
    }

    func write(_ text: String, _ name: String) throws -> String {
      let path = "\(sandbox.root)/home/\(name)"
      _ = try PrivateDirectory(PathName.directory(of: path), create: true)
      try Directory.write(text, to: path)
      return path
    }
  }

  private static func text(_ path: String) throws -> String {
    String(decoding: try Directory.bytes(of: path), as: UTF8.self)
  }

  @Test func `git gets the token by its own call, and its configuration back as it was`() async throws {
    try await Sandbox.run { sandbox in
      let installed = try Installed(sandbox)
      let before = "[user]\n\tname = Ada\n[credential]\n\thelper = store\n"
      let path = try installed.write(before, ".gitconfig")
      let missing = try installed.run("doctor", "--tool", "git")
      #expect(missing.code == 1 && missing.output.contains("store (\(path))"), "\(missing.output)\(missing.errors)")
      for _ in 0..<2 { #expect(try installed.run("helper", "install", "git").code == 0) }
      let values = try Self.text(path).split(separator: "\n").filter { $0.contains("git-credential-authbroker") }
      let written = try Self.text(path)
      #expect(values.count == 2, "\(written)")
      #expect(try Self.text(path).contains("useHttpPath = true"))
      let examined = try installed.run("doctor", "--tool", "git", "--json")
      #expect(examined.code == 0, "\(examined.output)")
      let token = try SocketWire(sandbox.socket).accessToken()
      #expect(!examined.output.contains(token))
      let findings = try JSONDocument(parsing: Array(examined.output.utf8)).root.required("findings").elements()
      let answers = try findings.filter { try $0["check"]?.string() == "tool.answer" }
      let statuses = try answers.map { try $0["status"]?.string() }
      #expect(statuses == ["ok", "ok"])
      #expect(try installed.run("helper", "list", "git").output.contains("installed"))
      #expect(try installed.run("helper", "remove", "git").code == 0)
      #expect(try Self.text(path) == before)
      #expect(Directory.names(in: installed.bin) == ["authbroker"])
    }
  }

  @Test func `docker's file keeps every other byte, and one that cannot be read is left alone`() async throws {
    try await Sandbox.run { sandbox in
      let installed = try Installed(sandbox)
      let before = "{\n\t\"auths\": {\n\t\t\"x.example.com\": {}\n\t},\n\t\"psFormat\" : \"a\\u0062\"\n}\n"
      let path = try installed.write(before, ".docker/config.json")
      #expect(try installed.run("helper", "install", "docker").code == 0)
      let after = try JSONDocument(parsing: Directory.bytes(of: path)).root
      #expect(try after["credHelpers"]?["registry.example.com"]?.string() == "authbroker")
      let examined = try installed.run("doctor", "--tool", "docker")
      #expect(examined.code == 0, "\(examined.output)")
      #expect(try installed.run("helper", "remove", "docker").code == 0)
      #expect(try Self.text(path) == before)
      for other in ["{ // mine\n}", "[]", #"{"credHelpers":{"registry.example.com":"pass"}}"#] {
        try Directory.write(other, to: path)
        let refused = try installed.run("helper", "install", "docker")
        #expect(refused.code == 1 && refused.output.contains(#""credHelpers""#), "\(refused.errors)")
        #expect(try Self.text(path) == other)
        #expect(try installed.run("helper", "remove", "docker").code != 2)
        #expect(try Self.text(path) == other)
      }
    }
  }

  @Test(arguments: [("cargo", ".cargo/config.toml", "[build]\njobs = 2\n"), ("bazel", ".bazelrc", "build -k")])
  func `lines between marks come and go`(tool: String, name: String, before: String) async throws {
    try await Sandbox.run { sandbox in
      let installed = try Installed(sandbox)
      let path = try installed.write(before, name)
      for _ in 0..<2 { #expect(try installed.run("helper", "install", tool).code == 0) }
      let text = try Self.text(path)
      #expect(text.hasPrefix(before) && text.split(separator: "# authbroker: begin").count == 2, "\(text)")
      let examined = try installed.run("doctor", "--tool", tool)
      #expect(examined.code == 0, "\(examined.output)")
      let removed = try installed.run("helper", "remove", tool, "--json")
      #expect(removed.code == 0 && !removed.output.contains("reason"), "\(removed.output)")
      #expect(try Self.text(path).trimmingNewline() == before.trimmingNewline())
      let again = try installed.run("helper", "remove", tool, "--json")
      let object = #"{"tool":"\#(tool)","removed":0,"reason":"nothing of authbroker's is in \#(tool)'s configuration"}"#
      #expect(again.code == 0 && again.output == object + "\n", "\(again.output)")
    }
  }

  @Test func `a helper with one profile for every server is warned of`() async throws {
    try await Sandbox.run { sandbox in
      let installed = try Installed(sandbox)
      let path = try installed.write("[credential]\n\thelper = authbroker --profile default\n", ".gitconfig")
      let sentence = "credential.helper in \(path) runs the helper with --profile"
      let list = try installed.run("helper", "list")
      #expect(list.code == 0 && list.errors.contains(sentence), "\(list.errors)")
      let json = try installed.run("helper", "list", "git", "--json")
      #expect(
        json.output.contains(#""warnings":["\#(sentence)"#) && json.errors.isEmpty, "\(json.output)\(json.errors)")
      for words in [["doctor", "--no-network", "--quick"], ["doctor", "--tool", "git"]] {
        let found = try sandbox.run(installed.bin + "/authbroker", words).output
        #expect(found.contains("warning  ") && found.contains(sentence), "\(found)")
        #expect(found.contains("authbroker target add URL"), "\(found)")
      }
    }
  }

  @Test func `an entry of the user's own is never contradicted`() async throws {
    try await Sandbox.run { sandbox in
      let installed = try Installed(sandbox)
      let before = "[registry]\nglobal-credential-providers = [\"cargo:libsecret\"]\n"
      let path = try installed.write(before, ".cargo/config.toml")
      let refused = try installed.run("helper", "install", "cargo")
      #expect(refused.code == 1 && refused.errors.contains("has an entry global-credential-providers of its own"))
      #expect(refused.output.contains("cargo-credential-authbroker"))
      #expect(try Self.text(path) == before)
    }
  }

  @Test(arguments: ["kubectl", "cargo", "pip", "curl", "go", "bazel", "terraform"])
  func `every tool's call gives the token, and after the logout the exit code of a login`(tool: String) async throws {
    try await Sandbox.run { sandbox in
      let installed = try Installed(sandbox)
      sandbox.environment["PATH"] =
        "\(sandbox.root)/home/data/authbroker/shims:" + (sandbox.environment["PATH"] ?? "")
      #expect(try installed.run("helper", "install", tool).code == 0)
      let good = try installed.run("doctor", "--tool", tool)
      #expect(good.code == 0 && good.output.contains("the token of default"), "\(good.output)")
      #expect(try sandbox.command("logout").code == 0)
      let bad = try installed.run("doctor", "--tool", tool)
      #expect(bad.code == 3 && bad.output.contains("login"), "\(bad.output)")
    }
  }

  @Test func `what was installed and is not found is not advised again`() async throws {
    try await Sandbox.run { sandbox in
      let installed = try Installed(sandbox)
      #expect(try installed.run("helper", "install", "pip").code == 0)
      let hidden = try installed.run("doctor", "--tool", "pip")
      let shims = "\(sandbox.root)/home/data/authbroker/shims"
      #expect(hidden.code == 1 && hidden.output.contains("export PATH=\(shims):\"$PATH\""), "\(hidden.output)")
      #expect(!hidden.output.contains("helper install pip"), "\(hidden.output)")
      // A keyring of another kind in front of it.
      try Directory.write("#!/bin/sh\nexit 1\n", to: "\(installed.bin)/keyring")
      #expect(chmod("\(installed.bin)/keyring", 0o755) == 0)
      sandbox.environment["PATH"] = (sandbox.environment["PATH"] ?? "") + ":" + shims
      let other = try installed.run("doctor", "--tool", "pip")
      #expect(other.output.contains("\(installed.bin)/keyring is found instead"), "\(other.output)")
    }
  }

  @Test func `a token file is checked for the cloud that reads it`() async throws {
    try await Sandbox.run { sandbox in
      let installed = try Installed(sandbox)
      let none = try installed.run("doctor", "--tool", "aws")
      #expect(none.code == 1 && none.output.contains("AWS_WEB_IDENTITY_TOKEN_FILE names no file"), "\(none.output)")
      sandbox.environment["AWS_WEB_IDENTITY_TOKEN_FILE"] = try installed.write("other", "aws-token")
      #expect(chmod("\(sandbox.root)/home/aws-token", 0o644) == 0)
      #expect(try installed.run("doctor", "--tool", "aws").output.contains("is open to others"))
    }
  }
}

extension String {
  /// Without the end of its last line.
  fileprivate func trimmingNewline() -> String { hasSuffix("\n") ? String(dropLast()) : self }
}
