// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The isolation and the Sendable closures are those of the SDKs of 2025. `refreshable` does not inherit the actor here,
// which the public declaration leaves open, so that its closure must await.

@_exported import Foundation
@_exported import Observation

@MainActor @preconcurrency
public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View { public var body: Never { fatalError() } }

public protocol Leaf: View where Body == Never {}
extension Leaf { public var body: Never { fatalError() } }

public struct EmptyView: Leaf { public init() {} }
public struct TupleView<Content>: Leaf {}
public struct ConditionalView<Content>: Leaf {}
extension Optional: View where Wrapped: View { public var body: Never { fatalError() } }

@resultBuilder
public struct ViewBuilder {
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)>
  {
    TupleView()
  }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
  public static func buildEither<First: View, Second: View>(first: First) -> ConditionalView<(First, Second)> {
    ConditionalView()
  }
  public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalView<(First, Second)> {
    ConditionalView()
  }
}

@propertyWrapper
public struct State<Value> {
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  public init(initialValue: Value) { self.init(wrappedValue: initialValue) }
  public var wrappedValue: Value {
    nonmutating set {}
    get { fatalError() }
  }
  public var projectedValue: Binding<Value> { Binding() }
}

@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
  public init() {}
  public var wrappedValue: Value {
    nonmutating set {}
    get { fatalError() }
  }
  public subscript<Subject>(dynamicMember path: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
    Binding<Subject>()
  }
}

public struct Alignment: Sendable { public static let bottom = Alignment() }

public struct Text: Leaf { public init<S: StringProtocol>(_ content: S) {} }
public struct ProgressView: Leaf { public init<V: BinaryFloatingPoint>(value: V?, total: V = 1) {} }
public struct NavigationStack<Root: View>: Leaf { public init(@ViewBuilder root: () -> Root) {} }
public struct ScrollView<Content: View>: Leaf { public init(@ViewBuilder content: () -> Content) {} }
public struct Form<Content: View>: Leaf { public init(@ViewBuilder content: () -> Content) {} }
public struct TextField: Leaf { public init<S: StringProtocol>(_ title: S, text: Binding<String>) {} }
public struct SecureField: Leaf { public init<S: StringProtocol>(_ title: S, text: Binding<String>) {} }
public struct Button: Leaf {
  public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
}
public struct NavigationLink<Destination: View>: Leaf {
  public init<S: StringProtocol>(_ title: S, @ViewBuilder destination: () -> Destination) {}
}
public struct List<Content: View>: Leaf {
  public init<Data: RandomAccessCollection>(_ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> Content)
  where Data.Element: Identifiable {}
}

extension View {
  nonisolated public func task(
    priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
  ) -> some View { EmptyView.made }
  nonisolated public func refreshable(action: @escaping @Sendable () async -> Void) -> some View { EmptyView.made }
  nonisolated public func navigationTitle<S: StringProtocol>(_ title: S) -> some View { EmptyView.made }
  nonisolated public func searchable(text: Binding<String>) -> some View { EmptyView.made }
  nonisolated public func overlay<V: View>(alignment: Alignment, @ViewBuilder content: () -> V) -> some View {
    EmptyView.made
  }
  nonisolated public func swipeActions<T: View>(@ViewBuilder content: () -> T) -> some View { EmptyView.made }
}

extension EmptyView { nonisolated fileprivate static var made: EmptyView { fatalError() } }
