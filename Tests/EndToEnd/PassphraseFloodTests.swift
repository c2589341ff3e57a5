import JSON
import TestSupport
import Testing

/// The user's passphrase beside a program that guesses it.
@Suite(.standardTimeLimit) struct PassphraseFloodTests {
  private static let wrong = Array(
    #"{"jsonrpc":"2.0","id":1,"method":"unlock","params":{"passphrase":"a wrong passphrase"}}"#.utf8)

  @Test func `a program that connects again for each guess does not keep the user out`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(#"{ vault: { keySource: "passphrase" } }"#)
      func unlock() throws -> Sandbox.Outcome {
        try sandbox.run(
          BuiltPrograms.command, ["--state", sandbox.state] + options + ["unlock", "--password-stdin"],
          input: "a right passphrase\n")
      }
      #expect(try unlock().code == 0)
      #expect(try sandbox.command("lock").code == 0)
      func guess() throws -> SocketWire {
        let wire = try SocketWire(sandbox.socket)
        try wire.send(Self.wrong)
        return wire
      }
      #expect(try guess().nextNode()["error"] != nil)
      let guessers = try (0..<65).map { _ in try guess() }
      let right = try unlock()
      #expect(right.code == 0, "\(right.errors)")
      // Those that had not had their turn were told that the vault is open.
      let refused = try guessers.count { try $0.nextNode()["error"] != nil }
      #expect(refused < 20, "\(refused)")
    }
  }
}
