import BrokerCore
import TestSupport
import Testing

/// A bucket of tokens, at every level and time.
@Suite(.standardTimeLimit) struct TokenBucketTests {
  private static let rate = TokenBucket.Rate(burst: 3, interval: .seconds(10))

  private static func bucket(spent: Int, at seconds: Int = 1000) -> TokenBucket {
    var bucket = TokenBucket()
    for _ in 0..<spent { bucket.spend(rate, at: .seconds(seconds)) }
    return bucket
  }

  /// Tokens spent at once, seconds later, the wait.
  @Test(
    arguments: [
      (0, 0, nil), (1, 0, nil), (2, 0, nil), (3, 0, 10), (3, 1, 9), (3, 9, 1), (3, 10, nil), (4, 0, 20), (4, 15, 5),
      (4, 20, nil), (10, 0, 80), (10, 1000, nil), (3, -500, 510),
    ] as [(Int, Int, Int?)])
  func `each level at each time`(_ spent: Int, _ later: Int, _ wait: Int?) {
    let bucket = Self.bucket(spent: spent)
    #expect(bucket.wait(Self.rate, at: .seconds(1000 + later)) == wait.map { .seconds($0) })
  }

  @Test func `it is full again after as many intervals as were spent`() {
    let bucket = Self.bucket(spent: 2)
    #expect(!bucket.isFull(at: .seconds(1019)) && bucket.isFull(at: .seconds(1020)))
    #expect(TokenBucket().isFull(at: .zero))
  }

  @Test func `a rate is never none, nor without end`() {
    let rate = TokenBucket.Rate(burst: 0, interval: .zero)
    #expect(rate.burst == 1 && rate.interval > .zero)
  }

  @Test func `in any hour no more pass than the burst and the hour's tokens`() {
    var bucket = TokenBucket()
    var passed = 0
    for second in 0..<3600 where bucket.wait(Self.rate, at: .seconds(second)) == nil {
      bucket.spend(Self.rate, at: .seconds(second))
      passed += 1
    }
    #expect(passed == 3 + 359)
  }
}
