/// Why a text is not JSON (RFC 8259), and where.
public struct JSONError: Error, Equatable, Sendable {
  /// The rule that the text breaks.
  public enum Reason: String, Sendable {
    /// The text ends inside a value.
    case unexpectedEnd = "the text ends inside a value"
    /// A byte that no rule of the grammar allows here.
    case unexpectedByte = "there is a character that JSON does not allow here"
    /// Something follows the one value.
    case trailingData = "something follows the value"
    /// More nested arrays and objects than the limit.
    case tooDeep = "arrays and objects are nested too deep"
    /// More bytes than the limit.
    case tooLong = "the text is too long"
    /// More members in an object than the limit.
    case tooManyMembers = "an object has too many members"
    /// More elements in an array than the limit.
    case tooManyElements = "an array has too many elements"
    /// More values in all than the limit.
    case tooManyValues = "the text has too many values"
    /// A string with more bytes than the limit.
    case stringTooLong = "a string is too long"
    /// A number with more bytes than the limit.
    case numberTooLong = "a number is too long"
    /// A string holds bytes that are not UTF-8 (RFC 3629).
    case invalidUTF8 = "a string is not valid UTF-8"
    /// A string holds an unescaped control character.
    case controlCharacter = "a string holds an unescaped control character"
    /// A backslash is followed by something that is no escape.
    case invalidEscape = "a string holds an unknown escape"
    /// A `\u` escape names one half of a surrogate pair alone.
    case loneSurrogate = "a string holds half of a surrogate pair"
    /// A number is malformed.
    case invalidNumber = "a number is malformed"
    /// A number does not fit 64 bits.
    case numberOutOfRange = "a number is out of range"
    /// An object names a member twice.
    case duplicateName = "an object names a member twice"
  }

  /// The broken rule.
  public let reason: Reason

  /// The byte, counted from 0, at which the rule was broken.
  public let offset: Int

  /// A failure at one byte of a text.
  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}
