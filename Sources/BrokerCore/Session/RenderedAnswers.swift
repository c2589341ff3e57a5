import SecretMemory

/// The answers with a profile's tokens that are rendered already.
struct RenderedAnswers {
  /// The answer that is in the cache, for callers who come by the longer way.
  var current: Secret?
  /// Which of the rendered answers it is: see ``AnswerRoom``.
  var number: UInt64 = 0
  private var other: (token: OtherToken, isOffline: Bool, json: Secret)?

  /// The answer with a token for another target; nil where another one was rendered last.
  func answer(with token: OtherToken, isOffline: Bool) -> Secret? {
    guard let other, other.token == token, other.isOffline == isOffline else { return nil }
    return other.json
  }

  /// Keeps the answer with a token for another target while one decision of the machine is carried out: a hundred callers
  /// who wait for the same token need one rendering.
  mutating func keep(_ json: Secret, with token: OtherToken, isOffline: Bool) { other = (token, isOffline, json) }

  /// Forgets the answer with a token for another target.
  mutating func forgetOther() { other = nil }
}
