/** Default requests and limits of containers by the LimitRanges of a namespace (kube-apiserver's LimitRanger). */
import { type KubeObject, resource } from './object.ts';
import type { Container, PodSpec, ResourceList, ResourceRequirements } from './pod.ts';

export type LimitType = 'Container' | 'Pod' | 'PersistentVolumeClaim';

export interface LimitRangeItem {
  readonly type: LimitType;
  readonly min?: ResourceList;
  readonly max?: ResourceList;
  /** Limits of containers that name none. */
  readonly default?: ResourceList;
  readonly defaultRequest?: ResourceList;
  readonly maxLimitRequestRatio?: ResourceList;
}

export interface LimitRange extends KubeObject {
  readonly spec?: { readonly limits?: readonly LimitRangeItem[] };
}

export const LIMIT_RANGES = resource<LimitRange>('v1', 'LimitRange', 'limitranges', 'namespaced');

/** The item as the API server stores it: missing defaults follow from the bounds (core/v1 defaults). */
export function withImpliedDefaults(item: LimitRangeItem): LimitRangeItem {
  if (item.type !== 'Container') return item;
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  return {
    ...item,
    ...(Object.keys(limits).length === 0 ? {} : { default: limits }),
    ...(Object.keys(requests).length === 0 ? {} : { defaultRequest: requests }),
  };
}

/** The defaults of one LimitRange for containers. */
export function containerDefaults({ spec }: LimitRange): Required<ResourceRequirements> {
  const items = (spec?.limits ?? []).filter(({ type }) => type === 'Container').map(withImpliedDefaults);
  return {
    requests: Object.assign({}, ...items.map(({ defaultRequest }) => defaultRequest)),
    limits: Object.assign({}, ...items.map((item) => item.default)),
  };
}

/**
 * The spec of a template with the defaults that its pods will get: limits become missing requests, then LimitRanges apply.
 * Returns the same object where nothing is added.
 */
export function admittedSpec(spec: PodSpec, limitRanges: readonly LimitRange[] = []): PodSpec {
  const defaults = limitRanges.map(containerDefaults);
  const containers = mapShared(spec.containers, (container) => admitted(container, defaults));
  const initContainers = spec.initContainers && mapShared(spec.initContainers, (each) => admitted(each, defaults));
  if (containers === spec.containers && initContainers === spec.initContainers) return spec;
  return { ...spec, containers, ...(initContainers === undefined ? {} : { initContainers }) };
}

/** The container with these values where it has none. */
export function withMissing(container: Container, { requests = {}, limits = {} }: ResourceRequirements): Container {
  const own = container.resources ?? {};
  const resources = {
    ...own,
    ...added('limits', own.limits, limits),
    ...added('requests', own.requests, requests),
  };
  return resources.limits === own.limits && resources.requests === own.requests
    ? container
    : { ...container, resources };
}

function admitted(container: Container, defaults: readonly ResourceRequirements[]): Container {
  const { limits = {} } = container.resources ?? {};
  return defaults.reduce(withMissing, withMissing(container, { requests: limits }));
}

function added<Name extends 'requests' | 'limits'>(
  name: Name,
  own: ResourceList | undefined,
  more: ResourceList,
): { readonly [_ in Name]?: ResourceList } {
  const isComplete = Object.keys(more).every((resourceName) => own?.[resourceName] !== undefined);
  return (isComplete ? {} : { [name]: { ...more, ...own } }) as { readonly [_ in Name]?: ResourceList };
}

function mapShared<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = items.map(change);
  return changed.every((item, index) => item === items[index]) ? items : changed;
}
