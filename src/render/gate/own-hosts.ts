/** Which hosts are the site's own, and where the server has them. */

interface Target {
  /** Host and port of the site's URL: shown to the page, answered with the version that is looked at. */
  host: string;
  version_host: string;
}

const withPort = (host: string, fallback: string): string => (/:\d+$/.test(host) ? host : `${host}:${fallback}`);

/** The `Host` that the server is asked with; null for a host that is not the site's. `port`: where none is written. */
export function ownHosts({ host, version_host }: Target, port: string): (asked: string | null) => string | null {
  const [own, version] = [withPort(host, port), withPort(version_host, port)];
  return (asked) => {
    if (asked === null) return null;
    const name = withPort(asked.toLowerCase(), port);
    return name === own || name === version ? version_host : null;
  };
}
