import CLinux
import Synchronization

/// The one region of memory that secrets live in: locked against swapping, left out of core files, empty in a forked
/// child, between two guard pages.
///
/// One mapping for the whole process, because locked memory is a small budget (RLIMIT_MEMLOCK, getrlimit(2)) and one
/// guarded mapping per secret soon exhausts both it and the number of mappings. Pages are locked as they are first
/// touched (MLOCK_ONFAULT, mlock2(2)), so an idle process does not pay for the capacity. Over capacity it refuses.
///
/// Wiping is promised for what lies in the arena. Registers, stack copies made by the compiler, and a process that may
/// read this one's memory (ptrace(2)) are outside that promise.
@safe
public final class SecretArena: Sendable {
  /// The use of an arena, for a status report.
  public struct Usage: Sendable, Equatable {
    /// Bytes that secrets occupy, rounded up to size classes.
    public let bytesInUse: Int
    /// Bytes that could be occupied; 0 when the kernel gave no memory.
    public let capacity: Int
    /// Whether the kernel promised never to swap the arena out.
    public let isLocked: Bool
  }

  /// The capacity of the sessions' arena: half of the usual 8 MiB limit for locked memory, a thousand sessions of 4
  /// KiB.
  public static let defaultCapacity = 4 << 20

  /// The capacity of the requests' arena: a quarter of that limit, so that both are locked; a dozen of the longest
  /// requests, thousands of usual ones.
  public static let requestCapacity = 2 << 20

  /// The arena that sessions and keys live in, made when the first secret is.
  package static let shared = SecretArena(capacity: defaultCapacity)

  /// The arena of what clients send in, and of what is sent to providers on their behalf.
  ///
  /// It is another one, so that no number of requests takes room that a session needs.
  package static let requests = SecretArena(capacity: requestCapacity)

  /// The capacity of the openings' arena: 16 of the longest secrets that rest, several for each thread that reads.
  package static let openingCapacity = 16 * Secret.longestResting

  /// The arena where secrets that rest are opened, for the time of a reading.
  ///
  /// It is another one, so that what rests can be read however full the others are.
  static let openings = SecretArena(capacity: openingCapacity)

  /// Whether secrets are safe from being swapped out.
  ///
  /// `false` when RLIMIT_MEMLOCK is smaller than all arenas; secrets are then kept in ordinary memory that is still
  /// guarded, wiped and left out of core files.
  public static var isLocked: Bool { shared.isLocked && requests.isLocked && openings.isLocked }

  /// The use of the process-wide arena.
  public static var usage: Usage { shared.usage }

  /// Whether mlock2(2) succeeded for the whole of this arena.
  package let isLocked: Bool

  private let mappedByteCount: Int
  // Never changes after `init`. What it points at is shared only as disjoint slots: each has one writer, before it is
  // published inside a `Secret`, and readers afterwards.
  private nonisolated(unsafe) let base: UnsafeMutableRawPointer?
  /// The free blocks, and the callers that wait for one.
  let blocks: Mutex<ArenaState>

  /// Maps a new arena.
  ///
  /// Where the kernel refuses the mapping, the arena has capacity 0 and refuses every secret.
  ///
  /// - Parameter capacity: in bytes; rounded up to a power of two of at least one page.
  package init(capacity: Int) {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    var rounded = page
    while rounded < capacity { rounded *= 2 }
    mappedByteCount = rounded + 2 * page
    // Anonymous memory without any access yet: the two outer pages stay so and catch an overrun.
    let mapping = unsafe mmap(nil, mappedByteCount, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    // MAP_FAILED is a C cast that Swift does not import; its value is all ones.
    guard let mapping = unsafe mapping, Int(bitPattern: mapping) != -1 else {
      unsafe base = nil
      isLocked = false
      blocks = Mutex(ArenaState(capacity: 0))
      return
    }
    // One page into a mapping of `rounded` + 2 pages.
    let inside = unsafe mapping + page
    // The range is inside the mapping made above, as it is for the calls below.
    let isUsable = unsafe mprotect(inside, rounded, PROT_READ | PROT_WRITE) == 0
    // A kernel that does not know these (gVisor) is no reason not to start: no core file is written anyway, and children
    // are started by posix_spawn(3), which copies no memory. `authbroker doctor` says what it lacks.
    if isUsable { _ = unsafe clinux_hide_memory(inside, rounded) }
    // As above: inside the mapping.
    isLocked = unsafe isUsable && clinux_lock_on_fault(inside, rounded) == 0
    unsafe base = inside
    blocks = Mutex(ArenaState(capacity: isUsable ? rounded : 0))
  }

  deinit {
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    // Every slot holds a reference to its arena, so no slot is left that could be read.
    if let base = unsafe base { unsafe munmap(base - page, mappedByteCount) }
  }

  /// The use of this arena.
  package var usage: Usage {
    blocks.withLock { state in
      Usage(bytesInUse: state.allocator.bytesInUse, capacity: state.allocator.capacity, isLocked: isLocked)
    }
  }

  /// Whether a range holds nothing but zeroes: how a test sees that a released slot was wiped.
  ///
  /// Not while another thread writes to that range.
  package func isZeroed(offset: Int, byteCount: Int) -> Bool {
    precondition(offset >= 0 && byteCount >= 0 && offset + byteCount <= usage.capacity, "the range is in the arena")
    // The range was just checked to lie inside the mapping.
    return unsafe bytes(offset: offset, byteCount: byteCount).allSatisfy { $0 == 0 }
  }

  /// Takes a zeroed block; where none is free, one that was set aside.
  ///
  /// - Throws: `SecretMemoryExhausted` when no block is large enough.
  func allocate(order: Int, from reservation: SecretReservation? = nil) throws(SecretMemoryExhausted) -> Int {
    let own = reservation.flatMap { $0.arena === self ? $0.name : nil }
    guard let offset = blocks.withLock({ $0.allocate(order: order, reservation: own) }) else {
      throw SecretMemoryExhausted()
    }
    return offset
  }

  /// Sets blocks aside, all or none: see ``SecretReservation``.
  ///
  /// - Throws: `SecretMemoryExhausted`.
  func reserve(_ orders: [Int]) throws(SecretMemoryExhausted) -> UInt64 {
    guard let number = blocks.withLock({ $0.reserve(orders) }) else { throw SecretMemoryExhausted() }
    return number
  }

  /// Frees the rest of a reservation.
  func endReservation(_ number: UInt64) {
    for waiter in blocks.withLock({ $0.endReservation(number) }) { waiter.resume() }
  }

  /// Wipes what was written to a block and releases the block, in this order: free blocks hold zeroes only.
  func release(offset: Int, order: Int, writtenByteCount: Int) {
    // The slot that owned the range is gone: this is the only reference to it.
    let written = unsafe bytes(offset: offset, byteCount: writtenByteCount)
    // Pointer and length describe the same range, inside the mapping.
    if let start = written.baseAddress { unsafe clinux_wipe(start, written.count) }
    for waiter in blocks.withLock({ $0.release(offset: offset, order: order) }) { waiter.resume() }
  }

  /// The memory of one block, valid while its owner holds it.
  @unsafe
  func bytes(offset: Int, byteCount: Int) -> UnsafeMutableBufferPointer<UInt8> {
    // Offsets come from the allocator, which hands out nothing beyond the mapped capacity.
    let start = unsafe base.map { unsafe ($0 + offset).assumingMemoryBound(to: UInt8.self) }
    // As above.
    return unsafe UnsafeMutableBufferPointer(start: start, count: byteCount)
  }
}
