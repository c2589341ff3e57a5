/// The blocks of an arena, and the callers that wait for one.
///
/// A value, so that all of it changes under one lock; it touches no memory of the arena itself.
struct ArenaState {
  /// A block that is set aside.
  private struct Block {
    let offset: Int
    let order: Int
  }

  /// The free blocks; reserved ones are not among them.
  private(set) var allocator: BuddyAllocator
  /// The number of times that room has come back: a caller that finds none waits for another number.
  private(set) var releases: UInt64 = 0

  /// The blocks of each reservation, the smallest first.
  private var reserved: [UInt64: [Block]] = [:]
  private var lastReservation: UInt64 = 0
  private var waiting: [UInt64: RoomWaiter] = [:]

  /// An arena of which everything is free.
  init(capacity: Int) { allocator = BuddyAllocator(capacity: capacity) }

  /// Takes a block: a free one, else one of a reservation.
  ///
  /// - Returns: its offset, or nil where there is none.
  mutating func allocate(order: Int, reservation: UInt64?) -> Int? {
    if let offset = allocator.allocate(order: order) { return offset }
    guard let reservation, let index = reserved[reservation]?.firstIndex(where: { $0.order >= order }),
      let block = reserved[reservation]?.remove(at: index)
    else { return nil }
    // A longer block is split by the allocator: what is left of it is anyone's.
    allocator.release(offset: block.offset, order: block.order)
    return allocator.allocate(order: order)
  }

  /// Releases a block; returns the waiters for room.
  mutating func release(offset: Int, order: Int) -> [RoomWaiter] {
    allocator.release(offset: offset, order: order)
    return noteRelease()
  }

  /// Sets blocks aside, all or none; nil where there is no room for all of them.
  mutating func reserve(_ orders: [Int]) -> UInt64? {
    var blocks: [Block] = []
    // The longest first: a short one would break a long one up.
    for order in orders.sorted(by: >) {
      guard let offset = allocator.allocate(order: order) else {
        for block in blocks { allocator.release(offset: block.offset, order: block.order) }
        return nil
      }
      blocks.append(Block(offset: offset, order: order))
    }
    lastReservation += 1
    reserved[lastReservation] = blocks.reversed()
    return lastReservation
  }

  /// Frees the rest of a reservation; returns the callers that wait for room.
  mutating func endReservation(_ number: UInt64) -> [RoomWaiter] {
    guard let blocks = reserved.removeValue(forKey: number), !blocks.isEmpty else { return [] }
    for block in blocks { allocator.release(offset: block.offset, order: block.order) }
    return noteRelease()
  }

  /// Lets a task wait for room, unless some has come back since it looked; false where it need not wait.
  mutating func wait(
    _ continuation: RoomWaiter, named name: UInt64, since releases: UInt64
  ) -> Bool {
    guard releases == self.releases else { return false }
    waiting[name] = continuation
    return true
  }

  /// How many tasks wait for room.
  var waiterCount: Int { waiting.count }

  /// Forgets a task that waits; nil where it does not any more.
  mutating func forget(_ name: UInt64) -> RoomWaiter? { waiting.removeValue(forKey: name) }

  private mutating func noteRelease() -> [RoomWaiter] {
    releases &+= 1
    guard !waiting.isEmpty else { return [] }
    defer { waiting = [:] }
    return Array(waiting.values)
  }
}
