import JSON
import TestSupport
import Testing

/// A secret that cannot be read is named by its key and its place, whatever asks for it.
@Suite(.standardTimeLimit) struct UnreadableSecretTests {
  private static let oidc = #"provider: "oidc", issuer: "http://127.0.0.1:1", clientId: "example""#
  private static let token = #"endpoints: { token: "http://127.0.0.1:1/token" }, scopes: ["a"]"#

  @Test func `the key of the configuration and the place stand in the error`() async throws {
    try await Sandbox.run { sandbox in
      let (oidc, token, none) = (Self.oidc, Self.token, sandbox.root + "/none")
      let (file, command) = (#"{ file: "\#(none)" }"#, #"{ command: ["\#(none)"] }"#)
      let machine = #"grant: "clientCredentials", \#(token)"#
      // The settings of a profile, the error's kind, and the beginning of its sentence.
      let rows = [
        ("\(oidc), \(machine), clientSecret: \(file)", "configInvalid", "clientSecret in the file \(none)"),
        ("\(oidc), \(machine), clientSecret: \(command)", "configInvalid", "clientSecret of the command \(none)"),
        (
          #"\#(oidc), \#(machine), clientSecret: { env: "NO_SUCH_VARIABLE" }"#, "configInvalid",
          "clientSecret in the variable NO_SUCH_VARIABLE"
        ),
        ("\(oidc), \(machine), privateKey: \(file)", "missingCredential", "privateKey in the file \(none)"),
        (
          #"\#(oidc), \#(machine), privateKey: { env: "NO_SUCH_VARIABLE" }"#, "missingCredential",
          "privateKey in the variable NO_SUCH_VARIABLE"
        ),
        (
          "\(oidc), \(machine), clientAssertion: \(command)", "missingCredential",
          "clientAssertion of the command \(none)"
        ),
        ("\(oidc), \(machine), assertion: \(file)", "missingCredential", "assertion in the file \(none)"),
        (
          #"\#(oidc), \#(machine), clientAssertion: { githubActions: {} }"#, "missingCredential",
          "clientAssertion of GitHub Actions"
        ),
        (
          #"\#(oidc), grant: "jwtBearer", \#(token), assertion: \#(file)"#, "missingCredential",
          "assertion in the file \(none)"
        ),
        (
          #"\#(oidc), grant: "exchange", \#(token), subjectToken: \#(file)"#, "missingCredential",
          "subjectToken in the file \(none)"
        ),
        (
          #"\#(oidc), grant: "exchange", \#(token), subjectToken: { file: "\#(sandbox.root)/config.json" }, actorToken: \#(command)"#,
          "missingCredential", "actorToken of the command \(none)"
        ),
      ]
      let profiles = rows.enumerated().map { index, row in "p\(index): { \(row.0) }" }
      _ = try sandbox.owner(try sandbox.configure("{ profiles: { \(profiles.joined(separator: ",\n")) } }"))
      let wire = try SocketWire(sandbox.socket)
      for (index, row) in rows.enumerated() {
        let answer = try wire.answer("getAccessToken", #"{"profile":"p\#(index)"}"#)
        let error = try answer.required("error")
        let message = try error.required("message").string()
        #expect(message.hasPrefix(row.2 + " cannot be used: "), "\(message)")
        let data = try error.required("data")
        #expect(try data.required("kind").string() == row.1, "\(message)")
        #expect(try data.required("nextAction").string() == "fixConfig", "\(message)")
        #expect(try !data.required("retryable").bool() && data["retryAfterSeconds"] == nil, "\(message)")
      }
    }
  }
}
