import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// The table of routes serves every method of the list.
@Suite(.standardTimeLimit) struct RoutesTests {
  @Test(arguments: [
    (#""getAccesToken","params":{}"#, #"Unknown method; did you mean \"getAccessToken\"?"#),
    (#""zzzzzzzz","params":{}"#, "Unknown method."),
    (#""caf\u00e9","params":{}"#, "Unknown method."), (#""\#(String(repeating: "x", count: 65))""#, "Unknown method."),
    (
      #""subscribe","params":{"events":["sessionExpire"]}"#,
      #"Unknown event; did you mean \"sessionExpired\"?"#
    ),
    (#""subscribe","params":{"profiles":["nope"]}"#, "There is no profile nope in the configuration; it has "),
    (#""getSession","params":{"profile":"nope"}"#, "There is no profile nope in the configuration; it has "),
  ])
  func `what is not known is named, and what was probably meant`(_ call: String, _ sentence: String) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      let answers = client.askBare(#"{"jsonrpc":"2.0","id":9,"method":\#(call)}"#)
      #expect(answers.first?.contains(sentence) == true, "\(answers)")
    }
  }

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
