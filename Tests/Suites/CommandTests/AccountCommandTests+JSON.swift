import TestSupport
import Testing

@testable import authbroker

/// What the commands of an account print for programs.
extension AccountCommandTests {
  @Test(arguments: [
    ["password", "--password-stdin"], ["delete", "--password-stdin"], ["forgot", "--email", "a@b.c"],
    ["verify-email", "--token-stdin"], ["reset", "--token-stdin", "--password-stdin"],
  ])
  func `with --json what gives nothing prints an empty object, and no words`(words: [String]) throws {
    try withExtendedLifetime(owner()) {
      let run = try CommandRun(["account"] + words + ["--json"], in: scratch, input: "right\nnew one\n")
      #expect(run.code == 0 && run.output == "{}\n" && run.errors.isEmpty, "\(run.output)\(run.errors)")
    }
  }
}
