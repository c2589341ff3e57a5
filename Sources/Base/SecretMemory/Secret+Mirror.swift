// Embedded Swift has no reflection that could find anything.
#if !hasFeature(Embedded)
extension Secret: CustomReflectable {
  /// A mirror without children, so that `dump` and other reflection find nothing.
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>(), displayStyle: .struct) }
}
#endif
