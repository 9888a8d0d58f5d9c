/** How long the event loop did nothing else at a time, in ms. */
export interface Blocking {
  /** The longest time between two turns; on a machine that others use too, it holds their time as well. */
  readonly longest: number;
  /** The most processor time of the thread between two turns, which is that of nobody else. */
  readonly longestCpu: number;
}

/** Looks how long the event loop does nothing else at a time. */
export function watchBlocking(): { end(): Blocking } {
  let longest = 0;
  let longestCpu = 0;
  let last = performance.now();
  let cpu = process.threadCpuUsage();
  const timer = setInterval(() => {
    const now = performance.now();
    const { user, system } = process.threadCpuUsage(cpu);
    cpu = process.threadCpuUsage();
    longest = Math.max(longest, now - last);
    longestCpu = Math.max(longestCpu, (user + system) / 1000);
    last = now;
  }, 1);
  return {
    end: () => {
      clearInterval(timer);
      return { longest, longestCpu };
    },
  };
}
