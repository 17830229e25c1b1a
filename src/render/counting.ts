/** Hosts that count a site's visitors or show them advertisements. Many visitors' browsers refuse them too, and what a page
 *  takes from them stands in the page itself until they come, so a page without them is as it is for visitors. */
const COUNTING = new Set(
  `google-analytics.com googletagmanager.com googleadservices.com googlesyndication.com doubleclick.net plausible.io
  cloudflareinsights.com hotjar.com clarity.ms usefathom.com simpleanalyticscdn.com gc.zgo.at goatcounter.com
  umami.is statcounter.com matomo.cloud mc.yandex.ru hm.baidu.com bat.bing.com snap.licdn.com counter.dev`.split(/\s+/),
);

/** Also of the hosts below them. */
export function counts(url: string): boolean {
  const labels = (URL.parse(url)?.hostname ?? "").split(".");
  return labels.some((_, n) => COUNTING.has(labels.slice(n).join(".")));
}
