/** Waits without letting anything else run: between two tries of what must be done in one step. */
export const sleepSync = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
