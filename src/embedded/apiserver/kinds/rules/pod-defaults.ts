/** Defaults for fields that a pod's manifest leaves out (kube-apiserver's defaults for core/v1). */
import type { Fields } from '../kind.ts';

const SPEC: Fields = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: Object.freeze({}),
  schedulerName: 'default-scheduler',
};
const CONTAINER: Fields = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
};

/** The spec with its defaults. Parts that need none are shared with the given spec. */
export function podSpecDefaults(spec: Fields): Fields {
  const result: Record<string, unknown> = withMissing(spec, SPEC);
  for (const field of ['containers', 'initContainers']) {
    if (Array.isArray(spec[field])) result[field] = mapShared(spec[field] as Fields[], containerDefaults);
  }
  if (spec.serviceAccountName !== undefined && spec.serviceAccount === undefined) {
    result.serviceAccount = spec.serviceAccountName;
  }
  return result;
}

function containerDefaults(container: Fields): Fields {
  if (typeof container !== 'object' || container === null) return container;
  const result: Record<string, unknown> = withMissing(container, CONTAINER);
  result.imagePullPolicy ??= pullPolicy(container.image);
  result.resources ??= Object.freeze({});
  const ports = container.ports;
  if (Array.isArray(ports)) {
    result.ports = mapShared(ports as Fields[], (port) => withMissing(port, { protocol: 'TCP' }));
  }
  result.resources = requestsFromLimits(result.resources as Fields);
  return result;
}

function pullPolicy(image: unknown): string {
  const name = typeof image === 'string' ? image : '';
  const tag = name.slice(name.lastIndexOf('/') + 1);
  return !tag.includes('@') && (!tag.includes(':') || tag.endsWith(':latest')) ? 'Always' : 'IfNotPresent';
}

/** A limit without a request also sets the request. */
function requestsFromLimits(resources: Fields): Fields {
  const limits = resources.limits as Fields | undefined;
  if (limits === undefined || limits === null) return resources;
  const requests = (resources.requests as Fields | undefined) ?? {};
  if (Object.keys(limits).every((name) => requests[name] !== undefined)) return resources;
  return { ...resources, requests: { ...limits, ...requests } };
}

/** Adds fields of `missing` that are absent. Returns a copy that the caller may change. */
function withMissing(fields: Fields, missing: Fields): Record<string, unknown> {
  const result: Record<string, unknown> = { ...fields };
  for (const name in missing) if (result[name] === undefined || result[name] === null) result[name] = missing[name];
  return result;
}

/** Like map, but returns the list itself if no item changed. */
function mapShared<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = items.map(change);
  return changed.every((item, index) => item === items[index]) ? items : changed;
}
