/// The identity of one scheduled call; never used again.
package struct TimerID: Hashable, Sendable {
  /// In the order in which calls were scheduled.
  let serial: UInt64
}

/// Deadlines in order: a binary heap.
///
/// A cancelled one stays in the heap until its time or until there are more of them than living ones, so that
/// cancelling costs no search.
struct TimerQueue {
  private struct Entry {
    let deadline: Int64
    let serial: UInt64

    /// Equal deadlines keep the order in which they were set.
    static func < (left: Entry, right: Entry) -> Bool {
      left.deadline != right.deadline ? left.deadline < right.deadline : left.serial < right.serial
    }
  }

  private var heap: [Entry] = []
  private var actions: [UInt64: () -> Void] = [:]
  private var serial: UInt64 = 0

  /// How many calls are still to be made.
  var count: Int { actions.count }

  /// The earliest deadline of a call that is still to be made, in nanoseconds since boot.
  mutating func nextDeadline() -> Int64? {
    while let first = heap.first {
      if actions[first.serial] != nil { return first.deadline }
      removeFirst()
    }
    return nil
  }

  /// Adds a call for a time in nanoseconds since boot, which may be past.
  mutating func schedule(at deadline: Int64, _ action: @escaping () -> Void) -> TimerID {
    serial += 1
    actions[serial] = action
    heap.append(Entry(deadline: deadline, serial: serial))
    siftUp(heap.count - 1)
    return TimerID(serial: serial)
  }

  /// Cancels a call.
  ///
  /// - Returns: false if it was made or cancelled before.
  mutating func cancel(_ timer: TimerID) -> Bool {
    guard actions.removeValue(forKey: timer.serial) != nil else { return false }
    if heap.count > 64, heap.count > 2 * actions.count { compact() }
    return true
  }

  /// Takes out the earliest call whose time has come, `now` being nanoseconds since boot.
  mutating func takeDue(at now: Int64) -> (() -> Void)? {
    while let first = heap.first, first.deadline <= now {
      removeFirst()
      if let action = actions.removeValue(forKey: first.serial) { return action }
    }
    return nil
  }

  private mutating func compact() {
    heap.removeAll { actions[$0.serial] == nil }
    // A sorted array is a heap.
    heap.sort { $0 < $1 }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    siftDown(0)
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0, heap[index] < heap[(index - 1) / 2] {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func siftDown(_ start: Int) {
    var index = start
    while true {
      var least = index
      for child in 2 * index + 1...2 * index + 2 where child < heap.count && heap[child] < heap[least] {
        least = child
      }
      guard least != index else { return }
      heap.swapAt(index, least)
      index = least
    }
  }
}
