import SecretMemory

/// The answers with a profile's tokens that are rendered already.
struct RenderedAnswers {
  /// The answer that is in the cache, for callers who come by the longer way.
  private(set) var current: Secret?
  /// The same for callers who want the token to live for longer than can be relied on.
  private(set) var capped: Secret?
  /// Which of the rendered answers these are: see ``AnswerRoom``.
  private var numbers: [UInt64] = []
  private var other: (token: OtherToken, marks: TokenMarks, json: Secret)?

  /// Whether there is no answer with the session's own token.
  var isEmpty: Bool { current == nil && capped == nil }

  /// The answer with the session's own token.
  func answer(_ marks: TokenMarks) -> Secret? { marks.isCapped ? capped : current }

  /// Keeps an answer with the session's own token.
  mutating func keep(_ json: Secret, number: UInt64, _ marks: TokenMarks) {
    if marks.isCapped { capped = json } else { current = json }
    numbers.append(number)
  }

  /// Whether one of the answers has such a number.
  func has(_ number: UInt64) -> Bool { numbers.contains(number) }

  /// Forgets the answers with the session's own token.
  mutating func forget() {
    current = nil
    capped = nil
    numbers = []
  }

  /// The answer with a token for another target; nil where another one was rendered last.
  func answer(with token: OtherToken, _ marks: TokenMarks) -> Secret? {
    guard let other, other.token == token, other.marks == marks else { return nil }
    return other.json
  }

  /// Keeps the answer with a token for another target while one decision of the machine is carried out: a hundred callers
  /// who wait for the same token need one rendering.
  mutating func keep(_ json: Secret, with token: OtherToken, _ marks: TokenMarks) { other = (token, marks, json) }

  /// Forgets the answer with a token for another target.
  mutating func forgetOther() { other = nil }
}
