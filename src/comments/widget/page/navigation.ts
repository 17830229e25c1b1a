/** Hears when an app shows another of its pages without loading one. */

interface Listening {
  signal: AbortSignal;
}

export function onNavigation(then: () => void, { signal }: Listening): void {
  if (window.navigation) return window.navigation.addEventListener("currententrychange", then, { signal });
  addEventListener("popstate", then, { signal });
  for (const name of ["pushState", "replaceState"] as const) {
    const original = history[name];
    history[name] = function (...state) {
      original.apply(this, state);
      if (!signal.aborted) then();
    };
  }
}
