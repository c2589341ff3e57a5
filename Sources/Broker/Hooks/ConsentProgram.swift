package import BrokerProtocol
import JSON
import LinuxSystem
package import Logging
import Synchronization

/// The owner's program that answers questions whether clients may have tokens: it gets a question as JSON on its standard
/// input, exit status 0 allows, and another one refuses.
///
/// One that is missing, cannot be started or is ended by a signal has given no answer: the question stays for others. One
/// question is asked at a time, in the order in which they came; the program is ended (SIGTERM) when its question is
/// answered elsewhere, or its time is over.
package final class ConsentProgram: Sendable {
  /// Takes the answer to the question of a handle.
  package typealias Reply = @Sendable (_ id: String, _ isAllowed: Bool) -> Void

  /// A question, and when its time is over by `BootClock`: the wall clock may be set meanwhile.
  private struct Item {
    let question: ConsentQuestion
    let deadline: Duration
  }

  /// A run of the program for a question.
  private struct Run {
    let id: String
    var child: ChildProcess?
    var isWithdrawn = false
  }

  private struct State {
    var command: [String] = []
    var reply: Reply = { _, _ in }
    var waiting: [Item] = []
    var run: Run?
    var hasThread = false
    /// The failures that are told: each once.
    var told: Set<String> = []
  }

  private let environment: [String: String]
  private let log: Logger
  private let grace: Duration
  private let state = Mutex(State())

  /// No program yet; it gets of `environment` what ``UserProgram`` passes on.
  ///
  /// `grace` is the time of one that is asked to end: enough to close its window.
  package init(environment: [String: String], log: Logger, grace: Duration = .seconds(2)) {
    (self.environment, self.log, self.grace) = (environment, log, grace)
  }

  /// Adopts the program for questions to come; none where the command is empty.
  package func update(_ command: [String], _ reply: @escaping Reply) {
    state.withLock { state in
      if command != state.command { state.told = [] }
      (state.command, state.reply) = (command, reply)
      if command.isEmpty { state.waiting = [] }
    }
  }

  /// Asks a question when its turn comes; nothing here waits.
  package func ask(_ question: ConsentQuestion) {
    let deadline = BootClock.now + (question.expiresAt - WallClock.timestamp)
    let mustStart = state.withLock { state in
      guard !state.command.isEmpty else { return false }
      state.waiting.append(Item(question: question, deadline: deadline))
      defer { state.hasThread = true }
      return !state.hasThread
    }
    guard mustStart else { return }
    do throws(Errno) { try SystemThread { [self] in work() }.detach() } catch {
      state.withLock { $0.hasThread = false }
      report("no thread can be made: \(error)")
    }
  }

  /// Asks a question no more.
  package func withdraw(_ id: String) {
    state.withLock { state in
      state.waiting.removeAll { $0.question.consentID == id }
      guard state.run?.id == id else { return }
      state.run?.isWithdrawn = true
      // It is not waited for before `run` is nil: the number is its own.
      state.run?.child?.terminateGroup()
    }
  }

  /// Asks nothing any more, and ends the program.
  package func close() {
    state.withLock { state in
      (state.waiting, state.command) = ([], [])
      state.run?.isWithdrawn = true
      state.run?.child?.killGroup()
    }
  }

  // MARK: The thread

  private func work() {
    while let (item, command) = next() {
      let status: Int32?
      do throws(Errno) { status = try run(command, item) } catch {
        status = nil
        report(error == .accessDenied ? "it may not be executed; run chmod +x on it" : "it cannot be run: \(error)")
      }
      let (wasWithdrawn, reply) = state.withLock { state in
        defer { state.run = nil }
        return (state.run?.isWithdrawn ?? true, state.reply)
      }
      guard let status, !wasWithdrawn else { continue }
      if Self.isSignal(status) {
        report("it was ended by signal \(status - 128)")
      } else {
        reply(item.question.consentID, status == 0)
      }
    }
  }

  /// Whether a status is that of a program which a signal has ended (signal(7): 1 to 64).
  private static func isSignal(_ status: Int32) -> Bool { (129...192).contains(status) }

  private func next() -> (Item, [String])? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.hasThread = false
        return nil
      }
      let item = state.waiting.removeFirst()
      state.run = Run(id: item.question.consentID)
      return (item, Hook.filled(state.command, item.question.profile, .consentRequested))
    }
  }

  /// The exit status; nil where the program is missing.
  private func run(_ command: [String], _ item: Item) throws(Errno) -> Int32? {
    let input = try MemoryFile(Self.line(item.question).span)
    let nowhere = try FileDescriptor.open("/dev/null", .write)
    guard let program = UserProgram(command, environment: environment),
      let child = try program.start([(input.descriptor.number, 0), (nowhere.number, 1), (nowhere.number, 2)])
    else {
      report("it was not found; install it, or write its absolute path")
      return nil
    }
    let isWithdrawn = state.withLock { state in
      state.run?.child = child
      return state.run?.isWithdrawn ?? true
    }
    if isWithdrawn { child.terminateGroup() }
    defer { withExtendedLifetime(input) {} }
    return try end(of: child, by: item.deadline + grace)
  }

  /// Waits for the end, or brings it about: the broker ends each question in its time, so that this one is late.
  private func end(of child: ChildProcess, by deadline: Duration) throws(Errno) -> Int32 {
    do throws(Errno) {
      if try !child.hasEnded(by: deadline) {
        // However it ends now, it has not answered.
        state.withLock { $0.run?.isWithdrawn = true }
        child.terminateGroup()
        _ = try child.hasEnded(by: BootClock.now + grace)
        child.killGroup()
      }
    } catch {
      child.killGroup()
    }
    // From here on nothing signals it: its number may be another process's.
    state.withLock { $0.run?.child = nil }
    return try child.wait()
  }

  private static func line(_ question: ConsentQuestion) -> [UInt8] {
    var writer = JSONWriter()
    question.encode(to: &writer)
    return writer.bytes + [UInt8(ascii: "\n")]
  }

  /// Logs a failure, once each: one that fails may fail for every question.
  private func report(_ reason: String) {
    let (isNew, name) = state.withLock { state in
      (state.told.insert(reason).inserted, state.command.first ?? "")
    }
    log.write(
      isNew ? .warning : .debug, "the program of access.confirm gave no answer",
      [.word("program", name), .word("reason", reason)])
  }
}
