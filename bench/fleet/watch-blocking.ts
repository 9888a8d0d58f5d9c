import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** How long the event loop did nothing else at a time, in ms. */
export interface Blocking {
  /** The longest time between two turns; on a machine that others use too, it holds their time as well. */
  readonly longest: number;
  /** The longest, less the time in which the host of a virtual machine ran others instead. */
  readonly longestHere: number;
  /** The most processor time of the thread between two turns, which is that of nobody else. */
  readonly longestCpu: number;
}

/** The host counts in hundredths of a second. */
const TICK_MS = 10;
const COUNTERS = '/proc/stat';

/** Looks how long the event loop does nothing else at a time. */
export function watchBlocking(): { end(): Blocking } {
  let longest = 0;
  let longestHere = 0;
  let longestCpu = 0;
  let last = performance.now();
  let cpu = process.threadCpuUsage();
  let stolen = stolenMs();
  const timer = setInterval(() => {
    const now = performance.now();
    const { user, system } = process.threadCpuUsage(cpu);
    cpu = process.threadCpuUsage();
    const stolenNow = stolenMs();
    longest = Math.max(longest, now - last);
    longestHere = Math.max(longestHere, now - last - (stolenNow - stolen));
    longestCpu = Math.max(longestCpu, (user + system) / 1000);
    stolen = stolenNow;
    last = now;
  }, 1);
  return {
    end: () => {
      clearInterval(timer);
      return { longest, longestHere, longestCpu };
    },
  };
}

/** What the host has taken of each processor on average, which is at most what it has taken of ours; 0 where nobody tells. */
function stolenMs(): number {
  if (!existsSync(COUNTERS)) return 0;
  const [total = ''] = readFileSync(COUNTERS, 'utf8').split('\n', 1);
  return (Number(total.split(/\s+/)[8]) * TICK_MS) / availableParallelism();
}
