import TestSupport
import Testing

@testable import authbroker

/// What the daemon's program says of a protected resource.
@Suite(.standardTimeLimit) struct ProtectedResourceTests {
  @Test func `a description is read whole`() throws {
    let line = #"{"resource":"https://a.example/v1","issuers":["https://b.example"],"scopes":["read"]}"#
    let resource = try ProtectedResource(code: 0, line)
    #expect(resource.resource == "https://a.example/v1")
    #expect(resource.issuers == ["https://b.example"] && resource.scopes == ["read"])
  }

  @Test(arguments: [(false, ExitCode.failure), (true, .providerUnavailable)])
  func `a reason keeps its words and its kind`(isPassing: Bool, exitCode: ExitCode) {
    let failure = #expect(throws: CommandFailure.self) {
      try ProtectedResource(code: 1, #"{"message":"no such thing","isPassing":\#(isPassing)}"#)
    }
    #expect(failure?.exitCode == exitCode && failure?.message.text(for: nil).contains("no such thing") == true)
  }

  @Test(arguments: [
    "", "x", "[]", #"{"resource":"https://a.example","scopes":[]}"#, #"{"resource":1,"issuers":["x"],"scopes":[]}"#,
    #"{"resource":"https://a.example","issuers":[],"scopes":[]}"#,
  ])
  func `an answer that is none is not believed`(line: String) {
    let failure = #expect(throws: CommandFailure.self) { try ProtectedResource(code: 0, line) }
    #expect(failure?.exitCode == .failure)
  }
}
