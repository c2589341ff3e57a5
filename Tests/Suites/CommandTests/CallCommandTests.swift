import BrokerProtocol
import TestSupport
import Testing

@testable import authbroker

/// What `authbroker call` takes from its arguments.
@Suite(.standardTimeLimit) struct CallCommandTests {
  @Test func `every parameter that is a secret is refused as an argument`() {
    let secrets = Set(Methods.all.flatMap { $0.secretParameterNames })
    #expect(CallCommand.secrets == secrets)
  }
}
