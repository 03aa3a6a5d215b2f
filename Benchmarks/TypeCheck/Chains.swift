// 50 chains of eight operators or more, a fifth of them on combineLatest of five streams of arrays: what `run` times.
import Streams

func chain0(_ a: Observable<[Int]>, _ b: Observable<[String]>, _ c: Observable<[Double]>, _ d: Observable<[Bool]>, _ e: Observable<[Character]>) -> Observable<String> {
  Observable.combineLatest(a, b, c, d, e)
    .map { $0.0.count + $0.1.count + $0.2.count }
    .filter { $0 > 3 }
    .map { $0 * 2 }
    .distinctUntilChanged()
    .scan(0) { $0 + $1 }
    .flatMapLatest { value in Observable.just(value + 0) }
    .catchError { _ in .just(0) }
    .map { "\($0)" }
}

func chain1(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 1 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["1"])
}

func chain2(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 2 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["2"])
}

func chain3(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 3 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["3"])
}

func chain4(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 4 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["4"])
}

func chain5(_ a: Observable<[Int]>, _ b: Observable<[String]>, _ c: Observable<[Double]>, _ d: Observable<[Bool]>, _ e: Observable<[Character]>) -> Observable<String> {
  Observable.combineLatest(a, b, c, d, e)
    .map { $0.0.count + $0.1.count + $0.2.count }
    .filter { $0 > 3 }
    .map { $0 * 2 }
    .distinctUntilChanged()
    .scan(0) { $0 + $1 }
    .flatMapLatest { value in Observable.just(value + 5) }
    .catchError { _ in .just(0) }
    .map { "\($0)" }
}

func chain6(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 6 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["6"])
}

func chain7(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 7 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["7"])
}

func chain8(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 8 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["8"])
}

func chain9(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 9 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["9"])
}

func chain10(_ a: Observable<[Int]>, _ b: Observable<[String]>, _ c: Observable<[Double]>, _ d: Observable<[Bool]>, _ e: Observable<[Character]>) -> Observable<String> {
  Observable.combineLatest(a, b, c, d, e)
    .map { $0.0.count + $0.1.count + $0.2.count }
    .filter { $0 > 3 }
    .map { $0 * 2 }
    .distinctUntilChanged()
    .scan(0) { $0 + $1 }
    .flatMapLatest { value in Observable.just(value + 10) }
    .catchError { _ in .just(0) }
    .map { "\($0)" }
}

func chain11(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 11 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["11"])
}

func chain12(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 12 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["12"])
}

func chain13(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 13 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["13"])
}

func chain14(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 14 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["14"])
}

func chain15(_ a: Observable<[Int]>, _ b: Observable<[String]>, _ c: Observable<[Double]>, _ d: Observable<[Bool]>, _ e: Observable<[Character]>) -> Observable<String> {
  Observable.combineLatest(a, b, c, d, e)
    .map { $0.0.count + $0.1.count + $0.2.count }
    .filter { $0 > 3 }
    .map { $0 * 2 }
    .distinctUntilChanged()
    .scan(0) { $0 + $1 }
    .flatMapLatest { value in Observable.just(value + 15) }
    .catchError { _ in .just(0) }
    .map { "\($0)" }
}

func chain16(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 16 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["16"])
}

func chain17(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 17 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["17"])
}

func chain18(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 18 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["18"])
}

func chain19(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 19 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["19"])
}

func chain20(_ a: Observable<[Int]>, _ b: Observable<[String]>, _ c: Observable<[Double]>, _ d: Observable<[Bool]>, _ e: Observable<[Character]>) -> Observable<String> {
  Observable.combineLatest(a, b, c, d, e)
    .map { $0.0.count + $0.1.count + $0.2.count }
    .filter { $0 > 3 }
    .map { $0 * 2 }
    .distinctUntilChanged()
    .scan(0) { $0 + $1 }
    .flatMapLatest { value in Observable.just(value + 20) }
    .catchError { _ in .just(0) }
    .map { "\($0)" }
}

func chain21(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 21 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["21"])
}

func chain22(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 22 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["22"])
}

func chain23(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 23 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["23"])
}

func chain24(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 24 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["24"])
}

func chain25(_ a: Observable<[Int]>, _ b: Observable<[String]>, _ c: Observable<[Double]>, _ d: Observable<[Bool]>, _ e: Observable<[Character]>) -> Observable<String> {
  Observable.combineLatest(a, b, c, d, e)
    .map { $0.0.count + $0.1.count + $0.2.count }
    .filter { $0 > 3 }
    .map { $0 * 2 }
    .distinctUntilChanged()
    .scan(0) { $0 + $1 }
    .flatMapLatest { value in Observable.just(value + 25) }
    .catchError { _ in .just(0) }
    .map { "\($0)" }
}

func chain26(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 26 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["26"])
}

func chain27(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 27 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["27"])
}

func chain28(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 28 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["28"])
}

func chain29(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 29 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["29"])
}

func chain30(_ a: Observable<[Int]>, _ b: Observable<[String]>, _ c: Observable<[Double]>, _ d: Observable<[Bool]>, _ e: Observable<[Character]>) -> Observable<String> {
  Observable.combineLatest(a, b, c, d, e)
    .map { $0.0.count + $0.1.count + $0.2.count }
    .filter { $0 > 3 }
    .map { $0 * 2 }
    .distinctUntilChanged()
    .scan(0) { $0 + $1 }
    .flatMapLatest { value in Observable.just(value + 30) }
    .catchError { _ in .just(0) }
    .map { "\($0)" }
}

func chain31(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 31 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["31"])
}

func chain32(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 32 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["32"])
}

func chain33(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 33 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["33"])
}

func chain34(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 34 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["34"])
}

func chain35(_ a: Observable<[Int]>, _ b: Observable<[String]>, _ c: Observable<[Double]>, _ d: Observable<[Bool]>, _ e: Observable<[Character]>) -> Observable<String> {
  Observable.combineLatest(a, b, c, d, e)
    .map { $0.0.count + $0.1.count + $0.2.count }
    .filter { $0 > 3 }
    .map { $0 * 2 }
    .distinctUntilChanged()
    .scan(0) { $0 + $1 }
    .flatMapLatest { value in Observable.just(value + 35) }
    .catchError { _ in .just(0) }
    .map { "\($0)" }
}

func chain36(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 36 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["36"])
}

func chain37(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 37 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["37"])
}

func chain38(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 38 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["38"])
}

func chain39(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 39 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["39"])
}

func chain40(_ a: Observable<[Int]>, _ b: Observable<[String]>, _ c: Observable<[Double]>, _ d: Observable<[Bool]>, _ e: Observable<[Character]>) -> Observable<String> {
  Observable.combineLatest(a, b, c, d, e)
    .map { $0.0.count + $0.1.count + $0.2.count }
    .filter { $0 > 3 }
    .map { $0 * 2 }
    .distinctUntilChanged()
    .scan(0) { $0 + $1 }
    .flatMapLatest { value in Observable.just(value + 40) }
    .catchError { _ in .just(0) }
    .map { "\($0)" }
}

func chain41(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 41 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["41"])
}

func chain42(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 42 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["42"])
}

func chain43(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 43 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["43"])
}

func chain44(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 44 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["44"])
}

func chain45(_ a: Observable<[Int]>, _ b: Observable<[String]>, _ c: Observable<[Double]>, _ d: Observable<[Bool]>, _ e: Observable<[Character]>) -> Observable<String> {
  Observable.combineLatest(a, b, c, d, e)
    .map { $0.0.count + $0.1.count + $0.2.count }
    .filter { $0 > 3 }
    .map { $0 * 2 }
    .distinctUntilChanged()
    .scan(0) { $0 + $1 }
    .flatMapLatest { value in Observable.just(value + 45) }
    .catchError { _ in .just(0) }
    .map { "\($0)" }
}

func chain46(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 46 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["46"])
}

func chain47(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 47 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["47"])
}

func chain48(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 48 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["48"])
}

func chain49(_ source: Observable<Int>, _ other: Observable<String>) -> Observable<[String]> {
  source
    .map { $0 * 49 + 1 }
    .filter { $0 % 2 == 0 }
    .flatMap { value in Observable.of(value, value + 1) }
    .withLatestFrom(other) { "\($0)" + $1 }
    .distinctUntilChanged()
    .scan([]) { Array(($0 + [$1]).suffix(3)) }
    .startWith([])
    .catchErrorJustReturn(["49"])
}
