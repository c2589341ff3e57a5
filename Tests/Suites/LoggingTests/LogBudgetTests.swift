import Synchronization
import TestSupport
import Testing

@testable import Logging

/// A flood of lines is cut, and what was cut is counted.
@Suite(.standardTimeLimit) struct LogBudgetTests {
  private final class Sink: Sendable {
    let lines = Mutex<[String]>([])
    let uptime = Mutex(Duration.seconds(5))

    func logger(_ level: LogLevel) -> Logger {
      let read: @Sendable () -> Duration = { [self] in uptime.withLock { $0 } }
      return Logger(level: level, format: LogFormat(isJournal: true), uptime: read) { [self] in
        let line = String(decoding: $0, as: UTF8.self)
        lines.withLock { $0.append(line) }
      }
    }

    func pass(_ duration: Duration) { uptime.withLock { $0 += duration } }

    func take() -> [String] {
      lines.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }
  }

  @Test func `one message is written sixty times a minute, and then its number`() {
    let sink = Sink()
    let logger = sink.logger(.info)
    for number in 0..<500 { logger.info("again", .number("number", number)) }
    logger.info("something else")
    let first = sink.take()
    #expect(first.count == 61 && first.last?.contains("something else") == true)
    sink.pass(.seconds(60))
    logger.info("again", .number("number", 500))
    #expect(sink.take() == ["<4>dropped lines lines=440 message=again\n", "<6>again number=500\n"])
    for _ in 0..<100 { logger.info("again") }
    _ = sink.take()
    logger.logDropped()
    #expect(sink.take() == ["<4>dropped lines lines=41 message=again\n"])
    logger.logDropped()
    #expect(sink.take().isEmpty)
  }

  @Test(arguments: [LogLevel.debug, .info])
  func `ten seconds of a flood of any kind are a few megabytes at most`(_ level: LogLevel) {
    let sink = Sink()
    let logger = sink.logger(.debug)
    var bytes = 0
    for _ in 0..<100 {
      for _ in 0..<2_000 {
        logger.write(level, "flood", [.word("text", String(repeating: "x", count: 200))])
      }
      sink.pass(.milliseconds(100))
      bytes += sink.take().reduce(0) { $0 + $1.utf8.count }
    }
    #expect(bytes <= LogBudget.burstBytes + 11 * LogBudget.bytesPerSecond)
    #expect(bytes > 0)
  }

  @Test func `the budget fills again, and never above its bound`() {
    var budget = LogBudget()
    let all = LogBudget.burstBytes - LogBudget.reservedBytes
    #expect(budget.count("a", byteCount: all, isExempt: true, at: .seconds(1)) == .write(dropped: 0))
    #expect(budget.count("a", byteCount: 1000, isExempt: true, at: .seconds(1)) == .drop)
    #expect(budget.count("a", byteCount: 1000, isExempt: true, at: .seconds(2)) == .write(dropped: 1))
    #expect(
      budget.count("b", byteCount: LogBudget.burstBytes + 1, isExempt: false, at: .seconds(1_000_000_000)) == .drop)
    // A clock that goes back gives nothing.
    #expect(budget.count("b", byteCount: LogBudget.burstBytes, isExempt: false, at: .seconds(5)) == .write(dropped: 1))
  }

  @Test func `lines for developers leave room for the others`() {
    var budget = LogBudget()
    while budget.count("call", byteCount: 200, isExempt: true, at: .seconds(1)) != .drop {}
    #expect(budget.count("the disk is full", byteCount: 200, isExempt: false, at: .seconds(1)) == .write(dropped: 0))
  }

  @Test func `a flood whose lines come within microseconds lets the budget fill as fast`() {
    var budget = LogBudget()
    var written = 0
    for step in 0..<200_000 {
      let now = Duration.seconds(100) + .microseconds(step * 10)
      if budget.count("a", byteCount: 100, isExempt: true, at: now) != .drop { written += 100 }
    }
    let expected = LogBudget.burstBytes - LogBudget.reservedBytes + 2 * LogBudget.bytesPerSecond
    #expect(abs(written - expected) < 1000, "\(written)")
  }
}
