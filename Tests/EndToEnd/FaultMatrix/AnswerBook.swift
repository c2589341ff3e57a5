import JSON

/// What a client gets when it asks for tokens, in words: tokens are `A1`, `A2`, … as they are first seen, errors are
/// their kinds.
struct AnswerBook {
  /// What was noted, in order.
  private(set) var words: [String] = []
  private var tokens: [String] = []

  /// Describes an answer and notes that.
  mutating func note(_ answer: JSONNode) throws -> String {
    let word = try describe(answer)
    words.append(word)
    return word
  }

  /// Describes an answer.
  mutating func describe(_ answer: JSONNode) throws -> String {
    guard let result = answer["result"] else {
      return try answer.required("error").required("data").required("kind").string()
    }
    let token = try result.required("accessToken").string()
    if !tokens.contains(token) { tokens.append(token) }
    let name = "A\((tokens.firstIndex(of: token) ?? 0) + 1)"
    return try result["offline"]?.bool() == true ? name + " offline" : name
  }

  /// Notes what was described before.
  mutating func add(_ word: String) { words.append(word) }

  /// Forgets what was noted, but no token.
  mutating func forgetWords() { words = [] }
}
