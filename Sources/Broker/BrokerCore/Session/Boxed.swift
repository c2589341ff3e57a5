/// A value that is seldom there, kept apart so that it takes one word where it is not: of ten thousand sessions, most
/// have nothing under way, and a small machine is copied quickly.
@propertyWrapper
struct Boxed<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  private var box: Box?

  /// The value; nil where there is none.
  var wrappedValue: Value? {
    get { box?.value }
    set { box = newValue.map { Box($0) } }
  }

  /// Begins with a value, or with none.
  init(wrappedValue: Value?) { box = wrappedValue.map { Box($0) } }

  /// The box itself.
  var projectedValue: Boxed { self }

  /// Whether something is there, without a look at it.
  var isThere: Bool { box != nil }
}
