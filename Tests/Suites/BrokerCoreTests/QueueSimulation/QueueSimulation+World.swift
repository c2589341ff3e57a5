import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport

/// The disk, the API, the provider and the time of a simulated queue, and the laws.
extension QueueSimulation {
  /// Lets the broker go on until it waits for the world outside, and looks at what it has done.
  func turn() throws {
    repeat {
      executor.turn()
      let messages = life.inbox.takeAll()
      for case .committed(let steps) in messages { try noteCommitted(steps) }
      try noteQuestions()
      for case .answered(let number, let answer) in messages { try noteAnswered(number, answer) }
    } while executor.turn()
  }

  // MARK: The world

  func answerStorage(healthily: Bool = false) throws {
    guard let call = life.storage.calls.first else { return }
    let answer: StoreAnswer =
      switch call.question {
      case .lock, .read: .done
      case .commit where !healthily && chance(0.03): .doneButFailed
      default: healthily || chance(0.95) ? .done : .failed
      }
    life.storage.answer(call.number, answer)
    try turn()
  }

  /// Acts on a request, once for its key.
  func act(_ question: Question) {
    guard let number = Int(question.body), !effects.contains(number) else { return }
    effects.append(number)
    counts.effects += 1
  }

  func answerAPI(healthily: Bool = false) throws {
    guard let call = api.calls.randomElement(using: &random), let number = Int(call.question.body) else { return }
    let status: Int
    switch healthily ? 9 : Int.random(in: 0..<16, using: &random) {
    case 0, 1:
      if chance(0.5) { act(call.question) }
      status = 500
    case 2: status = 429
    case 3: status = 409
    case 4: status = 401
    case 5, 6:
      if chance(0.5) { act(call.question) }
      counts.lost += 1
      api.answer(call.number, .failure(.outcomeUnknown(.networkUnavailable)))
      return try turn()
    case 7:
      api.answer(call.number, .failure(.transient(.networkUnavailable)))
      return try turn()
    default:
      act(call.question)
      status = 201
    }
    if status == 500 { entries[number].serverErrors += 1 }
    api.answer(call.number, .success(APIAnswer(status: status, headers: HeaderFields(), body: [])))
    try turn()
  }

  /// The provider knows everyone, and its tokens have no end.
  func answerProvider() throws {
    guard let call = life.providers.calls.first else { return }
    let answer: ProviderAnswer
    switch call.question.question {
    case .login(let name):
      answer = .outcome(.authenticated(ProviderSession(tokens: tokens(of: name), user: User(id: name))))
    case .refresh(let text), .target(let text, _): answer = .tokens(tokens(of: owners[text] ?? ""))
    case .currentUser(let text): answer = .user(User(id: owners[text] ?? ""))
    default: answer = .done
    }
    life.providers.answer(call.number, answer)
    try turn()
  }

  private func tokens(of name: String) -> TokenSet {
    let number = owners.count
    (owners["A\(number)"], owners["R\(number)"]) = (name, name)
    return TokenSet(
      accessToken: ScriptedProvider.secret("A\(number)"), accessTokenExpiresAt: nil,
      refreshToken: ScriptedProvider.secret("R\(number)"), scopes: ["read"])
  }

  func pass(_ duration: Duration) throws {
    let end = life.clock.uptime + duration
    while let next = life.clock.nextDeadline, next <= end {
      life.clock.set(uptime: next)
      while let action = life.clock.takeDue() {
        action()
        try turn()
      }
    }
    life.clock.set(uptime: end)
  }

  // MARK: The laws

  func noteCommitted(_ steps: [StoreStep]) throws {
    for step in steps {
      switch step {
      case .keepRequest(let request, _):
        if let old = durable[request.key], old.id != request.id || old.hasEnded && !request.hasEnded {
          throw fail("\(request.key) is kept under another number, or lives again")
        }
        durable[request.key] = request
      case .forgetRequest(let id):
        // One that was refused, or never was, is forgotten again.
        guard let request = durable.values.first(where: { $0.id == id }) else { break }
        guard request.hasEnded || !entries.contains(where: { $0.id == request.requestID }) else {
          throw fail("\(id) is forgotten before its end")
        }
        durable[request.key] = nil
      default: break
      }
    }
  }

  private func noteQuestions() throws {
    for call in api.calls where call.number > lastQuestion { try note(call.question) }
    lastQuestion = max(lastQuestion, api.count)
  }

  private func note(_ question: Question) throws {
    counts.sent += 1
    guard let number = Int(question.body), entries.indices.contains(number), question.key == "k\(number)" else {
      throw fail("\(question.body) is sent with \(question.key)")
    }
    let entry = entries[number]
    guard let owner = owners[question.token], owner == entry.user else {
      throw fail("\(number) of \(entry.user) is sent with \(question.token)")
    }
    guard let kept = durable[question.key], kept.stage == .sending, !kept.isCancelled else {
      throw fail("\(number) is sent, and rests as \(String(describing: durable[question.key]))")
    }
    guard !entry.isCancelled else { throw fail("\(number) is sent, and a client was told that it is not") }
    guard kept.id.number >= furthest || entry.mayBeCancelled || entry.wasRefused else {
      throw fail("\(number) is sent after \(furthest)")
    }
    furthest = max(furthest, kept.id.number)
  }

  private func noteAnswered(_ number: Int, _ answer: Inbox.Answer) throws {
    guard let ask = asked.removeValue(forKey: number) else { throw fail("answer \(number) comes twice") }
    switch (ask, answer) {
    case (.queue(let entry), .queued(let id)):
      counts.queued += 1
      guard entries[entry].id == nil || entries[entry].id == id else { throw fail("\(entry) has two ids") }
      guard durable["k\(entry)"] != nil else { throw fail("\(entry) is queued, and rests nowhere") }
      entries[entry].id = id
    case (.cancel(let entry), .request(let state)):
      guard state.status == nil, state.kind == nil || state.kind == RequestFailure.cancelled.rawValue else { return }
      guard let kept = durable["k\(entry)"], kept.isCancelled || kept.hasEnded else {
        throw fail("\(entry) is cancelled, and does not rest so")
      }
      counts.cancelled += 1
      entries[entry].isCancelled = true
    case (.login, .login): counts.logins += 1
    case (.queue(let entry), .error): entries[entry].wasRefused = true
    default: break
    }
  }

  // MARK: The end

  /// Ends all troubles, and lets everything be sent: each in its user's session.
  func settle() throws {
    step = steps
    // What a commit with an error has kept, or left out, is known from the next start on.
    try crash()
    for _ in 0..<4000 {
      if !life.storage.isIdle {
        try answerStorage(healthily: true)
      } else if !life.providers.isIdle {
        try answerProvider()
      } else if !api.isIdle {
        try answerAPI(healthily: true)
      } else if isShut {
        try unlock()
      } else if let waiting = durable.values.filter({ !$0.hasEnded }).min(by: { $0.id.number < $1.id.number }) {
        if user == waiting.user { try pass(.seconds(901)) } else { try changeUser(to: waiting.user ?? "") }
      } else {
        return try checkEnds()
      }
    }
    throw fail("the queue comes to no rest: \(durable.values.filter { !$0.hasEnded })")
  }

  private func checkEnds() throws {
    for (number, entry) in entries.enumerated() where entry.id != nil && !entry.mayBeCancelled {
      guard effects.contains(number) || entry.serverErrors >= 10 else {
        throw fail("\(number) is queued, and was not done")
      }
    }
    let done = effects.filter { !entries[$0].mayBeCancelled && !entries[$0].wasRefused }
    guard done == done.sorted() else { throw fail("done in the order \(effects)") }
  }
}
