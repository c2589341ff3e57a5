import BrokerProtocol
import JSON
import SecretMemory

/// Memory for the reply to a refresh, reserved before the token is sent.
extension Broker {
  /// How long a flight waits for room, as long as a call that a person waits for: room comes back with the flights that
  /// are under way.
  private static let roomPatience = Duration.seconds(10)

  /// Sets room aside for the reply to a flight, unless that was done, and goes on.
  ///
  /// Where there is none, the flight waits for those that are under way. Where none is, or it has waited for long enough,
  /// the machine is told.
  func reserveRoom(
    for flight: UInt64, on slot: ProfileSlot, then go: @escaping @Sendable (isolated Broker, ProfileSlot) -> Void
  ) {
    guard slot.room == nil, let tokens = slot.machine.living?.tokens else { return go(self, slot) }
    let byteCounts = Self.replyByteCounts(tokens)
    do throws(SecretMemoryExhausted) {
      slot.room = try withRoom { () throws(SecretMemoryExhausted) in
        try SecretReservation(forByteCounts: byteCounts)
      }
      go(self, slot)
    } catch {
      awaitRoom(byteCounts, for: flight, slot.id, go)
    }
  }

  private func awaitRoom(
    _ byteCounts: [Int], for flight: UInt64, _ id: SlotID,
    _ go: @escaping @Sendable (isolated Broker, ProfileSlot) -> Void
  ) {
    let waits = background.isUnderWay
    background.beginCall()
    let wait = Task {
      let room = waits ? await apart { await Self.room(for: byteCounts) } : nil
      take(room, for: flight, id, go)
      background.endCall()
      noteWorkEnded()
    }
    if waits { _ = clock.schedule(at: now.uptime + Self.roomPatience) { wait.cancel() } }
  }

  /// Continues a flight that has waited for room, unless it is no longer wanted.
  private func take(
    _ room: SecretReservation?, for flight: UInt64, _ id: SlotID,
    _ go: (isolated Broker, ProfileSlot) -> Void
  ) {
    guard let slot = holder(id), slot.machine.refresh.isUnderWay(flight) else { return }
    guard let room else { return handle(.noRoom(flight: flight), on: slot) }
    slot.room = room
    go(self, slot)
  }

  /// Waits for room until the task is cancelled; nil then.
  private static func room(for byteCounts: [Int]) async -> SecretReservation? {
    // The end of the waiting is the end of its task.
    let alarm: (Duration, @escaping @Sendable () -> Void) -> Void = { _, _ in }
    return try? await SecretArena.withRoom(patience: roomPatience, alarm: alarm) { () throws(SecretMemoryExhausted) in
      try SecretReservation(forByteCounts: byteCounts)
    }
  }

  /// The least that is set aside for a token, so that an opaque one may become somewhat longer.
  private static let leastTokenRoom = 256

  /// The expected lengths of a refresh's secrets: the new tokens are seldom twice as long as those before them, and the
  /// request holds the refresh token, of which each byte may be written as three.
  ///
  /// A reply with longer ones finds other room, or waits for it.
  private static func replyByteCounts(_ tokens: TokenSet) -> [Int] {
    let known = [tokens.accessToken.value, tokens.refreshToken?.value, tokens.idToken].compactMap { $0?.byteCount }
    let request = 3 * (tokens.refreshToken?.value.byteCount ?? 0) + 2 * leastTokenRoom
    return known.map { min(max(2 * $0, leastTokenRoom), JSONNode.tokenByteLimit) } + [request]
  }
}
