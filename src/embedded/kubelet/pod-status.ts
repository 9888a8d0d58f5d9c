/** The pod status that a kubelet reports. */
import type { Condition } from '../../apis/kubernetes/object.ts';
import type { Container, Pod, PodPhase, PodStatus } from '../../apis/kubernetes/pod.ts';
import { type EpochMs, toTimestamp } from '../../platform/clock.ts';
import type { ContainerRun } from './container-run.ts';
import { type PodRun, readyAt, restartPolicy } from './pod-run.ts';

export interface PodPlace {
  readonly hostIP: string;
  readonly podIP: string;
}

type PodCondition = Condition & { readonly lastProbeTime: null };

/** The status of the pod at this time; conditions set by other components are kept. */
export function podStatus(pod: Pod, run: PodRun, place: PodPlace, now: number): PodStatus {
  const phase = phaseOf(pod, run);
  const over = phase === 'Succeeded' || phase === 'Failed';
  const initialized = run.initContainers.every(
    ({ state }, index) =>
      state.phase === 'ended' || (state.phase === 'running' && isSidecar(pod.spec.initContainers?.[index])),
  );
  const readyContainers = run.containers.map((container) => !over && readyAt(run, container) <= now);
  const started = run.acceptedAt + run.script.startMs <= now;
  const unready = pod.spec.containers.filter((_, index) => !readyContainers[index]).map(({ name }) => name);
  const notReady = over
    ? { reason: phase === 'Failed' ? 'PodFailed' : 'PodCompleted' }
    : { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
  const uninitialized = {
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${incomplete(pod, run)}]`,
  };
  const ready = unready.length === 0 && initialized && !over;
  const completed = phase === 'Succeeded' ? { reason: 'PodCompleted' } : {};
  const time = timestamp(now);
  const conditions = [
    condition(pod, 'PodReadyToStartContainers', started && !over, {}, time),
    condition(pod, 'Initialized', initialized, initialized ? completed : uninitialized, time),
    condition(pod, 'Ready', ready, ready ? {} : notReady, time),
    condition(pod, 'ContainersReady', ready, ready ? {} : notReady, time),
  ];
  const own = new Set(conditions.map(({ type }) => type));
  return {
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    phase,
    conditions: [...conditions, ...(pod.status?.conditions ?? []).filter(({ type }) => !own.has(type))],
    ...(run.ended ?? {}),
    hostIP: place.hostIP,
    hostIPs: [{ ip: place.hostIP }],
    podIP: place.podIP,
    podIPs: [{ ip: place.podIP }],
    startTime: timestamp(run.acceptedAt),
    ...(run.initContainers.length > 0 && {
      initContainerStatuses: run.initContainers.map((container, index) =>
        containerStatus(
          pod,
          pod.spec.initContainers?.[index],
          container,
          container.state.phase === 'ended',
          initialized,
        ),
      ),
    }),
    containerStatuses: run.containers.map((container, index) =>
      containerStatus(pod, pod.spec.containers[index], container, readyContainers[index] ?? false, initialized),
    ),
  } as PodStatus;
}

function phaseOf(pod: Pod, run: PodRun): PodPhase {
  if (run.ended !== undefined) return 'Failed';
  const policy = restartPolicy(pod);
  const states = run.containers.map(({ state }) => state);
  if (states.length > 0 && states.every((state) => state.phase === 'ended')) {
    return states.every((state) => state.phase === 'ended' && state.exitCode === 0) ? 'Succeeded' : 'Failed';
  }
  const initFailed = run.initContainers.some(({ state }) => state.phase === 'ended' && state.exitCode !== 0);
  if (initFailed) return policy === 'Never' ? 'Failed' : 'Pending';
  return states.some((state) => state.phase === 'running' || state.phase === 'ended') ||
    run.containers.some(({ last }) => last)
    ? 'Running'
    : 'Pending';
}

function containerStatus(
  pod: Pod,
  container: Container | undefined,
  run: ContainerRun,
  ready: boolean,
  initialized: boolean,
): object {
  const { state, restarts, last } = run;
  const name = container?.name ?? '';
  const id = `containerd://${pod.metadata.uid}-${name}-${restarts}`;
  const image = container?.image ?? '';
  return {
    name,
    image,
    imageID: image,
    ready,
    restartCount: restarts,
    started: state.phase === 'running',
    ...(state.phase === 'waiting' && last === undefined ? {} : { containerID: id }),
    state: stateOf(pod, name, state, id, initialized),
    lastState: last === undefined ? {} : { terminated: terminated(last, id) },
  };
}

function stateOf(pod: Pod, name: string, state: ContainerRun['state'], id: string, initialized: boolean): object {
  switch (state.phase) {
    case 'running':
      return { running: { startedAt: timestamp(state.startedAt) } };
    case 'ended':
      return { terminated: terminated(state, id) };
    case 'waiting': {
      if (state.backOffMs === 0) return { waiting: { reason: initialized ? 'ContainerCreating' : 'PodInitializing' } };
      const { name: podName, namespace, uid } = pod.metadata;
      const message = `back-off ${goSeconds(state.backOffMs)} restarting failed container=${name} pod=${podName}_${namespace}(${uid})`;
      return { waiting: { reason: 'CrashLoopBackOff', message } };
    }
  }
}

function terminated(ended: { startedAt: number; finishedAt: number; exitCode: number }, containerID: string): object {
  return {
    exitCode: ended.exitCode,
    reason: ended.exitCode === 0 ? 'Completed' : 'Error',
    startedAt: timestamp(ended.startedAt),
    finishedAt: timestamp(ended.finishedAt),
    containerID,
  };
}

function condition(
  pod: Pod,
  type: string,
  holds: boolean,
  why: { reason?: string; message?: string },
  now: string,
): PodCondition {
  const known = pod.status?.conditions?.find((other) => other.type === type);
  const status = holds ? 'True' : 'False';
  return {
    type,
    status,
    ...why,
    lastProbeTime: null,
    lastTransitionTime: known?.status === status ? (known.lastTransitionTime ?? now) : now,
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
  };
}

function incomplete(pod: Pod, run: PodRun): string {
  return (pod.spec.initContainers ?? [])
    .filter((_, index) => run.initContainers[index]?.state.phase !== 'ended')
    .map(({ name }) => name)
    .join(' ');
}

function isSidecar(container: Container | undefined): boolean {
  return container?.restartPolicy === 'Always';
}

function timestamp(time: number): string {
  return toTimestamp(time as EpochMs);
}

/** As Go prints a whole number of seconds: `10s`, `1m20s`, `5m0s`. */
function goSeconds(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
