/// Actions that are carried out strictly in order: what one of them causes comes behind what was decided before it.
struct ActionLine<Action> {
  private var waiting: [Action] = []
  private var isMoving = false

  /// Appends actions.
  ///
  /// - Returns: whether the caller is to carry them out, with ``next()``; false where another caller does already.
  mutating func add(_ actions: [Action]) -> Bool {
    waiting += actions
    guard !isMoving else { return false }
    isMoving = true
    return true
  }

  /// Takes out the next action; nil at the end of the line.
  mutating func next() -> Action? {
    guard waiting.isEmpty else { return waiting.removeFirst() }
    isMoving = false
    return nil
  }
}
