import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import BrokerCore

/// Second factors that are being enrolled, as they are remembered.
@Suite(.standardTimeLimit) struct EnrolmentsTests {
  private static let start = LoginSample.start
  private static let slot = SlotID(profile: .default, number: 1)

  private static func begin(_ id: String, attempts: Int = 5, in enrolments: inout Enrolments) {
    let provided = ProviderEnrolment(
      flow: LoginSample.flowSecret, uri: LoginSample.code, expiresAt: start + .seconds(600),
      otpLength: 6, attemptsRemaining: attempts)
    enrolments.begin(id, provided, on: slot, session: 7)
  }

  @Test func `an enrolment is found by its handle until its time is over`() {
    var enrolments = Enrolments()
    #expect(enrolments.find("a", at: Self.start) == nil && !enrolments.isAnyPending(at: Self.start))
    Self.begin("a", in: &enrolments)
    let found = enrolments.find("a", at: Self.start + .seconds(599))
    #expect(found?.session == 7 && found?.flow == LoginSample.flowSecret && found?.slot.number == 1)
    #expect(enrolments.find("b", at: Self.start) == nil)
    #expect(enrolments.find("a", at: Self.start + .seconds(600)) == nil)
    #expect(enrolments.isAnyPending(at: Self.start) && !enrolments.isAnyPending(at: Self.start + .seconds(600)))
  }

  @Test func `a profile has one, and each end takes it`() throws {
    let other = try #require(ProfileName("other"))
    var enrolments = Enrolments()
    Self.begin("a", in: &enrolments)
    Self.begin("b", in: &enrolments)
    #expect(enrolments.find("a", at: Self.start) == nil && enrolments.find("b", at: Self.start) != nil)
    enrolments.end("a")
    enrolments.end(of: other)
    #expect(enrolments.find("b", at: Self.start) != nil)
    enrolments.end("b")
    #expect(enrolments.find("b", at: Self.start) == nil)
    Self.begin("c", in: &enrolments)
    enrolments.end(of: .default)
    #expect(enrolments.find("c", at: Self.start) == nil)
    Self.begin("d", in: &enrolments)
    enrolments.endAll()
    #expect(enrolments.find("d", at: Self.start) == nil)
  }

  private static let counts: [(Int, [Int?], [Int])] = [
    (9, [nil, nil, nil, nil, nil], [4, 3, 2, 1, 0]), (2, [nil, nil], [1, 0]), (5, [1, 0], [1, 0]),
    (5, [9, 9], [4, 3]), (1, [-1], [0]),
  ]

  @Test(arguments: counts)
  func `wrong codes are counted, as the provider does where it counts fewer`(
    _ attempts: Int, _ provided: [Int?], _ left: [Int]
  ) {
    var enrolments = Enrolments()
    Self.begin("a", attempts: attempts, in: &enrolments)
    let counts = provided.map { enrolments.countWrongCode("a", isGuess: true, provided: $0) }
    #expect(counts == left)
    #expect((enrolments.find("a", at: Self.start) == nil) == (left.last == 0))
    #expect(enrolments.countWrongCode("b", isGuess: true, provided: nil) == 0)
  }
}
