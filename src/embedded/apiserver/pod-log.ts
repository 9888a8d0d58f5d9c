/** Simulated container logs: a few lines derived from the pod's history. */
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';
import { badRequest } from './status-errors.ts';

/** One line per minute, so that the log of a long-running pod is not empty. */
const HEARTBEAT_MS = 60_000;
const MOST_HEARTBEATS = 100;

/** The log of one container; 400 if the request does not say which one, or if it has not started. */
export function podLog(pod: Pod, parameters: URLSearchParams, now: number): string {
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map(({ name }) => name);
  const name = pod.metadata.name ?? '';
  const asked = parameters.get('container') ?? '';
  if (asked !== '' && !containers.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`);
  if (asked === '' && containers.length > 1) {
    const choice = containers.join(' ');
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${choice}]`);
  }
  const container = asked === '' ? containers[0] : asked;
  const start = parseTimestamp(pod.status?.startTime);
  if ((pod.spec.nodeName ?? '') === '' || start === undefined || pod.status?.phase === 'Pending') {
    const reason = (pod.spec.nodeName ?? '') === '' ? 'pod is not scheduled' : 'ContainerCreating';
    throw badRequest(`container "${container}" in pod "${name}" is waiting to start: ${reason}`);
  }
  const lines = logLines(pod, start, now);
  const tail = Number(parameters.get('tailLines') ?? lines.length);
  const stamped = parameters.get('timestamps') === 'true';
  return lines
    .slice(Math.max(0, lines.length - tail))
    .map(([time, text]) => `${stamped ? `${toTimestamp(time)} ` : ''}${text}\n`)
    .join('');
}

function logLines(pod: Pod, start: EpochMs, now: number): [EpochMs, string][] {
  const { name } = pod.metadata;
  const lines: [EpochMs, string][] = [[start, `${name} started on ${pod.spec.nodeName} (a simulated container)`]];
  const beats = Math.floor((now - start) / HEARTBEAT_MS);
  for (let beat = Math.max(1, beats - MOST_HEARTBEATS + 1); beat <= beats; beat++) {
    lines.push([(start + beat * HEARTBEAT_MS) as EpochMs, `${name} has been running for ${beat} min`]);
  }
  if (pod.status?.phase === 'Succeeded') lines.push([now as EpochMs, `${name} completed`]);
  if (pod.status?.phase === 'Failed') lines.push([now as EpochMs, `${name} failed`]);
  return lines;
}
