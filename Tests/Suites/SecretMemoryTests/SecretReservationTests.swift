import SecretMemory
import TestSupport
import Testing

@testable import LinuxSystem

/// Room that is set aside, and what waits for room.
@Suite(.standardTimeLimit) struct SecretReservationTests {
  private func secret(_ count: Int, in arena: SecretArena) throws(SecretMemoryExhausted) -> Secret {
    try Secret(copying: [UInt8](repeating: 7, count: count).span, in: arena)
  }

  @Test func `what is set aside is nobody else's, and goes back when it is not used`() throws {
    let arena = SecretArena(capacity: 4_096)
    var room: SecretReservation? = try SecretReservation(forByteCounts: [1_024, 2_048], in: arena)
    #expect(arena.usage.bytesInUse == 3_072)
    let rest = try secret(1_024, in: arena)
    #expect(throws: SecretMemoryExhausted.self) { try secret(1, in: arena) }
    withExtendedLifetime((room, rest)) {}
    room = nil
    #expect(arena.usage.bytesInUse == 1_024)
    #expect(try secret(2_048, in: arena).byteCount == 2_048)
  }

  @Test func `room is set aside for all or for none`() throws {
    let arena = SecretArena(capacity: 4_096)
    let taken = try secret(2_048, in: arena)
    #expect(throws: SecretMemoryExhausted.self) {
      try SecretReservation(forByteCounts: [1_024, 1_024, 64], in: arena)
    }
    #expect(arena.usage.bytesInUse == taken.byteCount)
  }

  @Test func `each secret takes the smallest block that is set aside and holds it, once no other is free`() throws {
    let arena = SecretArena(capacity: 4_096)
    let room = try SecretReservation(forByteCounts: [2_048, 64, 256], in: arena)
    let scope = SecretScope(arena: arena, reservation: room)
    var held: [Secret] = []
    // The gaps between the blocks are used first.
    while let secret = try? self.secret(64, in: arena) { held.append(secret) }
    #expect(throws: SecretMemoryExhausted.self) { try secret(1, in: arena) }
    for count in [64, 200, 2_000] {
      let text = String(repeating: "a", count: count)
      held.append(try scope.run { () throws(SecretMemoryExhausted) in try Secret(utf8: text) })
    }
    #expect(arena.usage.bytesInUse == arena.usage.capacity)
    #expect(throws: SecretMemoryExhausted.self) {
      try scope.run { () throws(SecretMemoryExhausted) in try Secret(utf8: "a") }
    }
    withExtendedLifetime((held, room)) {}
  }

  @Test func `room that was set aside in one arena is not used in another`() throws {
    let (arena, other) = (SecretArena(capacity: 4_096), SecretArena(capacity: 4_096))
    let room = try SecretReservation(forByteCounts: [4_096], in: arena)
    let full = try secret(4_096, in: other)
    #expect(throws: SecretMemoryExhausted.self) {
      try SecretScope(arena: other, reservation: room).run { () throws(SecretMemoryExhausted) in
        try Secret(utf8: "a")
      }
    }
    withExtendedLifetime(full) {}
  }

  @Test func `whoever finds no room goes on as soon as some has come back`() async throws {
    let arena = SecretArena(capacity: 4_096)
    var full: Secret? = try secret(4_096, in: arena)
    let waiting = SecretScope(arena: arena).run {
      Task {
        try await SecretArena.withRoom(patience: .seconds(3600), alarm: TaskThread.shared.schedule) {
          () throws(SecretMemoryExhausted) in
          try Secret(utf8: String(repeating: "a", count: 4_000))
        }
      }
    }
    while arena.waiterCount == 0 { await Task.yield() }
    #expect(full?.byteCount == 4_096)
    full = nil
    #expect(try await waiting.value.byteCount == 4_000)
    #expect(arena.waiterCount == 0)
  }

  @Test func `whoever is cancelled, or has waited for long enough, waits no more`() async throws {
    let arena = SecretArena(capacity: 4_096)
    let full = try secret(4_096, in: arena)
    for patience in [Duration.seconds(3600), .milliseconds(1)] {
      let waiting = SecretScope(arena: arena).run {
        Task {
          try await SecretArena.withRoom(patience: patience, alarm: TaskThread.shared.schedule) {
            () throws(SecretMemoryExhausted) in
            try Secret(utf8: "a")
          }
        }
      }
      if patience > .seconds(1) {
        while arena.waiterCount == 0 { await Task.yield() }
        waiting.cancel()
      }
      await #expect(throws: SecretMemoryExhausted.self) { try await waiting.value }
      #expect(arena.waiterCount == 0)
    }
    withExtendedLifetime(full) {}
  }
}
