import { existsSync, readFileSync } from 'node:fs';

/** How long the event loop did nothing else at a time, in ms. */
export interface Blocking {
  /** The longest time between two turns; on a machine that others use too, it holds their time as well. */
  readonly longest: number;
  /** The longest, less the time in which the host of a virtual machine ran others instead. */
  readonly longestHere: number;
  /** How much of the longest one the thread was ready to run and another had its processor. */
  readonly waited: number;
  /** The most processor time of the thread between two turns, which is that of nobody else. */
  readonly longestCpu: number;
}

/** The kernel counts in hundredths of a second. */
const TICK_MS = 10;
const COUNTERS = '/proc/stat';
const HAS_COUNTERS = existsSync(COUNTERS);

/** Looks how long the event loop does nothing else at a time. */
export function watchBlocking(): { end(): Blocking } {
  let longest = 0;
  let longestHere = 0;
  let longestCpu = 0;
  let waited = 0;
  let waiting = waitingMs();
  let last = performance.now();
  let cpu = process.threadCpuUsage();
  let stolen = stolenMs();
  const timer = setInterval(() => {
    const now = performance.now();
    const { user, system } = process.threadCpuUsage(cpu);
    cpu = process.threadCpuUsage();
    const stolenNow = stolenMs();
    const here = processor();
    const waitingNow = waitingMs();
    if (now - last > longest) waited = waitingNow - waiting;
    waiting = waitingNow;
    longest = Math.max(longest, now - last);
    longestHere = Math.max(longestHere, now - last - ((stolenNow[here] ?? 0) - (stolen[here] ?? 0)));
    longestCpu = Math.max(longestCpu, (user + system) / 1000);
    stolen = stolenNow;
    last = now;
  }, 2);
  return {
    end: () => {
      clearInterval(timer);
      return { longest, longestHere, longestCpu, waited };
    },
  };
}

/** What the host has taken of each processor; nothing where nobody tells. */
function stolenMs(): number[] {
  if (!HAS_COUNTERS) return [];
  const lines = readFileSync(COUNTERS, 'utf8').split('\n');
  return lines.filter((line) => /^cpu\d/.test(line)).map((line) => Number(line.split(' ')[8]) * TICK_MS);
}

/** The processor that this thread is on. */
function processor(): number {
  if (!HAS_COUNTERS) return 0;
  const text = readFileSync('/proc/self/stat', 'utf8');
  // The name of the program, in brackets, may have spaces; the processor is the 37th word after it.
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[36]);
}

/** How long this thread, the first of its process, has been ready to run and did not; 0 where nobody tells. */
function waitingMs(): number {
  return HAS_COUNTERS ? Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6 : 0;
}
