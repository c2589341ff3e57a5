/// Duplicate member names, which RFC 8259 leaves open and which two parsers then read differently.
extension JSONScanner {
  /// Up to this many members a pairwise comparison is quicker than hashing.
  private static let pairwiseLimit = 16
  /// The most bytes of all names for a pairwise comparison: what is compared again and again must be short.
  private static let pairwiseBytes = 1024

  /// Refuses an object that names a member twice, however the names are escaped.
  ///
  /// Names are compared as bytes: Swift's `String` would also find equal what is only canonically equivalent.
  static func refuseDuplicateNames(
    of object: Int, _ count: Int, _ entries: Span<JSONTape.Entry>, in text: Span<UInt8>
  ) throws(JSONError) {
    let end = Int(entries[object].next)
    var bytes = 0
    var name = object + 1
    while name < end {
      bytes += entries[name].range.count
      guard count <= pairwiseLimit, bytes <= pairwiseBytes else {
        return try refuseDuplicatesByHash(of: object, count, entries, in: text)
      }
      if hasTwin(name, after: object, entries, in: text) {
        throw JSONError(.duplicateName, at: Int(entries[name].start))
      }
      name = Int(entries[name + 1].next)
    }
  }

  /// Whether an earlier member of the object has the same name as the one at `name`.
  private static func hasTwin(
    _ name: Int, after object: Int, _ entries: Span<JSONTape.Entry>, in text: Span<UInt8>
  ) -> Bool {
    var earlier = object + 1
    while earlier < name {
      if namesAreEqual(entries[earlier], entries[name], in: text) { return true }
      earlier = Int(entries[earlier + 1].next)
    }
    return false
  }

  /// Looks each name up by a hash of its bytes, so that the time grows with the length of the text alone.
  ///
  /// `Hasher` is seeded at random for each process, so a peer cannot choose names that collide; those that do by chance
  /// are compared with all before them.
  private static func refuseDuplicatesByHash(
    of object: Int, _ count: Int, _ entries: Span<JSONTape.Entry>, in text: Span<UInt8>
  ) throws(JSONError) {
    var seen = [Int: Int](minimumCapacity: count)
    let end = Int(entries[object].next)
    var name = object + 1
    while name < end {
      if let earlier = seen.updateValue(name, forKey: hash(of: entries[name], in: text)),
        namesAreEqual(entries[earlier], entries[name], in: text) || hasTwin(name, after: object, entries, in: text)
      {
        throw JSONError(.duplicateName, at: Int(entries[name].start))
      }
      name = Int(entries[name + 1].next)
    }
  }

  private static func hash(of entry: JSONTape.Entry, in text: Span<UInt8>) -> Int {
    var hasher = Hasher()
    if entry.kind == .string {
      // The bytes are valid inside the closure, which keeps nothing of them.
      unsafe text.extracting(entry.range).withUnsafeBufferPointer {
        unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0))
      }
    } else {
      JSONTape.withUnescaped(entry, in: text) { bytes in
        // As above.
        unsafe bytes.withUnsafeBufferPointer { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      }
    }
    return hasher.finalize()
  }

  private static func namesAreEqual(
    _ left: JSONTape.Entry, _ right: JSONTape.Entry, in text: Span<UInt8>
  ) -> Bool {
    guard left.kind == .string, right.kind == .string else {
      return JSONTape.withUnescaped(left, in: text) { left in
        JSONTape.withUnescaped(right, in: text) { left.count == $0.count && left.hasSameBytes(as: $0, at: 0) }
      }
    }
    guard left.end - left.start == right.end - right.start else { return false }
    let distance = Int(right.start) - Int(left.start)
    for position in left.range where text[position] != text[position + distance] { return false }
    return true
  }
}
