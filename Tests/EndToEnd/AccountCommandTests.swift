import JSON
import TestSupport
import Testing

/// `account` and `local` with a real broker and its embedded provider.
@Suite(.standardTimeLimit) struct AccountCommandTests {
  private static let first = "example password 1"
  private static let second = "example password 2"
  private static let third = "example password 3"

  private static func register(_ sandbox: Sandbox, _ options: String...) throws -> Sandbox.Outcome {
    try sandbox.run(
      BuiltPrograms.command,
      ["--state", sandbox.state, "register", "--email", "ada@example.com", "--password-stdin"] + options,
      input: first + "\n")
  }

  /// A member of the newest message that has it, as the owner reads it, as soon as there is one.
  private static func newest(_ member: String, _ sandbox: Sandbox) throws -> String {
    var newest: String?
    _ = try Patience.wait {
      let outbox = try sandbox.command("local", "outbox", "--json")
      let messages = try JSONDocument(parsing: Array(outbox.output.utf8)).root.required("messages").elements()
      newest = try messages.compactMap { try $0[member]?.string() }.last
      return newest != nil
    }
    return try #require(newest)
  }

  private static func login(_ sandbox: Sandbox, _ password: String) throws -> Sandbox.Outcome {
    try sandbox.command("login", "--email", "ada@example.com", "--password-stdin", input: password + "\n")
  }

  @Test func `a code that was sent nowhere is found, and a backup code does as well`() async throws {
    try await Sandbox.run { sandbox in
      let register = try Self.register(sandbox, "--phone", "+491511234567")
      #expect(register.code == 3 && register.errors.contains(" local outbox\n"), "\(register.errors)")
      #expect(register.errors.contains("lies in the outbox, as an SMS to "), "\(register.errors)")
      #expect(!register.errors.contains("sent a "), "\(register.errors)")
      let code = try Self.newest("code", sandbox)
      #expect(try sandbox.command("local", "outbox").output.contains(code))
      #expect(try sandbox.command("verify-otp", "--code-stdin", input: code + "\n").code == 0)
      #expect(try sandbox.command("local", "outbox").errors == "authbroker: the outbox is empty\n")
      let made = try sandbox.command("account", "backup-codes", "--password-stdin", input: Self.first + "\n")
      let codes = made.output.split(separator: "\n")
      #expect(made.code == 0 && codes.count == 10, "\(made.errors)")
      #expect(try Self.login(sandbox, Self.first).code == 3)
      let used = try sandbox.command("verify-otp", "--code-stdin", input: "\(codes[0])\n")
      #expect(used.code == 0 && used.errors.contains("9 backup codes left"), "\(used.errors)")
    }
  }

  @Test func `the owner sees an account and its sessions, revokes them, and disables it`() async throws {
    try await Sandbox.run { sandbox in
      #expect(try Self.register(sandbox).code == 0)
      #expect(try sandbox.command("local", "users").output.contains("ada@example.com"))
      #expect(try sandbox.command("local", "sessions", "ada@example.com").output.split(separator: "\n").count == 2)
      let revoked = try sandbox.command("local", "revoke", "ada@example.com")
      #expect(revoked.errors == "authbroker: revoked 1 session\n", "\(revoked.errors)")
      #expect(try sandbox.command("token").code == 3)
      #expect(try sandbox.command("local", "disable", "ada@example.com").code == 0)
      #expect(try Self.login(sandbox, Self.first).code == 4)
      #expect(try sandbox.command("local", "enable", "ada@example.com").code == 0)
      #expect(try Self.login(sandbox, Self.first).code == 0)
      let added = try sandbox.command(
        "local", "add", "--email", "bob@example.com", "--password-stdin", input: Self.second + "\n")
      #expect(added.code == 0, "\(added.errors)")
      let unknown = try sandbox.command("local", "disable", "eve@example.com")
      #expect(unknown.code == 1 && unknown.errors.contains("no account here"), "\(unknown.errors)")
      let audit = try sandbox.command("local", "audit", "--limit", "3")
      #expect(audit.code == 0 && audit.output.split(separator: "\n").count == 4, "\(audit.output)\(audit.errors)")
    }
  }

  @Test func `a forgotten password is set again, the account changed, and at last deleted`() async throws {
    try await Sandbox.run { sandbox in
      #expect(try Self.register(sandbox).code == 0)
      #expect(try sandbox.command("account", "forgot", "--email", "ada@example.com").code == 0)
      let token = try Self.newest("token", sandbox)
      let reset = "\(token)\n\(Self.second)\n"
      #expect(try sandbox.command("account", "reset", "--token-stdin", "--password-stdin", input: reset).code == 0)
      let again = try sandbox.command("account", "reset", "--token-stdin", "--password-stdin", input: reset)
      #expect(again.code == 1 && again.errors.contains("was used before"), "\(again.errors)")
      #expect(try sandbox.command("status", "--profile", "default").code == 3)
      #expect(try Self.login(sandbox, Self.second).code == 0)
      let passwords = "\(Self.second)\n\(Self.third)\n"
      #expect(try sandbox.command("account", "password", "--password-stdin", input: passwords).code == 0)
      let moved = try sandbox.command(
        "account", "email", "new@example.com", "--password-stdin", input: Self.third + "\n")
      #expect(moved.code == 0 && moved.output.contains("new@example.com (not verified)"), "\(moved.errors)")
      let deleted = try sandbox.command("account", "delete", "--password-stdin", input: Self.third + "\n")
      #expect(deleted.code == 0, "\(deleted.errors)")
      #expect(try sandbox.command("local", "users").errors.contains("no account exists here yet"))
    }
  }

  @Test func `an address is verified by the token that was mailed to it`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner(try sandbox.configure(#"{ local: { emailVerification: "required" } }"#))
      let registered = try Self.register(sandbox)
      #expect(registered.errors.contains("account verify-email"), "\(registered.errors)")
      #expect(try Self.login(sandbox, Self.first).code != 0)
      let token = try Self.newest("token", sandbox) + "\n"
      #expect(try sandbox.command("account", "verify-email", "--token-stdin", input: token).code == 0)
      #expect(try Self.login(sandbox, Self.first).code == 0)
      #expect(try sandbox.command("account", "show").output.contains("ada@example.com (verified)"))
    }
  }

  @Test func `a token is good until it is revoked, whichever key has signed it`() async throws {
    try await Sandbox.run { sandbox in
      #expect(try Self.register(sandbox).code == 0)
      let token = try sandbox.command("token").output
      #expect(try sandbox.command("local", "rotate-key").errors.contains("2 keys verify"))
      let keys = try JSONDocument(parsing: Array(try sandbox.command("local", "jwks").output.utf8)).root
      #expect(try keys.required("keys").elements().count == 2)
      for good in [token, try sandbox.command("token", "--force-refresh").output] {
        let told = try sandbox.command("local", "introspect", "--token-stdin", input: good)
        #expect(told.code == 0 && told.output.contains("session"), "\(told.errors)")
      }
      #expect(try sandbox.command("local", "revoke", "ada@example.com").code == 0)
      #expect(try sandbox.command("local", "introspect", "--token-stdin", input: token).code == 4)
    }
  }
}
