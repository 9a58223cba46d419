/** The words of the small pieces, the dialogs and the notices. */

export const pieceWords = {
  retry: ["Try again", "重试"],
  loading: ["Loading …", "加载中…"],
  showAll: [(count) => `Show all ${count} characters`, (count) => `显示全部 ${count} 个字符`],
  more: ["Load more", "加载更多"],
  close: ["Close", "关闭"],
  cancel: ["Cancel", "取消"],
  escAgain: ["Press Esc again to leave without your changes.", "再按一次 Esc 离开，不保留所做的更改。"],
  dismiss: ["Dismiss", "知道了"],
  copyCode: ["Copy code", "复制代码"],
  copied: ["Copied", "已复制"],
  copyFailed: ["The browser does not let this page copy.", "浏览器不允许此页面复制。"],
  code: ["Code", "代码"],
  table: ["Table", "表格"],
  asWritten: ["As written", "查看原文"],
  notices: ["Notices", "通知"],
};
