import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// The names of tokens for other targets, as a value.
@Suite(.standardTimeLimit) struct TokenNamesTests {
  @Test func `a name stands for the target that it was last given for`() {
    var names = TokenNames()
    names.note("a", TokenTarget(audience: "one"))
    names.note("a", TokenTarget(audience: "two"))
    #expect(names.target(of: "a") == TokenTarget(audience: "two"))
    #expect(names.target(of: "b") == nil)
  }

  @Test func `as many names are known as clients may still report, the last ones`() {
    var names = TokenNames()
    for number in 0...TokenNames.most { names.note("\(number)", TokenTarget(audience: "\(number)")) }
    #expect(names.target(of: "0") == nil)
    #expect(names.target(of: "1") != nil && names.target(of: "\(TokenNames.most)") != nil)
  }
}
