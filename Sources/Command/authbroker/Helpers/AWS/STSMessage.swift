import LinuxSystem
import SecretMemory
import StateDirectory

/// What came of an exchange, as processes of one program tell it to each other.
enum STSMessage {
  private static let keys = UInt8(ascii: "K")
  private static let expired = UInt8(ascii: "E")
  private static let refusal = UInt8(ascii: "R")
  private static let malformed = UInt8(ascii: "M")
  private static let failure = UInt8(ascii: "F")

  /// What came of it; the caller wipes it.
  static func bytes(_ result: Result<STSAnswer, CommandFailure>) -> [UInt8] {
    switch result {
    case .success(.keys(let text)):
      var bytes: [UInt8] = []
      bytes.reserveCapacity(text.count + 2)
      bytes.append(keys)
      bytes += text
      bytes.append(UInt8(ascii: "\n"))
      return bytes
    case .success(.expired): return lines(expired, 0, "", "")
    case .success(.refusal(let found)): return lines(refusal, found.status, found.code, found.message)
    case .success(.malformed(let status)): return lines(malformed, status, "", "")
    case .failure(let found): return lines(failure, Int(found.exitCode.rawValue), "", found.message.sentence)
    }
  }

  /// Reads it; nil for anything that was not told to its end.
  static func result(_ bytes: [UInt8]) -> Result<STSAnswer, CommandFailure>? {
    guard let kind = bytes.first, bytes.last == UInt8(ascii: "\n"), bytes.count > 1 else { return nil }
    if kind == keys { return .success(.keys(Array(bytes[1..<(bytes.count - 1)]))) }
    let parts = bytes[1..<(bytes.count - 1)].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    let words = parts.map { String(decoding: $0, as: UTF8.self) }
    guard let number = Int(words[0]) else { return nil }
    switch kind {
    case expired: return .success(.expired)
    case refusal: return .success(.refusal(STSAnswer.Refusal(code: words[1], message: words[2], status: number)))
    case malformed: return .success(.malformed(status: number))
    case failure:
      return .failure(CommandFailure(ExitCode(rawValue: Int32(clamping: number)) ?? .failure, words[2]))
    default: return nil
    }
  }

  private static func lines(_ kind: UInt8, _ number: Int, _ code: String, _ words: String) -> [UInt8] {
    [kind] + Array("\(number)\n\(PlainText.line(code.utf8))\n\(PlainText.line(words.utf8))\n".utf8)
  }
}
