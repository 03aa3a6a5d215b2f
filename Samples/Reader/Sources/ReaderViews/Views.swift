#if canImport(SwiftUI)
  import NetLayerTesting
  import ReaderKit
  import SwiftUI

  /// The list, which stays current as long as it is on screen.
  package struct ListView: View {
    @State private var model: ListModel
    private let detail: (Int) -> DetailModel

    package init(_ model: ListModel, detail: @escaping (Int) -> DetailModel) {
      _model = State(initialValue: model)
      self.detail = detail
    }

    package var body: some View {
      NavigationStack {
        List(model.articles) { article in
          NavigationLink(article.title) { DetailView(detail(article.id)) }
            .swipeActions {
              Button(article.isLiked ? "Unlike" : "Like") {
                Task { await model.setLiked(!article.isLiked, article.id) }
              }
            }
        }
        .overlay(alignment: .bottom) { if let note = model.note { Text(note) } }
        .refreshable { await model.refresh() }
      }
      .task { await model.run() }
    }
  }

  /// One article.
  package struct DetailView: View {
    @State private var model: DetailModel

    package init(_ model: DetailModel) { _model = State(initialValue: model) }

    package var body: some View {
      ScrollView {
        Text(model.text)
        if let progress = model.progress { ProgressView(value: progress) }
        if let note = model.note { Text(note) }
      }
      .navigationTitle(model.title)
      .task { await model.run() }
    }
  }

  /// The search.
  package struct SearchView: View {
    @State private var model: SearchModel

    package init(_ model: SearchModel) { _model = State(initialValue: model) }

    package var body: some View {
      List(model.articles) { Text($0.title) }
        .searchable(text: $model.text)
    }
  }

  /// The sign-in.
  package struct SignInView: View {
    @State private var model: SignInModel

    package init(_ model: SignInModel) { _model = State(initialValue: model) }

    package var body: some View {
      Form {
        TextField("User", text: $model.user)
        SecureField("Password", text: $model.password)
        Button("Sign in") { Task { await model.signIn() } }
        if let note = model.note { Text(note) }
      }
    }
  }

  #Preview {
    let stub = StubTransport([
      .init(.get, "/articles", .json(#"[{"id":1,"title":"Tea","is_liked":true}]"#)),
      .init(.get, "/articles/1", .json(#"{"title":"Tea","text":"Green tea"}"#)),
    ])
    let network = Network(
      Backend(baseURL: URL(string: "https://reader.example"), coding: .snakeCase, transport: stub))
    ListView(ListModel(network)) { DetailModel($0, network) }
  }
#endif
