import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// The queue as a table: what is sent when, and how each request ends.
@Suite(.standardTimeLimit) struct RequestQueueTests {
  private static let start = Timestamp(milliseconds: 1_800_000_000_000)
  private static let binding = ProviderBinding(type: "x", issuer: "https://id.example")
  private static let lifetime = RequestQueue.Rules.standard.keyLifetime

  private static func at(_ seconds: Int) -> Moment {
    Moment(wall: start + .seconds(seconds), uptime: .seconds(1_000 + seconds))
  }

  private static func id(_ number: UInt64) -> QueuedRequest.ID { QueuedRequest.ID(profile: .default, number: number) }

  private static func request(_ number: UInt64) -> QueuedRequest {
    QueuedRequest(
      id: id(number), requestID: "r\(number)", binding: binding, user: "u", socket: nil, key: "k\(number)", digest: "d",
      method: .post, url: "https://api.example/x", scopes: nil, audience: nil, timeout: .seconds(30), byteCount: 10,
      queuedAt: start)
  }

  private static func answer(_ status: Int, retryAfter: Duration? = nil) -> APIAnswer {
    APIAnswer(status: status, headers: HeaderFields(), body: [], retryAfter: retryAfter)
  }

  /// A queue with requests, the first of which is under way.
  private static func queue(_ count: UInt64 = 1, _ rules: RequestQueue.Rules = .standard) -> RequestQueue {
    var queue = RequestQueue()
    _ = queue.handle(.configured([.default: rules]), at: at(0))
    _ = queue.handle(.opened([]), at: at(0))
    for number in 1...count { _ = queue.handle(.added(request(number)), at: at(0)) }
    return queue
  }

  private static func sent(_ actions: [RequestQueue.Action]) -> [QueuedRequest] {
    actions.compactMap { if case .attempt(let request) = $0 { request } else { nil } }
  }

  private static func kept(_ actions: [RequestQueue.Action]) -> [QueuedRequest] {
    actions.compactMap { if case .keep(let request, _, _) = $0 { request } else { nil } }
  }

  private static func told(_ actions: [RequestQueue.Action]) -> [EventPayload] {
    actions.compactMap { action in
      switch action {
      case .tell(_, let event), .keep(_, _, let event?): event
      default: nil
      }
    }
  }

  private static func ended(
    _ queue: inout RequestQueue, _ number: UInt64, _ outcome: RequestQueue.Outcome, isMarked: Bool = true, at time: Int
  ) -> [RequestQueue.Action] {
    queue.handle(.attempted(id(number), outcome, isMarked: isMarked, jitter: 1), at: at(time))
  }

  @Test func `requests go out one after the other, in their order`() {
    var queue = RequestQueue()
    _ = queue.handle(.configured([.default: .standard]), at: Self.at(0))
    #expect(queue.handle(.added(Self.request(1)), at: Self.at(0)).isEmpty)
    _ = queue.handle(.dropped, at: Self.at(0))
    // As they rest in the store, in no order.
    let first = Self.sent(queue.handle(.opened([Self.request(2), Self.request(1)]), at: Self.at(0)))
    #expect(first.map(\.id.number) == [1] && first[0].stage == .sending && first[0].attempts == 1)
    #expect(first[0].firstAttemptAt == Self.start)
    #expect(Self.sent(queue.handle(.added(Self.request(3)), at: Self.at(1))).isEmpty)
    let done = Self.ended(&queue, 1, .answered(Self.answer(201)), at: 2)
    #expect(Self.kept(done).map(\.stage) == [.completed(status: 201)] && Self.sent(done).map(\.id.number) == [2])
    #expect(Self.told(done) == [.requestCompleted(RequestCompletedEvent(requestID: "r1", status: 201))])
    #expect(queue.reason(Self.request(3)) == "line" && queue.nextID(of: .default).number == 4)
  }

  @Test(arguments: [408, 409, 425, 429, 500, 503]) func `an answer that is none is waited out`(_ status: Int) {
    var queue = Self.queue(2)
    let again = Self.ended(&queue, 1, .answered(Self.answer(status, retryAfter: .seconds(40))), at: 0)
    #expect(Self.sent(again).isEmpty && Self.kept(again).map(\.stage) == [.waiting])
    #expect(Self.kept(again)[0].mayHaveActed == ![425, 429].contains(status))
    #expect(queue.nextWake == .seconds(1040) && queue.reason(Self.request(1)) == "retry")
    #expect(queue.handle(.woken, at: Self.at(39)).isEmpty)
    let sent = Self.sent(queue.handle(.woken, at: Self.at(40)))
    #expect(sent.map(\.id.number) == [1] && sent[0].attempts == 2 && sent[0].key == "k1")
    #expect(sent[0].firstAttemptAt == Self.start)
  }

  @Test(arguments: [200, 204, 302, 400, 403, 404, 412, 422]) func `any other answer ends it`(_ status: Int) {
    var queue = Self.queue()
    let done = Self.ended(&queue, 1, .answered(Self.answer(status)), at: 0)
    #expect(Self.kept(done).map(\.stage) == [.completed(status: status)])
    #expect(queue.waiting(of: .default) == 0)
  }

  @Test func `a server that fails ten times has answered`() {
    var queue = Self.queue()
    var time = 0
    for _ in 1..<10 {
      #expect(Self.kept(Self.ended(&queue, 1, .answered(Self.answer(500)), at: time)).map(\.stage) == [.waiting])
      time += 10_000 / 10
      #expect(Self.sent(queue.handle(.woken, at: Self.at(time))).count == 1)
    }
    let last = Self.ended(&queue, 1, .answered(Self.answer(500)), at: time)
    #expect(Self.kept(last).map(\.stage) == [.completed(status: 500)])
  }

  @Test func `after a lost answer it is repeated for as long as its key is known, and no longer`() throws {
    var queue = Self.queue()
    var time = 0
    var (attempts, failure): (Int, QueuedRequest.Stage?) = (1, nil)
    while failure == nil, attempts < 1000 {
      var actions = Self.ended(&queue, 1, .lost, at: time)
      time = Int((try #require(queue.nextWake) - .seconds(1_000)) / .seconds(1)) + 1
      actions += queue.handle(.woken, at: Self.at(time))
      attempts += Self.sent(actions).count
      #expect(Self.sent(actions).allSatisfy { _ in time < Int(Self.lifetime / .seconds(1)) })
      failure = Self.kept(actions).last { $0.hasEnded }?.stage
    }
    #expect(failure == .failed(.outcomeUnknown) && attempts > 10)
  }

  @Test func `where nothing was ever sent it waits for ever, and the first attempt is still to come`() throws {
    var queue = Self.queue()
    var time = 0
    for _ in 0..<300 {
      let actions = Self.ended(&queue, 1, .unsent(.passing(retryAfter: nil)), at: time)
      #expect(Self.kept(actions).allSatisfy { $0.firstAttemptAt == nil && $0.attempts == 0 })
      time = Int((try #require(queue.nextWake) - .seconds(1_000)) / .seconds(1)) + 1
      let sent = Self.sent(queue.handle(.woken, at: Self.at(time)))
      #expect(sent.map(\.attempts) == [1])
    }
    #expect(Self.at(time).uptime > Self.lifetime)
    let network = Self.ended(&queue, 1, .unsent(.passing(retryAfter: nil)), at: time)
    #expect(Self.sent(network).isEmpty && Self.sent(queue.handle(.networkReturned, at: Self.at(time))).count == 1)
  }

  @Test func `a start repeats what may have been sent, and counts from its first attempt`() {
    for age in [10, Int(Self.lifetime / .seconds(1))] {
      var request = Self.request(1)
      (request.stage, request.attempts, request.firstAttemptAt) = (.sending, 1, Self.start)
      var queue = RequestQueue()
      _ = queue.handle(.configured([.default: .standard]), at: Self.at(age))
      let actions = queue.handle(.opened([request]), at: Self.at(age))
      if age == 10 {
        #expect(Self.sent(actions).map(\.attempts) == [2] && Self.sent(actions)[0].mayHaveActed)
      } else {
        #expect(Self.kept(actions).map(\.stage) == [.failed(.outcomeUnknown)])
      }
    }
  }

  @Test(arguments: QueuePause.allCases) func `a pause is told once, and ends with a session`(_ pause: QueuePause) {
    var queue = Self.queue(2)
    let paused = Self.ended(&queue, 1, .unsent(.paused(pause)), isMarked: false, at: 0)
    #expect(Self.told(paused) == [.queuePaused(QueuePausedEvent(requestID: "r1", reason: pause))])
    #expect(queue.reason(Self.request(1)) == pause.rawValue && queue.reason(Self.request(2)) == pause.rawValue)
    #expect(Self.sent(queue.handle(.networkReturned, at: Self.at(1))).isEmpty)
    // It looks again by itself, and says nothing new.
    #expect(Self.sent(queue.handle(.woken, at: Self.at(900))).count == 1)
    #expect(Self.told(Self.ended(&queue, 1, .unsent(.paused(pause)), isMarked: false, at: 900)).isEmpty)
    #expect(Self.sent(queue.handle(.sessionChanged(.default), at: Self.at(901))).map(\.id.number) == [1])
  }

  @Test func `an answer 401 is no attempt, and pauses the line`() {
    var queue = Self.queue()
    let paused = Self.ended(&queue, 1, .answered(Self.answer(401)), at: 0)
    #expect(Self.kept(paused).map(\.firstAttemptAt) == [nil] && Self.told(paused).count == 1)
  }

  @Test func `one that is cancelled is never sent again`() {
    var queue = Self.queue(3)
    #expect(Self.kept(queue.handle(.cancelled(Self.id(2)), at: Self.at(1))).map(\.stage) == [.failed(.cancelled)])
    // The first is under way: its answer is awaited.
    let marked = queue.handle(.cancelled(Self.id(1)), at: Self.at(1))
    #expect(Self.kept(marked).map(\.isCancelled) == [true] && Self.sent(marked).isEmpty)
    #expect(queue.sendable(Self.id(1)) == nil && queue.sendable(Self.id(3)) != nil)
    let lost = Self.ended(&queue, 1, .lost, at: 2)
    #expect(Self.kept(lost).map(\.stage) == [.failed(.cancelled)] && Self.sent(lost).map(\.id.number) == [3])
    #expect(queue.handle(.cancelled(Self.id(2)), at: Self.at(3)).isEmpty)
  }

  @Test func `nothing begins while the store is closed, and nothing that comes late changes anything`() {
    var queue = Self.queue(2)
    _ = queue.handle(.closed, at: Self.at(0))
    let done = Self.ended(&queue, 1, .answered(Self.answer(200)), at: 1)
    #expect(Self.sent(done).isEmpty && Self.kept(done).count == 1)
    #expect(queue.handle(.woken, at: Self.at(2)).isEmpty && queue.nextWake == nil)
    _ = queue.handle(.dropped, at: Self.at(3))
    let outcomes: [RequestQueue.Outcome] = [
      .lost, .failed(.accessDenied), .answered(Self.answer(200)), .unsent(.closing),
    ]
    for outcome in outcomes {
      #expect(Self.ended(&queue, 1, outcome, at: 4).isEmpty)
    }
    #expect(queue.handle(.removed([Self.id(1)]), at: Self.at(4)).isEmpty)
    #expect(queue.handle(.sessionChanged(.default), at: Self.at(4)).isEmpty)
  }

  @Test func `what has ended is listed for the life of its key, and no more of it than may wait`() {
    var queue = Self.queue(5, RequestQueue.Rules(mostEntries: 2))
    for number in UInt64(1)...5 { _ = Self.ended(&queue, number, .answered(Self.answer(200)), at: 0) }
    #expect(queue.requests(of: .default).map(\.id.number) == [4, 5])
    _ = queue.handle(.woken, at: Self.at(82_800))
    #expect(queue.requests(of: .default).isEmpty && queue.byteCount == 0)
  }

  @Test func `what a logout removes lets the line go on`() {
    var queue = Self.queue(2)
    // Nothing of it is written any more, whatever comes of its answer.
    #expect(queue.sendable(Self.id(1)) != nil)
    #expect(queue.handle(.leaving([Self.id(1)]), at: Self.at(1)).isEmpty && queue.sendable(Self.id(1)) == nil)
    #expect(Self.ended(&queue, 1, .unsent(.passing(retryAfter: nil)), at: 1).isEmpty)
    #expect(queue.handle(.woken, at: Self.at(1_000)).isEmpty)
    let actions = queue.handle(.removed([Self.id(1)]), at: Self.at(1))
    #expect(Self.sent(actions).map(\.id.number) == [2])
    #expect(Self.ended(&queue, 1, .answered(Self.answer(200)), at: 2).isEmpty)
  }
}
