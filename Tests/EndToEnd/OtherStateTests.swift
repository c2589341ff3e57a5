import LinuxSystem
import TestSupport
import Testing

/// Two homes of one user share the runtime directory, and so the usual socket, which one broker alone can have.
@Suite(.standardTimeLimit) struct OtherStateTests {
  @Test func `the broker of another state directory is not talked to, and both are named`() async throws {
    try await Sandbox.run { sandbox in
      let first = try sandbox.run(BuiltPrograms.command, ["status"])
      #expect(first.code == 0, "\(first.errors)")
      let other = ["XDG_STATE_HOME": sandbox.root + "/other"]
      for words in [
        ["status"], ["status", "--no-start"], ["token"], ["logout"], ["lock"], ["stop"], ["connect"], ["serve"],
      ] {
        let run = try sandbox.run(BuiltPrograms.command, words, environment: other)
        #expect(run.code == 1 && run.output.isEmpty, "\(words): \(run.errors)")
        let root = sandbox.root
        let served = "serves the state directory \(root)/home/state/authbroker, not \(root)/other/authbroker"
        #expect(run.errors.contains(served), "\(words): \(run.errors)")
      }
      let doctor = try sandbox.run(BuiltPrograms.command, ["doctor", "--no-network"], environment: other)
      #expect(doctor.output.contains("serves the state directory") && !doctor.output.contains("has it open"))
      let still = try sandbox.run(BuiltPrograms.command, ["status", "--no-start"])
      #expect(still.code == 0, "\(still.errors)")
    }
  }

  @Test func `with a socket of its own, the other state directory has a broker that is found`() async throws {
    try await Sandbox.run { sandbox in
      #expect(try sandbox.run(BuiltPrograms.command, ["status"]).code == 0)
      let other = ["XDG_STATE_HOME": sandbox.root + "/other"]
      let path = sandbox.root + "/own/broker.sock"
      let started = try sandbox.run(BuiltPrograms.command, ["--socket", path, "status"], environment: other)
      #expect(started.code == 0, "\(started.errors)")
      let found = try sandbox.run(BuiltPrograms.command, ["sockpath"], environment: other)
      #expect(found.output == path + "\n", "\(found.errors)")
      #expect(try sandbox.run(BuiltPrograms.command, ["stop"], environment: other).code == 0)
      #expect(try sandbox.run(BuiltPrograms.command, ["status", "--no-start"]).code == 0)
    }
  }

  @Test func `a broker to which nothing can be proven is stopped by a signal`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      let words = ["--state", sandbox.root + "/other"]
      let named = ["AUTHBROKER_SOCKET": sandbox.socket]
      #expect(try sandbox.run(BuiltPrograms.command, words + ["lock"], environment: named).code == 6)
      let stop = try sandbox.run(BuiltPrograms.command, words + ["stop"], environment: named)
      #expect(stop.code == 0 && stop.errors == "authbroker: the broker has stopped\n", "\(stop.errors)")
      #expect(try owner.wait() == 0)
    }
  }
}
