import Synchronization

/// What the broker asks of the world outside: each question waits until the simulation answers it.
///
/// A question is the job of an actor whose executor runs it only then. A continuation would come back by way of the
/// global pool, and runs would differ.
final class Wire<Question: Sendable, Answer: Sendable>: Sendable {
  /// A question that waits.
  struct Call: Sendable {
    /// Counts the questions; also those of earlier lives of the broker.
    let number: Int
    /// What is asked.
    let question: Question
  }

  private struct State {
    var count: Int
    var calls: [Call] = []
    var answers: [Int: Answer] = [:]
    /// What everything is answered with once the broker is dead.
    var refusal: Answer?
  }

  private let state: Mutex<State>
  private let barrier = Barrier()

  /// A wire whose calls are counted on from another one's.
  init(after count: Int) { state = Mutex(State(count: count)) }

  /// How many questions there were.
  var count: Int { state.withLock { $0.count } }

  /// The questions that wait, in the order in which they came.
  var calls: [Call] { state.withLock { $0.calls } }

  /// Whether no question waits.
  var isIdle: Bool { state.withLock { $0.calls.isEmpty } }

  /// Asks, and waits for the simulation.
  func ask(_ question: Question) async -> Answer {
    let (number, refusal) = state.withLock { state in
      state.count += 1
      if state.refusal == nil { state.calls.append(Call(number: state.count, question: question)) }
      return (state.count, state.refusal)
    }
    if let refusal { return refusal }
    await barrier.pass()
    return state.withLock { state in
      guard let answer = state.answers.removeValue(forKey: number) else { preconditionFailure("nobody has answered") }
      return answer
    }
  }

  /// Answers the question of a number; its task goes on when the broker's executor is turned.
  func answer(_ number: Int, _ answer: Answer) {
    let position = state.withLock { state in
      guard let position = state.calls.firstIndex(where: { $0.number == number }) else {
        preconditionFailure("nobody asks")
      }
      state.calls.remove(at: position)
      state.answers[number] = answer
      return position
    }
    barrier.executor.run(position)
  }

  /// Answers everything in this way, now and from now on.
  func cut(_ refusal: Answer) {
    state.withLock { $0.refusal = refusal }
    for call in calls { answer(call.number, refusal) }
  }
}

/// Where questions wait, in the order of their calls.
private actor Barrier {
  nonisolated let executor = HoldingExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func pass() {}
}

/// An executor that runs the job at a position when it is told to.
private final class HoldingExecutor: SerialExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  func run(_ position: Int) {
    let job = jobs.withLock { $0.remove(at: position) }
    job.runSynchronously(on: asUnownedSerialExecutor())
  }
}
