package import BrokerProtocol
import JSON
import TextCoding

/// The methods of the queue of requests.
extension Broker {
  /// The most bytes of all requests that wait together: the database stays small enough for every disk.
  private static let mostQueuedBytes = 64 << 20

  /// The characters of an id: 72 bits, so that no two are the same; an id opens nothing.
  private static let idLength = 12

  /// Queues a request; it is answered once that is durable.
  package func queueRequest(
    _ params: QueueRequest.Params, _ caller: Caller<QueueRequest.Result>
  ) throws(BrokerError) {
    let (request, slot) = try judged(params.request, as: caller.principal)
    try Self.check(request, params.idempotencyKey)
    let limited = try caller.principal.limited(
      to: slot.name, params.request.scopes, params.request.audience, own: slot.machine.living?.tokens.scopes)
    let target = try target(limited.scopes, limited.audience, on: slot)
    guard slot.machine.living != nil || slot.provider.capabilities.grant != nil else {
      throw BrokerError(.loginRequired, profile: slot.name)
    }
    if caller.principal.confirmation(of: slot.name) != .never {
      let again: Method<QueueRequest.Result> = { broker, caller throws(BrokerError) in
        try broker.queueRequest(params, caller)
      }
      let demand = Consents.Demand(
        slot: slot.id, method: QueueRequest.name, scopes: limited.scopes, audience: limited.audience)
      guard try isConsented(demand, caller, again: again) else { return }
    }
    let digest = entropy.digest(of: Self.rendered(params, request, limited.scopes, limited.audience))
    let socket = caller.principal.permissions.client?.socket
    if let known = queued.request(of: slot.name, key: params.idempotencyKey, socket: socket) {
      guard known.digest == digest else {
        throw .unfit("/idempotencyKey", "must be another one: it was given with another request")
      }
      guard !queued.join(caller, to: known.id) else { return }
      return answer(caller, .success(QueueRequest.Result(requestID: known.requestID)))
    }
    let byteCount = request.fields.reduce(request.body?.count ?? 0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    try requireRoom(byteCount, on: slot)
    if let token = token(of: slot, for: target)?.token {
      noteUse(of: token, for: target, slot, by: caller.principal)
    }
    keep(
      QueuedRequest(
        id: queued.nextID(of: slot.name), requestID: String(entropy.handle().prefix(Self.idLength)),
        binding: slot.provider.binding,
        user: slot.machine.living.flatMap { owners(of: $0, on: slot)[0] }, socket: socket, key: params.idempotencyKey,
        digest: digest, method: request.method,
        url: request.url, scopes: limited.scopes, audience: limited.audience, timeout: request.timeout,
        byteCount: byteCount, queuedAt: now.wall),
      .request(HeaderFields(request.fields), body: request.body), for: caller)
  }

  private func keep(
    _ request: QueuedRequest, _ contents: QueuedContents, for caller: Caller<QueueRequest.Result>
  ) {
    queued.enter(request, for: caller)
    // With the same key one of them would be sent as well, whatever became of this one.
    let forgotten = queued.forgettingDoubtful(of: request.id.profile)
    change(
      StoreChange(.record, forgotten + [.keepRequest(request, contents)], of: request.id.profile),
      then: .request { broker, failure in
        guard let entering = broker.queued.leave(request.id) else { return }
        let result: Result<QueueRequest.Result, BrokerError>
        if let failure {
          broker.queued.doubt(request.id)
          result = .failure(BrokerError(failure))
        } else {
          broker.queued.settleDoubt(forgotten)
          result = .success(QueueRequest.Result(requestID: request.requestID))
        }
        for caller in entering.callers { broker.answer(caller, result) }
        if failure == nil { broker.handle(.added(request)) }
      })
  }

  private static func check(_ request: APIRequest, _ key: String) throws(BrokerError) {
    guard !request.method.hasNoBody, request.method != .options else {
      throw .unfit("/method", "must be POST, PUT, PATCH or DELETE: what only reads is not queued")
    }
    guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .unfit("/idempotencyKey", "must be 1 to 255 visible ASCII characters, such as a UUID")
    }
    guard !request.fields.contains(where: { $0.name.lowercased() == APIRequest.keyField.lowercased() }) else {
      throw .unfit("/headers/\(APIRequest.keyField)", "must be absent: it is sent with the value of /idempotencyKey")
    }
  }

  /// Everything that makes a request this one, in one text.
  private static func rendered(
    _ params: QueueRequest.Params, _ request: APIRequest, _ scopes: [String]?, _ audience: String?
  ) -> [UInt8] {
    var params = params
    (params.request.profile, params.request.url) = (nil, request.url)
    (params.request.scopes, params.request.audience) = (scopes, audience)
    (params.request.body, params.request.bodyBytes) = (nil, request.body)
    var writer = JSONWriter()
    params.encode(to: &writer)
    return writer.bytes
  }

  private func requireRoom(_ byteCount: Int, on slot: ProfileSlot) throws(BrokerError) {
    let most = slot.requests?.rules.queue.mostEntries ?? 0
    guard queued.waiting(of: slot.name) < most else {
      throw BrokerError(.overloaded, "The queue of \(slot.name) is full: \(most) requests wait.", profile: slot.name)
    }
    guard queued.byteCount + byteCount <= Self.mostQueuedBytes else {
      throw BrokerError(
        .overloaded, "The queues are full: the requests that wait have \(Self.mostQueuedBytes >> 20) MiB.",
        profile: slot.name)
    }
  }

  // MARK: Looking

  /// How many requests are listed at most: an answer of some hundred kilobytes.
  private static let mostListed = 1000

  /// Lists the requests that a client may know of.
  package func listRequests(
    _ params: ListRequests.Params, _ caller: Caller<ListRequests.Result>
  ) throws(BrokerError) {
    let all = try view(of: caller.principal).slots(for: params.profile).flatMap { queued.queue.requests(of: $0.name) }
      .filter { Self.isShown($0, to: caller.principal) }
    let ended = all.filter(\.hasEnded).sorted { ($0.endedAt ?? $0.queuedAt) > ($1.endedAt ?? $1.queuedAt) }
    let ordered = all.filter { !$0.hasEnded } + ended
    let omitted = ordered.count - Self.mostListed
    answer(
      caller,
      .success(
        ListRequests.Result(
          requests: ordered.prefix(Self.mostListed).map(state), omitted: omitted > 0 ? omitted : nil)))
  }

  /// Tells of a request, and of its answer.
  package func getRequest(_ params: GetRequest.Params, _ caller: Caller<GetRequest.Result>) throws(BrokerError) {
    let request = try request(params.requestID, for: caller.principal)
    guard case .completed = request.stage else {
      return answer(caller, .success(GetRequest.Result(request: state(of: request))))
    }
    askStore { store throws(StoreFailure) in
      try await store.contents(of: request.id)
    } then: { broker, result in
      broker.answer(
        caller,
        result.mapError { BrokerError($0) }.map { contents in
          var answer: SendRequest.Result?
          if case .answer(let given) = contents { answer = SendRequest.Result(given) }
          return GetRequest.Result(request: broker.state(of: request), answer: answer)
        })
    }
  }

  /// Takes a request out of the queue, and answers once that is durable.
  package func cancelRequest(
    _ params: CancelRequest.Params, _ caller: Caller<CancelRequest.Result>
  ) throws(BrokerError) {
    let request = try request(params.requestID, for: caller.principal)
    run(queued.handle(.cancelled(request.id), at: now)) { broker, failure in
      if let failure { return broker.refuse(caller.id, BrokerError(failure)) }
      let present = broker.queued.queue.request(request.requestID) ?? request
      broker.answer(caller, .success(CancelRequest.Result(request: broker.state(of: present))))
    }
  }

  private func request(_ id: String, for principal: Principal) throws(BrokerError) -> QueuedRequest {
    guard let request = queued.queue.request(id), view(of: principal).slot(named: request.id.profile) != nil,
      view(of: principal).sees(request.id.profile), Self.isShown(request, to: principal)
    else { throw .unfit("/requestId", "must be the id of a request that is listed") }
    return request
  }

  /// Whether a client may know of a request: at a limited socket, of those alone that came by the same one.
  private static func isShown(_ request: QueuedRequest, to principal: Principal) -> Bool {
    guard let socket = principal.permissions.client?.socket else { return true }
    return request.socket == socket
  }

  private func state(of request: QueuedRequest) -> QueuedRequestState {
    var state = QueuedRequestState(
      requestID: request.requestID, profile: request.id.profile, state: request.stage.word,
      method: request.method.rawValue, url: request.url, idempotencyKey: request.key, queuedAt: request.queuedAt)
    (state.attempts, state.firstAttemptAt) = (request.attempts, request.firstAttemptAt)
    (state.reason, state.endedAt) = (queued.queue.reason(request), request.endedAt)
    if case .completed(let status) = request.stage { state.status = status }
    if case .failed(let kind) = request.stage { state.kind = kind.rawValue }
    return state
  }
}

extension QueuedRequest.Stage {
  /// The stage for clients.
  fileprivate var word: QueuedRequestState.Stage {
    switch self {
    case .waiting: .queued
    case .sending: .sending
    case .completed: .completed
    case .failed: .failed
    }
  }
}
