/// Duplicate member names, which RFC 8259 leaves open and which two parsers then read differently.
extension JSONTape {
  /// Up to this many members a pairwise comparison is quicker than hashing.
  private static let pairwiseLimit = 8
  /// That holds for names of this many bytes in all: what is compared again and again must be short.
  private static let pairwiseBytes = 1024

  /// Refuses an object that names a member twice, however the names are escaped.
  ///
  /// Names are compared as bytes: Swift's `String` would also find equal what is only canonically equivalent.
  mutating func refuseDuplicateNames(of object: Int, in text: Span<UInt8>) throws(JSONError) {
    let end = Int(entries[object].next)
    var (count, bytes) = (0, 0)
    var name = object + 1
    while name < end {
      bytes += entries[name].range.count
      if count < Self.pairwiseLimit, bytes <= Self.pairwiseBytes, let twin = twin(of: name, after: object, in: text) {
        throw JSONError(.duplicateName, at: Int(entries[twin].start))
      }
      count += 1
      name = Int(entries[name + 1].next)
    }
    guard count > Self.pairwiseLimit || bytes > Self.pairwiseBytes else { return }
    try refuseDuplicatesByHash(of: object, count: count, in: text)
  }

  /// An earlier member of the object with the same name as the one at `name`.
  private func twin(of name: Int, after object: Int, in text: Span<UInt8>) -> Int? {
    var earlier = object + 1
    while earlier < name {
      if namesAreEqual(earlier, name, in: text) { return name }
      earlier = Int(entries[earlier + 1].next)
    }
    return nil
  }

  /// Looks each name up by a hash of its bytes, so that the time grows with the length of the text alone.
  ///
  /// `Hasher` is seeded at random for each process, so a peer cannot choose names that collide; those that do by chance
  /// are compared with all before them.
  private func refuseDuplicatesByHash(of object: Int, count: Int, in text: Span<UInt8>) throws(JSONError) {
    var seen = [Int: Int](minimumCapacity: count)
    let end = Int(entries[object].next)
    var name = object + 1
    while name < end {
      if let earlier = seen.updateValue(name, forKey: hash(of: entries[name], in: text)),
        namesAreEqual(earlier, name, in: text) || twin(of: name, after: object, in: text) != nil
      {
        throw JSONError(.duplicateName, at: Int(entries[name].start))
      }
      name = Int(entries[name + 1].next)
    }
  }

  private func hash(of entry: Entry, in text: Span<UInt8>) -> Int {
    var hasher = Hasher()
    if entry.kind == .string {
      // The bytes are valid inside the closure, which keeps nothing of them.
      unsafe text.extracting(entry.range).withUnsafeBufferPointer {
        unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0))
      }
    } else {
      // As above.
      unsafe Self.unescaped(entry, in: text).withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
    return hasher.finalize()
  }

  private func namesAreEqual(_ left: Int, _ right: Int, in text: Span<UInt8>) -> Bool {
    let (left, right) = (entries[left], entries[right])
    guard left.kind == .string, right.kind == .string else {
      return Self.unescaped(left, in: text) == Self.unescaped(right, in: text)
    }
    guard left.end - left.start == right.end - right.start else { return false }
    let distance = Int(right.start) - Int(left.start)
    for position in left.range where text[position] != text[position + distance] { return false }
    return true
  }

  /// The string at a tape index, its escapes resolved.
  public func string(at index: Int, in text: Span<UInt8>) -> String {
    String(copying: Self.unescaped(entries[index], in: text).span)
  }

  /// The UTF-8 bytes that a string stands for, its escapes resolved.
  @usableFromInline
  package static func unescaped(_ entry: Entry, in text: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(entry.range.count)
    var position = Int(entry.start)
    let end = Int(entry.end)
    while position < end {
      guard text[position] == UInt8(ascii: "\\") else {
        bytes.append(text[position])
        position += 1
        continue
      }
      position += 1
      let letter = text[position]
      position += 1
      if letter == UInt8(ascii: "u") {
        appendUnit(text, &position, to: &bytes)
      } else {
        bytes.append(simpleEscape(letter))
      }
    }
    return bytes
  }

  private static func simpleEscape(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: letter
    }
  }

  /// Appends the character of a `\u` escape (and of its second half) whose digits begin at `position`.
  private static func appendUnit(_ text: Span<UInt8>, _ position: inout Int, to bytes: inout [UInt8]) {
    guard var code = try? hexadecimalUnit(text, &position) else { return }
    if (0xD800...0xDBFF).contains(code) {
      position += 2
      guard let low = try? hexadecimalUnit(text, &position) else { return }
      code = 0x10000 + ((code - 0xD800) << 10) + (low &- 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { return }
    bytes.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
  }
}
