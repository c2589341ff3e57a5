import BrokerCore
import BrokerProtocol
import TestSupport

/// How time passes, and how the broker dies and comes back.
extension Simulation {
  /// Begins the first life.
  func begin() throws(Violation) {
    subscribers = (0..<4).map { number in
      Subscriber(client: ClientID(UInt64(number)), profiles: number == 3 ? [.default] : nil)
    }
    server.grace = chance(0.2) ? .seconds(Int.random(in: 5...60, using: &random)) : .zero
    for index in profiles.indices { profiles[index].rules.rotationGrace = server.grace }
    try startLife()
  }

  /// Lets time pass, timer by timer; `healthily` answers everything at once.
  func pass(_ duration: Duration, healthily: Bool = false) throws(Violation) {
    trace.note("\(duration) pass")
    let end = life.clock.uptime + duration
    if healthily { try rest() }
    while let next = [life.clock.nextDeadline, nextCallEnd].compactMap(\.self).min(), next <= end {
      life.clock.set(uptime: next)
      try callDue()
      if healthily { try rest() }
    }
    life.clock.set(uptime: end)
  }

  /// The machine sleeps: what was due meanwhile happens late, and at once.
  func suspend(_ duration: Duration) throws(Violation) {
    trace.note("the machine sleeps for \(duration)")
    life.clock.set(uptime: life.clock.uptime + duration)
    if chance(0.5) { life.clock.tellSet() }
    try turn()
    try callDue()
    life.clock.tellSet()
    try turn()
  }

  private func callDue() throws(Violation) {
    try endLateCalls()
    while let action = life.clock.takeDue() {
      action()
      try turn()
    }
  }

  /// The broker dies: only what is durable outlives it, and what was under way may be.
  func crash() throws(Violation) {
    trace.note("crash")
    for call in life.providers.calls {
      if let sent = sent[call.number], sent.answer == nil, chance(0.5) {
        var when = sent.sending
        when.uptime = life.clock.uptime
        _ = server.answer(call.question, when, &random)
        trace.note("call \(call.number) has reached the provider")
      }
      spending.end(call.number, .unknown)
    }
    sent = [:]
    life.clock.stop()
    startElsewhere()
    try dropLife()
    try startLife()
  }

  /// Ends the present life: its last write is durable or not, and nothing that it does then reaches anybody.
  private func dropLife() throws(Violation) {
    let isWritten = chance(0.5)
    if isWritten, let call = life.storage.calls.first, call.question.isCommit {
      trace.note("its last write is durable: \(describe(call.question))")
      life.storage.answer(call.number, .done)
      executor.turn()
    }
    life.storage.cut(.failed)
    life.providers.cut(.failure(.transient(.networkUnavailable)))
    for _ in 0..<100 where executor.turn() {}
    for case .committed(let steps) in life.inbox.takeAll() {
      for case .event(let event) in steps { durable.crashed.insert(event.sequence) }
      try noteCommitted(steps)
    }
    forgetUnpromised()
    durable.surprisingRecords = []
    requests = [:]
    learnt = Learnt()
    wishes.logouts = [:]
    wishes.examined = []
    wishes.signedOut.formIntersection(profiles.map(\.name).filter { durable.living($0) == nil })
    wishes.isLocked = false
    wishes.reconfigurations = 0
    wishes.moved = Set(
      profiles.filter { profile in
        durable.records[profile.name].map { $0.binding.issuer != profile.issuer } ?? false
      }.map(\.name))
    // What was written down of the last use may be as old as the last record.
    lastUse = [:]
    for profile in profiles {
      let own = Purpose(profile: profile.name)
      if let token = shown[own], !durable.tokens.contains("A\(token.family).\(token.number)") {
        shown[own] = nil
      }
    }
  }

  /// What was told while the disk refused every promise is given again: nobody can do better.
  private func forgetUnpromised() {
    told.removeAll { $0.sequence > durable.promised }
    durable.forgetUnpromised()
    for index in subscribers.indices where subscribers[index].seen.map({ $0 > durable.promised }) == true {
      subscribers[index].seen = nil
    }
  }

  private func startLife() throws(Violation) {
    let old = life
    counts.lives += 1
    let clock = SimulatedClock(uptime: old.clock.uptime, wall: old.clock.now, boot: "boot-\(boots)")
    life = BrokerLife(
      counts.lives, profiles, disk, sharedDisk, executor, clock, entropy,
      asked: (old.providers.count, old.storage.count))
    lastQuestion = life.providers.count
    for index in subscribers.indices {
      subscribers[index].client = ClientID(UInt64(counts.lives * 100 + index))
      subscribers[index].subscription = nil
      if !subscribers[index].isFirm { subscribers[index].states = [:] }
      // What becomes of a session elsewhere before a start is told by the state that a subscription begins with.
      if plan.isShared { subscribers[index].states[.default] = nil }
      subscribers[index].asked = nil
    }
    trace.note("life \(counts.lives) begins")
    life.begin()
    try turn()
    let isDegraded = weather.isDiskFull
    for _ in 0..<3 {
      guard let call = life.storage.calls.first else { break }
      if isDegraded, case .reserve = call.question { try answerStorage() } else { try answerStorage(healthily: true) }
    }
    if plan.isShared { try readShared() }
    subscribers[0].states = [:]
    try subscribe(0, since: nil)
  }

  /// Lets the broker see what it shares, before what waits for its own disk.
  private func readShared() throws(Violation) {
    guard let call = life.storage.calls.first(where: { $0.question.isRead }) else { return }
    trace.note("disk: read done")
    life.storage.answer(call.number, .done)
    try turn()
  }
}
