/// The changes on their way to stores that other brokers share: one at a time of each profile, in order, and none of them in
/// the way of the broker's own store.
///
/// A value: it does no I/O.
struct SharedCommits {
  /// One change.
  struct Entry: Sendable {
    /// The store.
    let store: any RecordStore
    /// The steps.
    let steps: [StoreStep]
    /// The work that waits for it.
    let settlement: Settlement?
  }

  private var lanes: [SlotID: [Entry]] = [:]

  /// Whether nothing is on its way.
  var isIdle: Bool { lanes.isEmpty }

  /// Adds a change.
  ///
  /// - Returns: whether it is the profile's first, and so is to be committed now.
  mutating func add(_ entry: Entry, of slot: SlotID) -> Bool {
    lanes[slot, default: []].append(entry)
    return lanes[slot]?.count == 1
  }

  /// The change to commit now; nil where none is left.
  func first(of slot: SlotID) -> Entry? { lanes[slot]?.first }

  /// Takes out the change that was committed, or refused.
  mutating func finish(_ slot: SlotID) {
    guard let lane = lanes[slot] else { return }
    lanes[slot] = lane.count > 1 ? Array(lane.dropFirst()) : nil
  }
}
