/** Asks for news (COMMENTS 2): often while the panel is open, seldom while the page is seen, never while it is not, and less
 *  and less where no answer comes. */

const SEEN_S = 60;
const LONGEST_S = 300;

interface Polled {
  refresh(): Promise<boolean>;
  readonly poll_s: number;
}

/** The panel. */
interface Shown {
  readonly isOpen: boolean;
  tick(): void;
}

export interface Polling {
  /** After what may have changed how often it is asked. */
  again(): void;
  stop(): void;
}

export function startPolling(session: Polled, panel: Shown): Polling {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let stopped = false;

  function again(): void {
    clearTimeout(timer);
    if (stopped || document.hidden) return;
    const seconds = (panel.isOpen ? session.poll_s : SEEN_S) * 2 ** failures;
    timer = setTimeout(ask, 1000 * Math.min(seconds, LONGEST_S));
  }
  async function ask(): Promise<void> {
    failures = (await session.refresh()) ? 0 : failures + 1;
    panel.tick();
    again();
  }
  function turned(): void {
    clearTimeout(timer);
    if (!document.hidden && !stopped) void ask();
  }

  document.addEventListener("visibilitychange", turned);
  again();
  return {
    again,
    stop() {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", turned);
    },
  };
}
