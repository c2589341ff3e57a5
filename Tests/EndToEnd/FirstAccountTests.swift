import JSON
import LinuxSystem
import TestSupport
import Testing

/// The first commands of a new user, in a home where nothing is.
@Suite(.standardTimeLimit) struct FirstAccountTests {
  private static let login = ["login", "--email", "ada@example.com", "--password-stdin"]

  @Test(arguments: [(["token"], 3), (["header"], 3), (login, 4)] as [([String], Int32)])
  func `in an empty home the command is named that makes an account, and after it all goes well`(
    words: [String], code: Int32
  ) async throws {
    try await Sandbox.run { sandbox in
      #expect(Directory.names(in: sandbox.root + "/home").isEmpty)
      func command(_ words: [String]) throws -> Sandbox.Outcome {
        try sandbox.run(BuiltPrograms.command, words, input: "example password 1\n")
      }
      let first = try command(words)
      #expect(first.code == code && first.output.isEmpty, "\(first.output)\(first.errors)")
      let advice = "authbroker: no account exists here yet; create one with: authbroker register\n"
      #expect(first.errors.hasSuffix(advice), "\(first.errors)")
      let registered = try command(["register", "--email", "ada@example.com", "--password-stdin"])
      #expect(registered.code == 0, "\(registered.errors)")
      let second = try command(words)
      #expect(second.code == 0 && !second.errors.contains("no account"), "\(second.errors)")
    }
  }

  @Test(
    arguments: [
      (["status"], 0), (["sessions"], 0), (["profiles"], 0), (["logout"], 0), (["whoami"], 3),
      (["account", "show"], 3), (["verify-otp"], 3),
      (["account", "update", "--name", "Ada"], 3), (["account", "password", "--password-stdin"], 3),
      (["account", "forgot", "--email", "ada@example.com"], 3), (["account", "reset", "--token-stdin"], 3),
      (["account", "verify-email", "--token-stdin"], 3), (["account", "2fa", "totp"], 3),
      (["account", "backup-codes"], 3), (["account", "delete", "--password-stdin"], 3),
      (["watch", "--timeout", "1"], 5), (["doctor"], 0), (["provider-check"], 0),
    ] as [([String], Int32)])
  func `every command names what makes an account where there is none`(words: [String], code: Int32) async throws {
    try await Sandbox.run { sandbox in
      let run = try sandbox.run(BuiltPrograms.command, words, input: "made up\nmade up\n")
      #expect(run.code == code, "\(run.output)\(run.errors)")
      let said = run.output + run.errors
      #expect(said.contains("create one with: authbroker register\n"), "\(said)")
      // In JSON there is no sentence.
      let json = try sandbox.run(BuiltPrograms.command, ["whoami", "--json"])
      #expect(json.code == 3 && json.output == "{\"users\":[]}\n" && json.errors.isEmpty, "\(json.output)")
    }
  }

  @Test func `where there is an account nothing is said of a first one`() async throws {
    try await Sandbox.run { sandbox in
      func command(_ words: [String], input: String = "example password 1\n") throws -> Sandbox.Outcome {
        try sandbox.run(BuiltPrograms.command, words, input: input)
      }
      #expect(try command(["register", "--email", "ada@example.com", "--password-stdin"]).code == 0)
      let wrong = try command(Self.login, input: "not the password\n")
      #expect(wrong.code == 4 && !wrong.errors.contains("register"), "\(wrong.errors)")
      #expect(try command(["logout"]).code == 0)
      let token = try command(["token"])
      #expect(token.code == 3 && !token.errors.contains("register"), "\(token.errors)")
    }
  }
}
