extension NetworkError.Messages {
  /// The messages in Chinese.
  public static let chinese = NetworkError.Messages(
    network: "网络状态不佳，请稍后再试。",
    timeout: "请求超时，请稍后再试。",
    cancelled: "请求已取消。",
    tls: "无法建立安全连接。",
    parse: "服务器数据解析失败。",
    parameter: "请求参数有误。",
    authentication: "请先登录。",
    forbidden: "您没有权限执行此操作。",
    notFound: "您访问的内容不存在。",
    tooManyRequests: "请求过于频繁，请稍后再试。",
    badRequest: "请求被拒绝。",
    server: "服务器异常，请稍后再试。",
    file: "文件读写失败。",
    notCached: "离线时无法查看此内容。",
    fileInUse: "此操作正在进行中。",
    unknownOutcome: "无法确认是否已提交成功，请先核实再重试。",
    other: "出错了，请稍后再试。")
}
