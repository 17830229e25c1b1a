/** The units of time that settings and limits are written in, in milliseconds. */
export const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The amount and the unit of `15m`. */
export const milliseconds = (amount: string, unit: string): number =>
  Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
