/** The life of one pod on its node, as a function of time. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { advance, type ContainerRun, changesAt, type RestartPolicy, startingAt, stopped } from './container-run.ts';
import type { PodScript } from './pod-script.ts';

export interface PodRun {
  readonly script: PodScript;
  readonly acceptedAt: number;
  readonly containers: readonly ContainerRun[];
  readonly initContainers: readonly ContainerRun[];
  /** When its processes will have ended after the stop request, and with which exit code. */
  readonly stop?: { readonly at: number; readonly exitCode: number };
  /** Why the pod was ended from outside, if it was. */
  readonly ended?: { readonly reason: string; readonly message: string };
}

/** Exit codes of a process that ends by SIGTERM without a handler, and by SIGKILL. */
const TERMINATED = 143;
const KILLED = 137;

/** A pod that its node has just accepted. */
export function acceptPod(script: PodScript, now: number): PodRun {
  let startsAt = now + script.startMs;
  const initContainers = script.initContainers.map((init) => {
    const run = startingAt(startsAt);
    // Sidecars do not delay the containers after them; an init container that fails blocks them for good.
    if (init.runForMs !== Number.POSITIVE_INFINITY)
      startsAt = init.exitCode === 0 ? startsAt + init.runForMs : Number.POSITIVE_INFINITY;
    return run;
  });
  return { script, acceptedAt: now, initContainers, containers: script.containers.map(() => startingAt(startsAt)) };
}

/** The state of the pod at this time. */
export function advancePod(run: PodRun, pod: Pod, now: number): PodRun {
  if (run.ended !== undefined) return run;
  const policy = restartPolicy(pod);
  const until = Math.min(now, run.stop?.at ?? Number.POSITIVE_INFINITY);
  const moved = (
    runs: readonly ContainerRun[],
    scripts: PodScript['containers'],
    how: RestartPolicy,
  ): readonly ContainerRun[] =>
    runs.map((container, index) => {
      const script = scripts[index];
      return script === undefined ? container : advance(container, script, how, until);
    });
  const advanced: PodRun = {
    ...run,
    initContainers: moved(run.initContainers, run.script.initContainers, 'Never'),
    containers: moved(run.containers, run.script.containers, policy),
  };
  const deadline = deadlineOf(advanced, pod);
  if (run.stop !== undefined && run.stop.at <= now) return endAll(advanced, run.stop.exitCode, run.stop.at);
  if (deadline <= now) {
    const reason = 'DeadlineExceeded';
    const message = 'Pod was active on the node longer than the specified deadline';
    return { ...endAll(advanced, KILLED, deadline), ended: { reason, message } };
  }
  return advanced;
}

/** Asks the pod to stop within a grace period. A later request with a shorter period wins. */
export function stopPod(run: PodRun, graceMs: number, now: number): PodRun {
  const started = run.containers.some(({ state }) => state.phase === 'running');
  const takesMs = started ? run.script.stopMs : 0;
  const at = now + Math.min(takesMs, graceMs);
  if (run.stop !== undefined && run.stop.at <= at) return run;
  return { ...run, stop: { at, exitCode: takesMs > graceMs ? KILLED : TERMINATED } };
}

/** When the pod next changes by itself; Infinity if it does not. */
export function podChangesAt(run: PodRun, pod: Pod, now: number): number {
  if (run.ended !== undefined) return Number.POSITIVE_INFINITY;
  const times = [
    run.stop?.at ?? Number.POSITIVE_INFINITY,
    deadlineOf(run, pod),
    ...run.containers.map((container, index) =>
      changesAt(container, run.script.containers[index] ?? { runForMs: Number.POSITIVE_INFINITY, exitCode: 0 }),
    ),
    ...run.initContainers.map((container, index) =>
      changesAt(container, run.script.initContainers[index] ?? { runForMs: Number.POSITIVE_INFINITY, exitCode: 0 }),
    ),
    ...run.containers.map((container) => readyAt(run, container)),
  ];
  return Math.min(...times.filter((time) => time > now));
}

/** When a running container becomes ready; Infinity if it is not running. */
export function readyAt(run: PodRun, { state }: ContainerRun): number {
  return state.phase === 'running' ? state.startedAt + run.script.readyMs : Number.POSITIVE_INFINITY;
}

/** Whether all processes have ended after the stop request. */
export function isStopped(run: PodRun, now: number): boolean {
  return run.stop !== undefined && run.stop.at <= now;
}

export function restartPolicy(pod: Pod): RestartPolicy {
  return pod.spec.restartPolicy ?? 'Always';
}

function deadlineOf(run: PodRun, pod: Pod): number {
  const seconds = pod.spec.activeDeadlineSeconds;
  if (seconds === undefined || run.containers.every(({ state }) => state.phase === 'ended'))
    return Number.POSITIVE_INFINITY;
  return run.acceptedAt + seconds * 1000;
}

function endAll(run: PodRun, exitCode: number, at: number): PodRun {
  const end = (container: ContainerRun): ContainerRun => stopped(container, exitCode, at);
  return { ...run, containers: run.containers.map(end), initContainers: run.initContainers.map(end) };
}
