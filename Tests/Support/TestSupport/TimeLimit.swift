import Glibc
import LinuxSystem
package import Testing

extension Trait where Self == StandardTrait {
  /// What every suite has for each of its tests: it is over within ``Patience/limit``, and its times are kept.
  ///
  /// A test that hangs is named when the limit passes, and the run fails, also where it cannot be ended.
  package static var standardTimeLimit: Self { StandardTrait() }
}

/// A time limit for each test, and a note of when it really runs.
///
/// The runner says of all tests at once that they have started, and lets a few of them run. So that a crash accuses
/// those few, and a time is a test's own, each begin and end is a line of the file `TEST_TIMES`, which `.ci/swift-test`
/// reads.
package struct StandardTrait: SuiteTrait, TestTrait, TestScoping {
  /// Whether the tests of a suite have it, too.
  package let isRecursive = true

  private static let times = Environment.current["TEST_TIMES"].flatMap {
    try? FileDescriptor.open($0, [.write, .append])
  }

  /// Notes when a test begins and ends; after the limit the test is cancelled, and fails.
  @concurrent
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @concurrent @Sendable () async throws -> Void
  ) async throws {
    Self.note("began", test)
    defer { Self.note("ended", test) }
    try await withoutActuallyEscaping(body) { body in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await Task.sleep(for: .seconds(60 * Patience.limit))
          Issue.record("the test has not ended within \(Patience.limit) minutes", sourceLocation: test.sourceLocation)
        }
        group.addTask { try await body() }
        defer { group.cancelAll() }
        try await group.next()
      }
    }
  }

  private static func note(_ what: String, _ test: Test) {
    let place = test.sourceLocation
    let line = Array("\(what) \(place.fileID):\(place.line) \(BootClock.nanoseconds)\n".utf8)
    try? times?.writeAll(line.span)
  }
}

extension Trait where Self == ConditionTrait {
  /// Of a test whose subject is a large number or a time, which says nothing about a sanitizer's build: smaller tests take
  /// the same path there.
  package static var plainBuild: Self {
    .disabled(if: Patience.isInstrumented, "a large number or a time, which a sanitizer's build is not measured by")
  }
}
