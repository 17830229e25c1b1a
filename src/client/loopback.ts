/** Whether an address is this machine's own, whatever its name service says: no proxy can reach that. */
export const isLoopback = ({ hostname }: URL): boolean =>
  /^(.+\.)?localhost\.?$/.test(hostname) || /^127(\.\d+){3}$/.test(hostname) || hostname === "[::1]";

/** What `fetch` is told so that HTTP_PROXY does not count for this machine's own addresses; only Bun looks at it. */
export const direct = (url: URL): { proxy?: false } => (isLoopback(url) ? { proxy: false } : {});
