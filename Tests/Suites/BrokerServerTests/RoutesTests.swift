import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// The table of routes and the list of methods name the same ones.
@Suite(.standardTimeLimit) struct RoutesTests {
  private static let names = Methods.all.map { $0.name }

  @Test(arguments: names)
  func `every method is served`(_ method: String) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      let answers = client.askBare(#"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":{}}"#)
      #expect(!answers.contains { $0.contains(#""kind":"methodNotFound""#) }, "\(answers)")
    }
  }
}
