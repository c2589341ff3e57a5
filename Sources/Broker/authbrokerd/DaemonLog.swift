import Configuration
import LinuxSystem
import Logging
import StateDirectory

/// The log of one run: standard error, or the file of an owner that was started on demand, behind a queue that never
/// makes the loop wait.
struct DaemonLog: Sendable {
  /// How long the end of a run waits for what is still to be written.
  private static let lastPatience = Duration.seconds(1)

  /// The log.
  let logger: Logger
  private let queue: LogQueue

  /// The log that the arguments and the environment ask for; nothing is written before ``start()``.
  init(
    _ arguments: DaemonArguments, _ paths: StatePaths, _ level: LogLevel, _ environment: [String: String]
  ) {
    let isFile = arguments.mode == .owner(isOnDemand: true)
    let format = LogFormat(isJournal: !isFile && environment["JOURNAL_STREAM"] != nil)
    let file = LogFile(path: paths.log)
    let queue = LogQueue(format: format) { line in
      if isFile { file.append(line) } else { StandardError.writeWaiting(line) }
    }
    self.queue = queue
    logger = Logger(level: level, format: format) { queue.append($0) }
  }

  /// Starts the thread that writes; signals must be blocked by then.
  ///
  /// - Throws: `StartFailure` where there is no thread to be had.
  func start() throws(StartFailure) {
    do throws(Errno) { try queue.start() } catch { throw StartFailure(noThread: error) }
  }

  /// Writes the last words, as far as they are taken within a second.
  func finish() {
    logger.logDropped()
    queue.flush(within: Self.lastPatience)
  }
}
