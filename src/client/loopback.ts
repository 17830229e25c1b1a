/** Whether a URL leads to this machine itself, whatever its name service says: no proxy can reach that. */
export const isLoopback = ({ hostname }: Pick<URL, "hostname">): boolean =>
  /^(.+\.)?localhost\.?$/.test(hostname) || /^127(\.\d+){3}$/.test(hostname) || hostname === "[::1]";

/** What `fetch` is told so that HTTP_PROXY does not count for this machine itself; only Bun reads it. */
export const direct = (url: URL): { proxy?: false } => (isLoopback(url) ? { proxy: false } : {});
