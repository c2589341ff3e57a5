import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// The table of routes serves every method of the list.
@Suite(.standardTimeLimit) struct RoutesTests {
  private static let names = Methods.all.map { $0.name }

  @Test(arguments: names)
  func `every method is served`(_ method: String) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      let answers = client.askBare(#"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":{}}"#)
      #expect(answers.count == 1 && answers.first?.contains(#""id":9,"#) == true, "\(answers)")
      #expect(answers.first?.contains(#""kind":"methodNotFound""#) == false, "\(answers)")
    }
  }
}
