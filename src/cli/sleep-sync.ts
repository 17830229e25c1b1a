/** Waits and lets nothing else run: between two tries of a step that must not be interrupted. */
export const sleepSync = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
