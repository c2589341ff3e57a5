/// The part of a list of lines that a screen has room for.
struct ScrollWindow {
  /// The number of the first line that is shown.
  private(set) var first = 0

  /// Moves by keys: `j` and `k`, the arrows, and page by page with blank and `b`.
  ///
  /// - Parameters:
  ///   - keys: the bytes that were typed.
  ///   - room: how many lines the screen has room for.
  /// - Returns: whether the screen is to be left: `q` was pressed.
  mutating func take(_ keys: [UInt8], room: Int) -> Bool {
    var rest = keys[...]
    while let key = rest.popFirst() {
      switch key {
      case UInt8(ascii: "q"), UInt8(ascii: "Q"): return true
      case UInt8(ascii: "j"): first += 1
      case UInt8(ascii: "k"): first -= 1
      case UInt8(ascii: " "): first += room
      case UInt8(ascii: "b"): first -= room
      case 0x1B: first += Self.step(&rest)
      default: break
      }
    }
    first = max(0, first)
    return false
  }

  /// The step of a key that sends several bytes, which are taken: an arrow (ECMA-48, CUU and CUD), else none.
  private static func step(_ rest: inout ArraySlice<UInt8>) -> Int {
    guard let introducer = rest.first, introducer == UInt8(ascii: "[") || introducer == UInt8(ascii: "O") else {
      return 0
    }
    rest.removeFirst()
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "A"): return -1
      case UInt8(ascii: "B"): return 1
      case 0x40...0x7E: return 0
      default: continue
      }
    }
    return 0
  }

  /// The lines that are shown, and a last one that tells the keys.
  mutating func picture(_ lines: [ScreenLine], rows: Int, columns: Int) -> [ScreenLine] {
    let room = Self.room(rows)
    first = min(first, max(0, lines.count - room))
    let shown = lines.dropFirst(first).prefix(room)
    let isWhole = shown.count == lines.count
    let keys =
      isWhole ? "q quits" : "q quits; j and k scroll: lines \(first + 1) to \(first + shown.count) of \(lines.count)"
    let blanks = max(0, room - shown.count)
    return shown + Array(repeating: ScreenLine(text: ""), count: blanks)
      + [ScreenLine(text: String(keys.prefix(columns)), mark: .dim)]
  }

  /// How many lines a screen has room for besides the last one.
  static func room(_ rows: Int) -> Int { max(1, rows - 1) }
}
