/// How another code is sent for a pending login: one at a time, at the provider's pace.
package struct CodeResend: Sendable, Equatable {
  /// The caller that waits for another code; nil where none is being sent.
  package internal(set) var caller: CallerID?
  /// When another code may be sent, on both clocks: a clock that is set back keeps no user waiting.
  var allowedAt: Deadline

  /// The callers that wait.
  var callers: [CallerID] { caller.map { [$0] } ?? [] }

  /// How long to wait before another code may be sent; not above zero where it may be.
  func wait(at now: Moment) -> Duration { allowedAt.rest(at: now) }
}
