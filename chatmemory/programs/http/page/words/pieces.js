/** The words of the small pieces, the dialogs and the notices. */

export const pieceWords = {
  retry: ["Try again", "重试"],
  loading: ["Loading …", "加载中…"],
  showAll: [(count) => `Show all ${count} characters`, (count) => `显示全部 ${count} 个字符`],
  more: ["Load more", "加载更多"],
  close: ["Close", "关闭"],
  cancel: ["Cancel", "取消"],
  dismiss: ["Dismiss", "知道了"],
  notices: ["Notices", "通知"],
};
