import BrokerProtocol
import JSON

/// What a schema says of the members of an object: from the walk that also reads and writes them, and from the comments
/// of the sources.
struct SchemaCollector: ObjectCoder {
  private let comments: DocComments.Comment?
  /// The members, in the order of the wire.
  private(set) var members: [SchemaMember] = []

  init(_ type: any ObjectCodable.Type) { comments = DocComments.of(type) }

  /// The members of a type.
  static func members<Object: ObjectCodable>(of type: Object.Type) -> [SchemaMember] {
    var collector = SchemaCollector(type)
    Object.blank.walk(&collector)
    return collector.members
  }

  mutating func required<Coding: ValueCoding>(_ name: String, _: inout Coding.Value, _ coding: Coding) {
    add(name, .required, coding)
  }

  mutating func optional<Coding: ValueCoding>(_ name: String, _: inout Coding.Value?, _ coding: Coding) {
    add(name, .optional, coding)
  }

  mutating func defaulted<Coding: ValueCoding>(_ name: String, _ value: inout Coding.Value, _ coding: Coding) {
    add(name, .written, coding, standard: value)
  }

  mutating func optional<Coding: ValueCoding>(
    _ name: String, _: inout Coding.Value, _ coding: Coding, absent: Coding.Value
  ) where Coding.Value: Equatable {
    add(name, .optional, coding, standard: absent)
  }

  private mutating func add<Coding: ValueCoding>(
    _ name: String, _ presence: SchemaMember.Presence, _ coding: Coding, standard: Coding.Value? = nil
  ) {
    var member = SchemaMember(
      name: name, schema: .of(coding), presence: presence, description: comments?.ofMember(name))
    member.standard = standard.map { value in
      var writer = JSONWriter()
      coding.write(value, to: &writer)
      return String(decoding: writer.bytes, as: UTF8.self)
    }
    members.append(member)
  }
}
