/** Days as people say them, in UTC. */

// The months are written by hand: the system's own formatter takes 7 ms to load, in every process that starts.
const MONTHS = "January February March April May June July August September October November December".split(" ");

/** The parts of an ISO time, which is in UTC. */
export function dateParts(iso: string) {
  const [year, month, day] = iso.slice(0, 10).split("-").map(Number) as [number, number, number];
  return { year, month: MONTHS[month - 1]!, day, time: iso.slice(11, 16) };
}

/** `5 December`; with the year if it is another one than now. */
export function dayIn(iso: string, now: number): string {
  const { year, month, day } = dateParts(iso);
  return year === new Date(now).getUTCFullYear() ? `${day} ${month}` : `${day} ${month} ${year}`;
}
