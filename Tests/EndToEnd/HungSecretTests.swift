import Glibc
import JSON
import TestSupport
import Testing

/// A program for the secret of one profile that hangs leaves the other profiles theirs.
@Suite(.standardTimeLimit) struct HungSecretTests {
  /// Two profiles, of which the command of the first one hangs once it has left a file.
  private static func configure(_ sandbox: Sandbox, _ backend: OIDCBackend) throws -> [String] {
    let (program, secret) = (sandbox.root + "/hangs", sandbox.root + "/client-secret")
    try Directory.write("#!/bin/sh\n: >'\(sandbox.root)/begun'\nexec sleep 60\n", to: program)
    #expect(chmod(program, 0o700) == 0)
    try Directory.write(backend.clientSecret, to: secret)
    let secrets = [
      ("hung", #"command: ["\#(program)"]"#), ("command", #"command: ["cat", "\#(secret)"]"#),
      ("file", #"file: "\#(secret)""#),
    ]
    let profiles = secrets.map { name, place in
      """
      \(name): { provider: "oidc", issuer: "\(backend.issuer)", clientId: "machine", clientSecret: { \(place) },
                 clientAuth: "basic", grant: "clientCredentials", scopes: ["read"] }
      """
    }
    return try sandbox.configure("{ profiles: { \(profiles.joined(separator: ", ")) } }")
  }

  @Test func `while the command of one profile hangs, the others have their tokens`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner(try Self.configure(sandbox, try OIDCBackend(sandbox)))
      let (hung, others) = (try SocketWire(sandbox.socket), try SocketWire(sandbox.socket))
      try hung.send(
        Array(#"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"profile":"hung"}}"#.utf8))
      #expect(Patience.wait { Directory.names(in: sandbox.root).contains("begun") })
      for profile in ["command", "file"] {
        let token = try others.call("getAccessToken", #"{"profile":"\#(profile)"}"#)
        #expect(try token.required("profile").string() == profile)
      }
      #expect(try !hung.hasMore(), "the command hangs to its limit, or to the end of the broker")
      #expect(try sandbox.command("stop").code == 0)
      #expect(try owner.wait() == 0)
    }
  }
}
