/** How long a text has been rendered: the one place of the pipeline that looks at a clock. */

const milliseconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

/** Since the call: processor time of the whole process, and time on the clock. */
export function stopwatch(): () => { cpu_ms: number; clock_ms: number } {
  const [cpu, clock] = [process.cpuUsage(), performance.now()];
  return () => ({ cpu_ms: milliseconds(process.cpuUsage(cpu)), clock_ms: performance.now() - clock });
}

/** Since the call: processor time of this thread alone. */
export function threadStopwatch(): () => number {
  const cpu = process.threadCpuUsage();
  return () => milliseconds(process.threadCpuUsage(cpu));
}
