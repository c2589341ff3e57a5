import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// Who is told what, and where missed events can be had.
@Suite(.standardTimeLimit) struct SubscriptionHubTests {
  private func event(_ sequence: UInt64, _ payload: EventPayload = .configReloaded) -> BrokerEvent {
    BrokerEvent(
      sequence: sequence, profile: nil, time: Timestamp(milliseconds: 1_800_000_000_000), payload: payload)
  }

  private func hub(after sequence: UInt64, completeAfter: UInt64, events: ClosedRange<UInt64>) -> SubscriptionHub {
    var hub = SubscriptionHub()
    hub.open(after: sequence, completeness: EventCompleteness(all: completeAfter))
    for number in events { _ = hub.publish(event(number)) }
    return hub
  }

  @Test func `new events come from memory, older ones from the store, and the oldest from nowhere`() {
    let hub = hub(after: 100, completeAfter: 40, events: 101...110)
    #expect(hub.source(since: 110) == .memory([]))
    #expect(hub.source(since: 108) == .memory([event(109), event(110)]))
    #expect(hub.source(since: 99) == .store(through: 100))
    #expect(hub.source(since: 40) == .store(through: 100))
    #expect(hub.source(since: 39) == .nowhere)
    #expect(hub.source(since: 111) == .nowhere)
  }

  @Test func `at least the last thousand events stay in memory`() {
    let count = UInt64(SubscriptionHub.keptEvents)
    for total in [count, count * 2, count * 2 + 1, count * 5] {
      let hub = hub(after: 0, completeAfter: 0, events: 1...total)
      guard case .memory(let events) = hub.source(since: total - count) else {
        Issue.record("\(total)")
        continue
      }
      #expect(events.map(\.sequence) == Array(total - count + 1...total))
    }
  }

  @Test func `what was forgotten or never kept is not given out`() {
    var hub = hub(after: 0, completeAfter: 0, events: 1...5)
    hub.forgetKept()
    #expect(hub.source(since: 2) == .store(through: 5))
    hub.noteIncomplete(through: 3)
    #expect(hub.source(since: 2) == .nowhere)
    #expect(!hub.mayReplay(since: 2) && hub.mayReplay(since: 3))
    _ = hub.publish(event(6, .vaultLocked))
    #expect(hub.source(since: 5) == .memory([]))
    #expect(hub.sequence == 6)
  }

  @Test func `a wish decides who is told`() {
    var hub = SubscriptionHub()
    hub.open(after: 0, completeness: EventCompleteness())
    let all = hub.subscribe(ClientID(1), SubscriptionHub.Wish())
    let some = hub.subscribe(ClientID(2), SubscriptionHub.Wish(events: [.shuttingDown]))
    #expect(hub.publish(event(1)).map(\.subscriptionID) == [all])
    #expect(hub.publish(event(2, .shuttingDown)).map(\.subscriptionID) == [all, some])
    hub.leave(ClientID(1))
    #expect(hub.publish(event(3)).isEmpty && hub.count == 1)
  }

  @Test func `who wants lasting events only is served though others are gone`() {
    var hub = SubscriptionHub()
    hub.open(after: 100, completeness: EventCompleteness(all: 90, lasting: 10))
    let lasting = SubscriptionHub.Wish(events: [.login, .sessionExpired])
    #expect(hub.source(since: 50, lasting) == .store(through: 100))
    #expect(hub.source(since: 50) == .nowhere)
    #expect(hub.source(since: 50, SubscriptionHub.Wish(events: [.login, .loginFailed])) == .nowhere)
    #expect(hub.source(since: 9, lasting) == .nowhere)
  }

  @Test func `a replay is told page by page, then what happened meanwhile, and then what happens`() {
    var hub = hub(after: 100, completeAfter: 0, events: 101...700)
    let client = ClientID(1)
    let id = hub.subscribe(client, SubscriptionHub.Wish(), after: 50)
    #expect(hub.nextPage(of: client, id) == .store(after: 50, through: 100))
    #expect(hub.publish(event(701)).isEmpty)
    hub.advance(client, id, through: 100)
    guard case .events(let first, false) = hub.nextPage(of: client, id),
      case .events(let second, false) = hub.nextPage(of: client, id),
      case .events(let third, true) = hub.nextPage(of: client, id)
    else {
      Issue.record("no pages")
      return
    }
    #expect((first + second + third).map(\.sequence) == Array(101...701))
    #expect(first.count == SubscriptionHub.pageCount)
    #expect(hub.nextPage(of: client, id) == .none && !hub.isReplaying(client, id))
    #expect(hub.publish(event(702)).map(\.subscriptionID) == [id])
  }

  @Test func `events that are kept nowhere reach a replay that was under way when they happened`() {
    var hub = hub(after: 0, completeAfter: 0, events: 1...3)
    _ = hub.publish(event(4, .networkDown))
    let client = ClientID(1)
    let id = hub.subscribe(client, SubscriptionHub.Wish(), after: 0)
    _ = hub.publish(event(5, .vaultLocked))
    #expect(
      hub.nextPage(of: client, id) == .events([event(1), event(2), event(3), event(5, .vaultLocked)], isLast: true))
  }

  @Test func `what is lost under a replay is named, once`() {
    var hub = hub(after: 100, completeAfter: 0, events: 101...102)
    let client = ClientID(1)
    let id = hub.subscribe(client, SubscriptionHub.Wish(), after: 10)
    hub.noteIncomplete(through: 40)
    #expect(hub.nextPage(of: client, id) == .lost(from: 11, through: 40))
    #expect(hub.nextPage(of: client, id) == .store(after: 40, through: 100))
    #expect(hub.skipStore(client, id) == .lost(from: 41, through: 100))
    #expect(hub.nextPage(of: client, id) == .events([event(101), event(102)], isLast: true))
  }

  @Test func `ending a connection looks at its own subscriptions alone`() {
    var hub = SubscriptionHub()
    let (clients, each) = (2_000, 32)
    for client in 1...clients {
      for _ in 0..<each { _ = hub.subscribe(ClientID(UInt64(client)), SubscriptionHub.Wish()) }
    }
    for client in 1...clients {
      #expect(hub.count(of: ClientID(UInt64(client))) == each)
      hub.leave(ClientID(UInt64(client)))
      #expect(hub.count == (clients - client) * each)
    }
    // Each is looked at when it ends; for the gaps, as many again are moved in all.
    #expect(hub.visits <= clients * each * 3, "\(hub.visits)")
    #expect(hub.publish(event(1)).isEmpty)
  }

  @Test func `whatever ends and in whatever order, those that are left are told in the order of their beginning`() {
    var (hub, random, model) = (SubscriptionHub(), SeededGenerator(seed: 3), [(client: UInt64, id: String)]())
    for step in 1...3_000 {
      let client = UInt64.random(in: 1...20, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        hub.leave(ClientID(client))
        model.removeAll { $0.client == client }
      case 1...3:
        let id = model.randomElement(using: &random)?.id ?? "s0"
        let isOwn = model.contains { $0.client == client && $0.id == id }
        #expect(hub.unsubscribe(ClientID(client), id) == isOwn)
        model.removeAll { $0.client == client && $0.id == id }
      default: model.append((client, hub.subscribe(ClientID(client), SubscriptionHub.Wish())))
      }
      guard step.isMultiple(of: 50) else { continue }
      #expect(hub.publish(event(UInt64(step))).map(\.subscriptionID) == model.map(\.id))
      #expect(hub.count == model.count)
      for client in 1...20 as ClosedRange<UInt64> {
        #expect(hub.count(of: ClientID(client)) == model.count { $0.client == client })
      }
    }
  }

  @Test func `a subscriber to whom profiles are hidden counts what it is told, and the others do not`() throws {
    var hub = SubscriptionHub()
    let (shop, work) = (try #require(ProfileName("shop")), try #require(ProfileName("work")))
    let (limited, whole) = (ClientID(1), ClientID(2))
    _ = hub.subscribe(whole, SubscriptionHub.Wish())
    #expect(hub.subscribe(limited, SubscriptionHub.Wish(visible: ProfileMask([shop]))) == "s1")
    #expect(hub.unsubscribe(limited, "s1") && !hub.unsubscribe(limited, "s1"))
    #expect(hub.subscribe(limited, SubscriptionHub.Wish(visible: ProfileMask([shop]))) == "s2")
    var told: [ClientID: [UInt64]] = [:]
    for (sequence, profile) in zip(11...15 as ClosedRange<UInt64>, [shop, work, nil, work, shop]) {
      var event = event(sequence)
      event.profile = profile
      for delivery in hub.publish(event) {
        told[delivery.client, default: []].append(delivery.event.sequence)
        #expect(delivery.details == delivery.event.details() && delivery.event.profile == profile)
      }
    }
    #expect(told == [limited: [1, 2, 3], whole: [11, 12, 13, 14, 15]])
  }
}
