/** Uses the page that is open: the pointer passes over what is in the window, and what may be pressed is pressed. */
import type { Browser } from "../../browser/chromium.ts";

const [ACROSS, DOWN] = [10, 8];
const MOST_PRESSED = 40;
/** No question may stop it, no form or link may leave the page: where links lead is asked of the server. */
const STAY = `(() => {
  window.alert = window.print = () => {}; window.confirm = () => true; window.prompt = () => null; window.open = () => null;
  const stay = (event) => { if (event.type === "submit" || event.target.closest?.("a[href]:not([href^='#'])")) event.preventDefault(); };
  for (const type of ["click", "submit"]) document.addEventListener(type, stay, true);
  return [innerWidth, innerHeight];
})()`;
const PRESS = `[...document.querySelectorAll("a[href^='#'], button, summary, [role=button], [role=tab], [onclick], input[type=button]")]
  .slice(0, ${MOST_PRESSED}).forEach((one) => { try { one.click(); } catch {} })`;
const SCROLL = `new Promise((done) => { scrollTo(0, document.documentElement.scrollHeight); setTimeout(done, 300); })`;

/** What failed on the page since it was opened. Of a page that leaves all the same, what failed until then. */
export async function use(browser: Browser): Promise<readonly string[]> {
  try {
    const [width, height] = await browser.evaluate<[number, number]>(STAY);
    for (let at = 0; at < ACROSS * DOWN; at++) {
      const [x, y] = [((at % ACROSS) + 0.5) * (width / ACROSS), (Math.floor(at / ACROSS) + 0.5) * (height / DOWN)];
      await browser.cdp("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
    }
    await browser.evaluate(PRESS);
    await browser.evaluate(SCROLL);
  } catch {
    // a press may lead away
  }
  // What a press began and another ended was not refused: what is missing is told by its status.
  return (await browser.shows("")).failures.filter((failure) => !failure.startsWith("net::ERR_ABORTED "));
}
