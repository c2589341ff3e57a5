import BrokerCore
import TestSupport
import Testing

/// How many codes may be guessed wrong in a day.
@Suite(.standardTimeLimit) struct GuessLedgerTests {
  private static func subject(_ account: String?) -> CallLimiter.Subject {
    CallLimiter.Subject(client: nil, provider: ProviderBinding(type: "rest"), account: account)
  }

  /// A ledger with these limits.
  private static func ledger(ofAccount: Int, atProvider: Int) -> GuessLedger {
    let limits = LimitLedger()
    (limits.limits[.accountWrongCodes], limits.limits[.providerWrongCodes]) = (ofAccount, atProvider)
    return GuessLedger(limits)
  }

  private static func filled(_ count: Int, every seconds: Int = 0) -> GuessLedger {
    var ledger = ledger(ofAccount: 3, atProvider: 7)
    for number in 0..<count { _ = ledger.add(subject("a"), at: .seconds(number * seconds)) }
    return ledger
  }

  /// Guesses so many seconds apart, then a question at a time: the wait.
  @Test(
    arguments: [
      (0, 0, 0, nil), (2, 0, 0, nil), (3, 0, 0, 86_400), (3, 100, 200, 86_200), (3, 100, 86_399, 1),
      (3, 100, 86_400, nil),
      (9, 0, 0, 86_400), (9, 0, 86_400, nil), (3, 0, 1_000_000, nil),
    ] as [(Int, Int, Int, Int?)])
  func `each count at each time`(_ count: Int, _ apart: Int, _ time: Int, _ wait: Int?) {
    let ledger = Self.filled(count, every: apart)
    #expect(ledger.refusal(of: Self.subject("a"), at: .seconds(time))?.wait == wait.map { .seconds($0) })
  }

  @Test func `a guess that is refused is not counted, so that the wait does not grow`() {
    var ledger = Self.filled(3)
    for second in 1...100 { #expect(ledger.add(Self.subject("a"), at: .seconds(second)) != nil) }
    #expect(ledger.refusal(of: Self.subject("a"), at: .seconds(86_400)) == nil)
  }

  @Test func `no window of a day has more than the limit`() {
    var ledger = Self.ledger(ofAccount: 3, atProvider: 100)
    var times: [Int] = []
    for minute in 0..<(3 * 1440) where ledger.add(Self.subject("a"), at: .seconds(minute * 60)) == nil {
      times.append(minute)
    }
    for time in times { #expect(times.filter { (time..<(time + 1440)).contains($0) }.count <= 3) }
    #expect(times.count == 9)
  }

  @Test func `one account shuts out no other, until the provider's own limit`() {
    var ledger = Self.filled(3)
    #expect(ledger.add(Self.subject("b"), at: .zero) == nil)
    for name in ["c", "d", "e"] { #expect(ledger.add(Self.subject(name), at: .zero) == nil) }
    #expect(ledger.add(Self.subject("f"), at: .zero)?.wait == .seconds(86_400))
    #expect(ledger.add(Self.subject(nil), at: .zero)?.wait == .seconds(86_400))
  }

  @Test func `a guess that was right is no guess, and nothing stays of a day that is over`() {
    var ledger = Self.ledger(ofAccount: 3, atProvider: 7)
    for _ in 0..<50 {
      #expect(ledger.add(Self.subject("a"), at: .zero) == nil)
      ledger.removeLast(Self.subject("a"))
    }
    #expect(ledger.accountCount == 0 && !ledger.isAnyYoung(at: .zero))
    _ = ledger.add(Self.subject("a"), at: .zero)
    #expect(ledger.isAnyYoung(at: .seconds(86_399)) && !ledger.isAnyYoung(at: .seconds(86_400)))
    _ = ledger.add(Self.subject("b"), at: .seconds(90_000))
    #expect(ledger.accountCount == 1)
    ledger.removeLast(Self.subject("z"))
  }
}
