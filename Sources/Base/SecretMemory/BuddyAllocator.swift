/// Decides which part of the arena holds which secret: a binary buddy allocator over offsets that touches no memory
/// of the arena itself.
///
/// Size classes are powers of two from ``smallestBlock`` up to the whole capacity. Released neighbours merge, so an
/// arena that was once full of small secrets can hold a large one again. The lowest free block is taken first: pages
/// that were never needed stay untouched. Bookkeeping lies outside the arena: free blocks hold zeroes only.
struct BuddyAllocator {
  /// The smallest size class in bytes: one cache line, so that two secrets never share one.
  static let smallestBlock = 64

  /// The total size of the blocks: a power of two times ``smallestBlock``, or 0.
  let capacity: Int

  /// The sum of the sizes of the blocks that are taken.
  private(set) var bytesInUse = 0

  /// The order of the block that covers everything; -1 when there is nothing to hand out.
  private let topOrder: Int
  /// One bit per block and order: set when that block is free as a whole.
  private var freeBlocks: [UInt64] = []
  /// The index in `freeBlocks` of each order's first word.
  private var firstWord: [Int] = []
  /// How many blocks of each order are free.
  private var freeCount: [Int] = []
  /// Below this word of an order no bit is set: where a search may begin.
  private var searchStart: [Int] = []

  /// An allocator of which everything is free.
  ///
  /// - Parameter capacity: in bytes; rounded down to a power of two times ``smallestBlock``.
  init(capacity: Int) {
    guard capacity >= Self.smallestBlock else {
      self.capacity = 0
      topOrder = -1
      return
    }
    let blocks = capacity / Self.smallestBlock
    topOrder = Int.bitWidth - 1 - blocks.leadingZeroBitCount
    self.capacity = Self.smallestBlock << topOrder
    var words = 0
    for order in 0...topOrder {
      firstWord.append(words)
      words += ((1 << (topOrder - order)) + 63) / 64
    }
    freeBlocks = Array(repeating: 0, count: words)
    freeCount = Array(repeating: 0, count: topOrder + 1)
    searchStart = Array(repeating: 0, count: topOrder + 1)
    markFree(block: 0, order: topOrder)
  }

  /// The size class that holds so many bytes.
  ///
  /// - Parameter byteCount: not negative.
  /// - Returns: the least order whose blocks, of `smallestBlock << order` bytes, are large enough.
  static func order(forByteCount byteCount: Int) -> Int {
    guard byteCount > smallestBlock else { return 0 }
    let blocks = (byteCount - 1) / smallestBlock
    return Int.bitWidth - blocks.leadingZeroBitCount
  }

  /// Takes the lowest free block of a size class, splitting a larger one where needed.
  ///
  /// - Returns: its offset in bytes, or `nil` when no block is large enough.
  mutating func allocate(order: Int) -> Int? {
    guard order <= topOrder, var current = (order...topOrder).first(where: { freeCount[$0] > 0 }) else { return nil }
    var block = takeLowestFree(order: current)
    while current > order {
      current -= 1
      block *= 2
      markFree(block: block + 1, order: current)
    }
    bytesInUse += Self.smallestBlock << order
    return block * (Self.smallestBlock << order)
  }

  /// Releases a block and merges it with its free neighbours.
  ///
  /// - Parameters:
  ///   - offset: what ``allocate(order:)`` returned.
  ///   - order: what it was asked for.
  mutating func release(offset: Int, order: Int) {
    bytesInUse -= Self.smallestBlock << order
    var order = order
    var block = offset / (Self.smallestBlock << order)
    precondition(!isFree(block: block, order: order), "a block is released once")
    while order < topOrder, isFree(block: block ^ 1, order: order) {
      markTaken(block: block ^ 1, order: order)
      block /= 2
      order += 1
    }
    markFree(block: block, order: order)
  }

  private func isFree(block: Int, order: Int) -> Bool {
    freeBlocks[firstWord[order] + block / 64] & (1 << UInt64(block % 64)) != 0
  }

  private mutating func markFree(block: Int, order: Int) {
    freeBlocks[firstWord[order] + block / 64] |= 1 << UInt64(block % 64)
    freeCount[order] += 1
    searchStart[order] = min(searchStart[order], block / 64)
  }

  private mutating func markTaken(block: Int, order: Int) {
    freeBlocks[firstWord[order] + block / 64] &= ~(1 << UInt64(block % 64))
    freeCount[order] -= 1
  }

  /// Only for an order of which `freeCount` says that a block is free.
  private mutating func takeLowestFree(order: Int) -> Int {
    var word = searchStart[order]
    while freeBlocks[firstWord[order] + word] == 0 { word += 1 }
    searchStart[order] = word
    let block = word * 64 + freeBlocks[firstWord[order] + word].trailingZeroBitCount
    markTaken(block: block, order: order)
    return block
  }
}
