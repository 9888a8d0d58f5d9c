/** The life of one container: it waits, runs, ends, and is restarted as its pod's restart policy says. */
import type { ContainerScript } from './pod-script.ts';

export interface EndedRun {
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
}

export type ContainerState =
  | { readonly phase: 'waiting'; readonly until: number; readonly backOffMs: number }
  | { readonly phase: 'running'; readonly startedAt: number }
  | ({ readonly phase: 'ended' } & EndedRun);

export interface ContainerRun {
  readonly state: ContainerState;
  readonly restarts: number;
  /** The run before this one. */
  readonly last?: EndedRun;
}

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

/** kubelet's back-off: none, then 10 s, doubling to 5 min; reset after a run of 10 min. */
const FIRST_BACK_OFF_MS = 10_000;
const LONGEST_BACK_OFF_MS = 300_000;
const FORGIVEN_AFTER_MS = 600_000;

/** A container that will start at this time. */
export function startingAt(time: number): ContainerRun {
  return { state: { phase: 'waiting', until: time, backOffMs: 0 }, restarts: 0 };
}

/** The state of the container at this time. */
export function advance(run: ContainerRun, script: ContainerScript, policy: RestartPolicy, now: number): ContainerRun {
  let current = run;
  for (let next = changesAt(current, script); next <= now; next = changesAt(current, script)) {
    current = step(current, script, policy, next);
  }
  return current;
}

/** When the container next changes by itself. */
export function changesAt({ state }: ContainerRun, script: ContainerScript): number {
  switch (state.phase) {
    case 'waiting':
      return state.until;
    case 'running':
      return state.startedAt + script.runForMs;
    case 'ended':
      return Number.POSITIVE_INFINITY;
  }
}

/** Ends the container now, regardless of its script. */
export function stopped(run: ContainerRun, exitCode: number, now: number): ContainerRun {
  const { state } = run;
  if (state.phase === 'ended') return run;
  const startedAt = state.phase === 'running' ? state.startedAt : now;
  return { ...run, state: { phase: 'ended', startedAt, finishedAt: now, exitCode } };
}

function step(run: ContainerRun, script: ContainerScript, policy: RestartPolicy, at: number): ContainerRun {
  const { state, restarts, last } = run;
  if (state.phase === 'waiting') {
    const again = last === undefined ? 0 : 1;
    return { state: { phase: 'running', startedAt: at }, restarts: restarts + again, ...(last && { last }) };
  }
  if (state.phase === 'ended') return run;
  const ended: EndedRun = { startedAt: state.startedAt, finishedAt: at, exitCode: script.exitCode };
  const restarted = policy === 'Always' || (policy === 'OnFailure' && script.exitCode !== 0);
  if (!restarted) return { ...run, state: { phase: 'ended', ...ended } };
  const forgiven = at - state.startedAt >= FORGIVEN_AFTER_MS;
  const backOffMs =
    restarts === 0 || forgiven ? 0 : Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (restarts - 1));
  // A script that ends at once would restart forever in the same instant, so it waits at least 1 ms.
  const until = at + Math.max(backOffMs, script.runForMs === 0 ? 1 : 0);
  return { state: { phase: 'waiting', until, backOffMs }, restarts, last: ended };
}
