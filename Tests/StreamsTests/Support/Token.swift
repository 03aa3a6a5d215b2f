/// An object whose release a test checks.
final class Token: Sendable {}
