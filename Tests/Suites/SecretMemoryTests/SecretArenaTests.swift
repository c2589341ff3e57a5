import Glibc
import TestSupport
import Testing

@testable import SecretMemory

@Suite(.standardTimeLimit) struct SecretArenaTests {
  private func secret(_ byte: UInt8, count: Int, in arena: SecretArena) throws -> Secret {
    try Secret(copying: [UInt8](repeating: byte, count: count).span, in: arena)
  }

  @Test(arguments: [1, 64, 100, 4_096, 30_000])
  func `a slot is zeroed when the last handle is gone`(count: Int) throws {
    let arena = SecretArena(capacity: 64 << 10)
    var first: Secret? = try secret(0xaa, count: count, in: arena)
    var second = first
    let offset = try #require(first).arenaOffset
    first = nil
    #expect(second?.withBytes { $0[count - 1] } == 0xaa)
    #expect(!arena.isZeroed(offset: offset, byteCount: count))
    second = nil
    #expect(arena.isZeroed(offset: 0, byteCount: arena.usage.capacity))
    #expect(arena.usage.bytesInUse == 0)
  }

  @Test func `what a failing closure wrote is zeroed`() throws {
    let arena = SecretArena(capacity: 4_096)
    struct Refusal: Error {}
    do {
      let slot = try SecretSlot(byteCount: 64, in: arena)
      try slot.fill { (target: inout MutableSpan<UInt8>) throws(Refusal) in
        target[0] = 1
        throw Refusal()
      }
    } catch is Refusal {}
    #expect(arena.isZeroed(offset: 0, byteCount: 4_096))
    #expect(arena.usage.bytesInUse == 0)
  }

  @Test func `a full arena refuses and recovers`() throws {
    let arena = SecretArena(capacity: 64 << 10)
    var held = try (0..<16).map { try secret(UInt8($0), count: 4_096, in: arena) }
    #expect(arena.usage.bytesInUse == arena.usage.capacity)
    #expect(throws: SecretMemoryExhausted.self) { try secret(1, count: 1, in: arena) }
    held.removeLast()
    #expect(try secret(1, count: 4_096, in: arena).byteCount == 4_096)
    for (index, secret) in held.enumerated() {
      #expect(secret.withBytes { $0[0] == UInt8(index) && $0[4_095] == UInt8(index) })
    }
    held.removeAll()
    #expect(try secret(1, count: 64 << 10, in: arena).byteCount == 64 << 10)
    #expect(throws: SecretMemoryExhausted.self) { try secret(1, count: (64 << 10) + 1, in: arena) }
    #expect(throws: SecretMemoryExhausted.self) { try Secret(byteCount: .max, in: arena) { _ in } }
  }

  @Test func `ten thousand random allocations and releases never overlap and leave nothing`() throws {
    let arena = SecretArena(capacity: 256 << 10)
    var random = SystemRandomNumberGenerator()
    var held: [(byte: UInt8, secret: Secret)] = []
    var refused = 0
    for _ in 0..<10_000 {
      if held.isEmpty || Bool.random(using: &random) {
        let byte = UInt8.random(in: 1...255, using: &random)
        let count = 1 << Int.random(in: 0...14, using: &random)
        do {
          held.append((byte, try secret(byte, count: count + Int.random(in: 0..<count, using: &random), in: arena)))
        } catch is SecretMemoryExhausted { refused += 1 }
      } else {
        let (byte, secret) = held.remove(at: Int.random(in: 0..<held.count, using: &random))
        let isIntact = secret.withBytes { span in span[0] == byte && span[span.count - 1] == byte }
        #expect(isIntact)
      }
    }
    let ranges = held.map { $0.secret.arenaOffset..<$0.secret.arenaOffset + $0.secret.byteCount }
      .sorted { $0.lowerBound < $1.lowerBound }
    for (left, right) in zip(ranges, ranges.dropFirst()) {
      #expect(left.upperBound <= right.lowerBound)
    }
    held.removeAll()
    #expect(arena.usage.bytesInUse == 0)
    #expect(arena.isZeroed(offset: 0, byteCount: arena.usage.capacity))
    #expect(try secret(1, count: arena.usage.capacity, in: arena).byteCount == arena.usage.capacity)
  }

  @Test func `several tasks use one arena at once`() async throws {
    let arena = SecretArena(capacity: 1 << 20)
    let shared = try secret(0x77, count: 1_000, in: arena)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for task in UInt8(1)...8 {
        group.addTask { @concurrent in
          var isIntact = true
          for round in 0..<500 {
            let own = try secret(task, count: 1 + round * 7 % 3_000, in: arena)
            let copy = shared
            await Task.yield()
            isIntact = isIntact && own.withBytes { $0[0] == task && $0[$0.count - 1] == task }
            isIntact = isIntact && copy.withBytes { $0[999] == 0x77 }
          }
          return isIntact
        }
      }
      for try await isIntact in group { #expect(isIntact) }
    }
    #expect(arena.usage.bytesInUse == 1_024)
  }

  @Test func `the arena is locked, not dumped, wiped on fork, and untouched pages cost nothing`() throws {
    let arena = SecretArena(capacity: 1 << 20)
    let base = UInt(bitPattern: arena.bytes(offset: 0, byteCount: 1).baseAddress)
    let inside = try #require(mapping(startingAt: base))
    #expect(inside.first?.contains(" rw-p ") == true)
    let flags = try #require(inside.last { $0.hasPrefix("VmFlags:") }).split(separator: " ")
    #expect(flags.contains("dd") && flags.contains("wf"))
    #expect(flags.contains("lo") == arena.isLocked)
    let resident = try #require(inside.first { $0.hasPrefix("Rss:") })
    #expect(resident.split(separator: " ").dropFirst().first == "0")
    let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
    // Neighbouring PROT_NONE pages may have been merged into one mapping, so only their rights are looked up.
    #expect(rights(at: base - page) == "---p")
    #expect(rights(at: base + UInt(arena.usage.capacity)) == "---p")
  }

  @Test func `the process-wide arena reports itself`() {
    let usage = SecretArena.usage
    #expect(usage.capacity == SecretArena.defaultCapacity)
    #expect(usage.isLocked == SecretArena.isLocked)
  }

  @Test(arguments: [(0, 0), (1, 0), (64, 0), (65, 1), (128, 1), (129, 2), (4_096, 6), (1 << 20, 14)])
  func `a size class is the smallest power of two that fits`(count: Int, order: Int) {
    #expect(BuddyAllocator.order(forByteCount: count) == order)
  }

  @Test func `an allocator without memory refuses`() {
    var allocator = BuddyAllocator(capacity: 0)
    #expect(allocator.allocate(order: 0) == nil)
  }

  // MARK: - /proc/self/smaps (proc_pid_smaps(5))

  private func mappings() -> [[Substring]] {
    guard let file = fopen("/proc/self/smaps", "r") else { return [] }
    defer { fclose(file) }
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { content += buffer[..<count] }
    var result: [[Substring]] = []
    for line in Substring(decoding: content, as: UTF8.self).split(separator: "\n") {
      if line.first?.isUppercase == true { result[result.count - 1].append(line) } else { result.append([line]) }
    }
    return result
  }

  private func range(of mapping: [Substring]) -> Range<UInt>? {
    let ends = mapping.first?.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) } ?? []
    return ends.count == 2 ? ends[0]..<ends[1] : nil
  }

  private func mapping(startingAt address: UInt) -> [Substring]? {
    mappings().first { range(of: $0)?.lowerBound == address }
  }

  private func rights(at address: UInt) -> String? {
    mappings().first { range(of: $0)?.contains(address) == true }?.first?.split(separator: " ").dropFirst().first.map(
      String.init)
  }
}
