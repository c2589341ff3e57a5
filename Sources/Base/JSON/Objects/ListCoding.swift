/// Arrays whose elements have a coding.
public struct ListCoding<Element: ValueCoding>: ValueCoding {
  /// The coding of one element.
  package let element: Element

  fileprivate init(_ element: Element) { self.element = element }

  public func write(_ value: [Element.Value], to writer: inout JSONWriter) {
    writer.array { writer in
      for element in value { self.element.write(element, to: &writer) }
    }
  }

  public func read(_ node: JSONNode) throws(JSONMismatch) -> [Element.Value] { try node.list(of: element.read) }
}

extension ValueCoding {
  /// An array of values, each with the coding `element`.
  public static func list<Element>(of element: Element) -> Self where Self == ListCoding<Element> {
    ListCoding(element)
  }
}
