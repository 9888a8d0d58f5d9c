/** `kubectl get pods`: the columns, and the status column's summary of a pod's state. */
import type { Container, Pod } from '../../../../apis/kubernetes/pod.ts';
import { parseTimestamp } from '../../../../platform/clock.ts';
import { AGE, type Column, column, humanDuration, wideColumn } from './column.ts';

interface EndedState {
  readonly exitCode?: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly finishedAt?: string;
}

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly started?: boolean;
  readonly restartCount?: number;
  readonly state?: {
    readonly running?: object;
    readonly waiting?: { readonly reason?: string };
    readonly terminated?: EndedState;
  };
  readonly lastState?: { readonly terminated?: EndedState };
}

interface Summary {
  readonly ready: number;
  readonly total: number;
  readonly status: string;
  readonly restarts: number;
  readonly lastRestart: number | undefined;
}

export const POD_COLUMNS: readonly Column[] = [
  column<Pod>('Ready', (pod) => {
    const { ready, total } = summaryOf(pod);
    return `${ready}/${total}`;
  }),
  column<Pod>('Status', (pod) => summaryOf(pod).status),
  column<Pod>('Restarts', (pod, now) => {
    const { restarts, lastRestart } = summaryOf(pod);
    if (restarts === 0 || lastRestart === undefined) return String(restarts);
    return `${restarts} (${humanDuration(now - lastRestart)} ago)`;
  }),
  AGE,
  wideColumn<Pod>('IP', (pod) => pod.status?.podIP),
  wideColumn<Pod>('Node', (pod) => pod.spec.nodeName || undefined),
  wideColumn<Pod>('Nominated Node', (pod) => pod.status?.nominatedNodeName || undefined),
  wideColumn<Pod>('Readiness Gates', (pod) => readinessGates(pod)),
];

function statuses(pod: Pod, field: 'containerStatuses' | 'initContainerStatuses'): readonly ContainerStatus[] {
  return ((pod.status as Readonly<Record<string, unknown>> | undefined)?.[field] as readonly ContainerStatus[]) ?? [];
}

/** A pod's state as kubectl summarizes it (printPod). */
export function summaryOf(pod: Pod): Summary {
  const init = initSummary(pod);
  let status = init.status ?? baseStatus(pod);
  let { ready, restarts, lastRestart } = init;
  if (init.status === undefined) {
    let running = false;
    restarts = init.sidecarRestarts;
    for (const container of [...statuses(pod, 'containerStatuses')].reverse()) {
      restarts += container.restartCount ?? 0;
      lastRestart = later(lastRestart, container.lastState?.terminated?.finishedAt);
      const { waiting, terminated } = container.state ?? {};
      if (waiting?.reason) status = waiting.reason;
      else if (terminated !== undefined) status = endedText(terminated);
      else if (container.ready === true) {
        running = true;
        ready++;
      }
    }
    if (status === 'Completed' && running) status = isReady(pod) ? 'Running' : 'NotReady';
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (pod.status?.reason === 'NodeLost') status = 'Unknown';
    else if (pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed') status = 'Terminating';
  }
  return { ready, total: pod.spec.containers.length + init.sidecars, status, restarts, lastRestart };
}

function baseStatus(pod: Pod): string {
  const gated = pod.status?.conditions?.some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  if (gated === true) return 'SchedulingGated';
  return pod.status?.reason || pod.status?.phase || 'Pending';
}

interface InitSummary {
  /** Undefined when all init containers are done. */
  status: string | undefined;
  ready: number;
  restarts: number;
  sidecarRestarts: number;
  lastRestart: number | undefined;
  sidecars: number;
}

function initSummary(pod: Pod): InitSummary {
  const specs = pod.spec.initContainers ?? [];
  const sidecars = new Set(specs.filter(isSidecar).map(({ name }) => name));
  const summary: InitSummary = {
    status: undefined,
    ready: 0,
    restarts: 0,
    sidecarRestarts: 0,
    lastRestart: undefined,
    sidecars: sidecars.size,
  };
  for (const [index, container] of statuses(pod, 'initContainerStatuses').entries()) {
    summary.restarts += container.restartCount ?? 0;
    summary.lastRestart = later(summary.lastRestart, container.lastState?.terminated?.finishedAt);
    if (sidecars.has(container.name)) summary.sidecarRestarts += container.restartCount ?? 0;
    const { waiting, terminated } = container.state ?? {};
    if (terminated !== undefined && (terminated.exitCode ?? 0) === 0) continue;
    if (sidecars.has(container.name) && container.started === true) {
      if (container.ready === true) summary.ready++;
      continue;
    }
    if (terminated !== undefined) summary.status = `Init:${endedText(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') summary.status = `Init:${waiting.reason}`;
    else summary.status = `Init:${index}/${specs.length}`;
    break;
  }
  return summary;
}

function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

function endedText({ reason, signal, exitCode }: EndedState): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`;
}

function later(time: number | undefined, timestamp: string | undefined): number | undefined {
  const other = parseTimestamp(timestamp);
  return other === undefined ? time : Math.max(time ?? 0, other);
}

function isReady(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}

function readinessGates(pod: Pod): string | undefined {
  const gates = (pod.spec as { readonly readinessGates?: readonly { readonly conditionType: string }[] })
    .readinessGates;
  if (gates === undefined || gates.length === 0) return undefined;
  const met = gates.filter(({ conditionType }) =>
    pod.status?.conditions?.some(({ type, status }) => type === conditionType && status === 'True'),
  );
  return `${met.length}/${gates.length}`;
}
