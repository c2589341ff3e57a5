import BrokerProtocol
import TestSupport
import Testing

/// What a login needs, told before one is begun.
@Suite(.standardTimeLimit) struct LoginFormTests {
  private static let ways: [LoginMethod] = [.browser, .password, .refreshToken]
  private static let forms =
    #"[{"method":"browser","fields":[]},{"method":"password","fields":["email","password"]},"#
    + #"{"method":"refreshToken","fields":["refreshToken"]}]"#

  @Test func `every profile says how it is logged in to, the first way first`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(profiles: ["a", "b"]) { $0.setLoginMethods(Self.ways) }
      let client = try harness.connect()
      let profiles = ["a", "b"].map { #"{"profile":"\#($0)","provider":"scripted","login":\#(Self.forms)}"# }
      let introduced = client.ask(LoginStage.line("initialize")).first ?? ""
      #expect(introduced.contains(#""profiles":[\#(profiles.joined(separator: ","))],"sessions":["#), "\(introduced)")
      let session = client.ask(LoginStage.line("getSession", #"{"profile":"b"}"#)).first ?? ""
      #expect(
        session.contains(#""state":"signedOut""#) && session.hasSuffix(#","login":\#(Self.forms)}}"#), "\(session)")
    }
  }

  @Test func `a session says it too`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods(Self.ways) }
      _ = stage.call("login", LoginStage.credentials)
      let session = stage.call("getSession")
      #expect(session.contains(#""state":"authenticated""#) && session.hasSuffix(#","login":\#(Self.forms)}}"#))
    }
  }
}
