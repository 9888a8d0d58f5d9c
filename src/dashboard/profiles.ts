/** CPU and heap profiles of the program, for Chrome's developer tools and speedscope. */
import { Session } from 'node:inspector/promises';
import type { Clock } from '../platform/clock.ts';

/** The paths that profiles are served under. */
export const PROFILE_PATHS = ['/debug/profile', '/debug/heap'] as const;
export type ProfilePath = (typeof PROFILE_PATHS)[number];

const LONGEST_SECONDS = 120;
const USUAL_SECONDS = 10;

/** Profiles the program for some seconds. Profiles hold function names and no values: a heap snapshot would hold secrets. */
export async function takeProfile(path: ProfilePath, seconds: number, clock: Clock): Promise<string> {
  const session = new Session();
  session.connect();
  try {
    if (path === '/debug/heap') {
      await session.post('HeapProfiler.startSampling');
      await clock.sleep(seconds * 1000);
      return JSON.stringify((await session.post('HeapProfiler.stopSampling')).profile);
    }
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await clock.sleep(seconds * 1000);
    return JSON.stringify((await session.post('Profiler.stop')).profile);
  } finally {
    session.disconnect();
  }
}

/** The seconds of a query such as `seconds=30`; undefined when they are invalid. */
export function profileSeconds(query: URLSearchParams): number | undefined {
  const seconds = Number(query.get('seconds') ?? USUAL_SECONDS);
  return seconds > 0 && seconds <= LONGEST_SECONDS ? seconds : undefined;
}
