import AuthBrokerClient
import BrokerProtocol
import LinuxSystem

/// `status --watch`: the status as a screen that follows the broker's events, until `q` or a signal.
///
/// It only looks: a broker that has gone is waited for and not started, and no signal ends it before the terminal is as it
/// was.
struct StatusWatch: ~Copyable {
  /// The option.
  static let option = Option.flag("--watch", "a screen that follows the broker: q quits")

  /// The end of a stay on the screen.
  private enum End {
    /// The person quits.
    case quit
    /// The program is to stop, as by Ctrl-Z.
    case suspended
    /// It goes on, and others may have used the terminal.
    case resumed
    /// The program is to end.
    case signal(Signal)
  }

  /// The signals that end it, stop it, or change the terminal.
  private static let signals = HeldSignals.ending + [.quit, .stop, .goOn, .windowChange]
  /// How long an answer may take until the screen says so.
  private static let patience = Duration.seconds(3)

  private let context: Context
  private var connection: BlockingConnection
  private var questions = StatusQuestions()
  private var screen: StatusScreen
  private var window = ScrollWindow()
  /// The question under way: its name, and when it was asked.
  private var asked: (id: Int64, at: Duration) = (0, .zero)
  private var isLost = false
  private var isStopping = false

  /// Connects and asks for the first picture.
  ///
  /// - Throws: a usage failure where there is no terminal, or no such profile.
  init(_ context: Context) throws(CommandFailure) {
    try Self.requireScreen(context)
    let profile = try context.arguments.profile()
    var connection = try context.connect()
    let status = try context.call(GetStatus.self, Empty(), on: &connection)
    _ = try SessionTable.sessions(status.profiles, of: profile)
    self.context = context
    self.connection = connection
    screen = StatusScreen(status: status, answeredAt: LocalTime.now, profile: profile)
    questions.handle(.connected, at: BootClock.now)
    // They would be written into the picture.
    Output.silenceNotices()
  }

  private static func requireScreen(_ context: Context) throws(CommandFailure) {
    let other = NextCommand("as events, one a line", "watch", "--json")
    guard !context.wantsJSON else { throw .usage("--watch shows a screen and has no JSON", next: other) }
    guard Output.isTerminal, let kind = context.environment["TERM"], !kind.isEmpty, kind != "dumb" else {
      throw .usage("--watch needs a terminal that can show a screen", next: other)
    }
  }

  /// Shows the screen until it is left.
  ///
  /// - Throws: an end by a signal, after the terminal is as it was.
  mutating func run() throws(CommandFailure) {
    let held = try HeldSignals(Self.signals)
    while true {
      switch try stay(held) {
      case .quit: return
      case .resumed: continue
      // Any of them may end it while it is stopped: a shell that is left kills its stopped programs.
      case .suspended:
        try held.lettingThrough { () throws(CommandFailure) in try? Signal.stop.send(to: ProcessIdentity.pid) }
      case .signal(let signal):
        held.release()
        var failure = CommandFailure.quiet(.failure)
        failure.signal = signal
        throw failure
      }
    }
  }

  /// Shows the screen; at the end the terminal is as it was.
  private mutating func stay(_ held: borrowing HeldSignals) throws(CommandFailure) -> End {
    let terminal = try Self.openScreen(held)
    while true {
      draw(on: terminal)
      advance(unless: terminal.readiness.descriptor)
      while let signal = held.next() {
        switch signal {
        case .windowChange: break
        case .stop: return .suspended
        case .goOn: return .resumed
        default: return .signal(signal)
        }
      }
      guard let keys = terminal.keys() else { return .signal(.hangUp) }
      if window.take(keys, room: ScrollWindow.room(terminal.size.rows)) { return .quit }
    }
  }

  private static func openScreen(_ held: borrowing HeldSignals) throws(CommandFailure) -> ScreenTerminal {
    let number = held.pending.descriptor.number
    return try held.lettingThrough { () throws(CommandFailure) in
      do throws(Errno) { return try ScreenTerminal(besides: number) } catch {
        throw CommandFailure(.failure, "the terminal cannot be used: \(error)")
      }
    }
  }

  private mutating func draw(on terminal: ScreenTerminal) {
    let (size, style) = (terminal.size, context.style)
    var picture = screen
    if !isLost, questions.pending != nil, BootClock.now - asked.at > Self.patience {
      picture.trouble = "the broker does not answer"
    }
    let lines = picture.lines(at: LocalTime.now, columns: size.columns)
    terminal.draw(window.picture(lines, rows: size.rows, columns: size.columns).map { $0.shown(style) })
  }
}

/// The conversation with the broker.
extension StatusWatch {
  /// Asks, and waits for an answer, an event, a key, a signal or the next second of the clock.
  private mutating func advance(unless bell: borrowing FileDescriptor) {
    let now = BootClock.now
    let second = Duration.milliseconds(1000 - LocalTime.now.milliseconds % 1000)
    guard !isLost else { return awaitBroker(atMost: second, unless: bell) }
    do throws(ClientError) {
      if let question = questions.take(at: now) { asked = (try begin(question), now) }
      guard let pending = questions.pending else {
        let pause = min(second, max(.zero, (questions.wake ?? now) - now))
        let event = try connection.nextEvent(timeout: pause, unless: bell)
        if event.payload.name == .shuttingDown { isStopping = true }
        return questions.handle(.told, at: BootClock.now)
      }
      try take(answerTo: pending, atMost: second, unless: bell)
      questions.handle(.answered, at: BootClock.now)
    } catch {
      switch error {
      case .timedOut, .cancelled: break
      // A vault that is locked, a broker that ends: what is known is shown on.
      case .broker, .unexpectedAnswer: questions.handle(.answered, at: BootClock.now)
      case .connectionLost, .noBroker, .unresponsive: lose()
      }
    }
  }

  private mutating func begin(_ question: StatusQuestions.Question) throws(ClientError) -> Int64 {
    switch question {
    case .subscription: try connection.begin(Subscribe.self, .init())
    case .status: try connection.begin(GetStatus.self, Empty())
    case .logins: try connection.begin(ListPendingLogins.self, .init())
    }
  }

  private mutating func take(
    answerTo question: StatusQuestions.Question, atMost limit: Duration, unless bell: borrowing FileDescriptor
  ) throws(ClientError) {
    switch question {
    case .subscription: _ = try connection.answer(to: asked.id, as: Subscribe.self, timeout: limit, unless: bell)
    case .status:
      let status = try connection.answer(to: asked.id, as: GetStatus.self, timeout: limit, unless: bell)
      (screen.status, screen.answeredAt, screen.trouble) = (status, LocalTime.now, nil)
    case .logins:
      screen.logins = try connection.answer(to: asked.id, as: ListPendingLogins.self, timeout: limit, unless: bell)
        .logins
    }
  }

  private mutating func lose() {
    isLost = true
    questions.handle(.lost, at: BootClock.now)
    screen.logins = []
    screen.trouble = "the broker \(isStopping ? "was stopped" : "has ended"); waiting for another one"
  }

  /// Looks for another broker once a second.
  private mutating func awaitBroker(atMost limit: Duration, unless bell: borrowing FileDescriptor) {
    var poll = PollSet(count: 1)
    poll.watch(0, bell.number, readable: true)
    guard let ready = try? poll.wait(atMost: limit), ready == 0 else { return }
    do throws(CommandFailure) {
      connection = try context.connect(mayStart: false)
      (isLost, isStopping) = (false, false)
      questions.handle(.connected, at: BootClock.now)
    } catch {
      guard error.exitCode != .brokerUnreachable else { return }
      screen.trouble = error.message.sentence
    }
  }
}
