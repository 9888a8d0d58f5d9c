/** kube-apiserver's LimitRanger: gives new pods the defaults of their namespace's LimitRanges, and refuses pods outside the bounds. */
import {
  containerDefaults,
  type LimitRange,
  type LimitRangeItem,
  withMissing,
} from '../../../../apis/kubernetes/limit-range.ts';
import type { Container, Pod, ResourceList, ResourceRequirements } from '../../../../apis/kubernetes/pod.ts';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from '../../../../apis/kubernetes/quantity.ts';
import { forbidden, type KindName } from '../../status-errors.ts';
import type { Draft, WriteContext } from '../kind.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';
const POD: KindName = { group: '', kind: 'Pod', plural: 'pods' };
const VOLUME_CLAIM: KindName = { group: '', kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' };

/** The pod with the defaults of its namespace; refused if it is outside the bounds. */
export function limitPod(draft: Draft, context: WriteContext): Draft {
  const ranges = rangesOf(draft, context);
  if (ranges.length === 0) return draft;
  const pod = ranges.reduce(withDefaults, draft as unknown as Pod);
  const problems = ranges.flatMap(({ spec }) => (spec?.limits ?? []).flatMap((item) => podProblems(pod, item)));
  refuse(POD, draft, problems);
  return pod as unknown as Draft;
}

/** Refuses a volume claim that asks for more or less storage than its namespace allows. */
export function checkVolumeClaim(draft: Draft, context: WriteContext): void {
  const { requests = {} } = (draft.spec?.resources as ResourceRequirements | undefined) ?? {};
  const problems = rangesOf(draft, context).flatMap(({ spec }) =>
    (spec?.limits ?? []).flatMap(({ type, min = {}, max = {} }) => {
      if (type !== 'PersistentVolumeClaim') return [];
      const asked = requests.storage;
      return [
        ...bound(
          min,
          'storage',
          (least) =>
            isBelow(asked, least) &&
            `minimum storage usage per ${type} is ${text(least)}, but request is ${text(asked)}`,
        ),
        ...bound(
          max,
          'storage',
          (most) =>
            isAbove(asked, most) && `maximum storage usage per ${type} is ${text(most)}, but request is ${text(asked)}`,
        ),
      ];
    }),
  );
  refuse(VOLUME_CLAIM, draft, problems);
}

function rangesOf({ metadata }: Draft, context: WriteContext): LimitRange[] {
  return [...context.all('limitranges')].filter((range) => range.metadata.namespace === metadata.namespace);
}

function refuse(kind: KindName, { metadata }: Draft, problems: readonly string[]): void {
  if (problems.length === 0) return;
  const told = problems.length === 1 ? (problems[0] as string) : `[${problems.join(', ')}]`;
  throw forbidden(kind, metadata.name ?? '', told);
}

function withDefaults(pod: Pod, range: LimitRange): Pod {
  const defaults = containerDefaults(range);
  const notes: string[] = [];
  const filled = (container: Container, word: string): Container => {
    const given = withMissing(container, defaults);
    for (const part of ['requests', 'limits'] as const) {
      const set = Object.keys(defaults[part]).filter((name) => container.resources?.[part]?.[name] === undefined);
      if (set.length > 0) notes.push(`${set.sort().join(', ')} ${part.slice(0, -1)} for ${word} ${container.name}`);
    }
    return given;
  };
  const { containers, initContainers } = pod.spec;
  const spec = {
    ...pod.spec,
    containers: containers.map((container) => filled(container, 'container')),
    ...(initContainers && { initContainers: initContainers.map((each) => filled(each, 'init container')) }),
  };
  if (notes.length === 0) return pod;
  const annotations = { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}` };
  return { ...pod, metadata: { ...pod.metadata, annotations }, spec };
}

function podProblems(pod: Pod, item: LimitRangeItem): string[] {
  const { containers, initContainers = [] } = pod.spec;
  if (item.type === 'Container')
    return [...containers, ...initContainers].flatMap(({ resources = {} }) => problems(item, resources));
  return item.type === 'Pod' ? problems(item, podSum(pod)) : [];
}

/** The sum over all containers. A resource that one of them leaves out is left out of the sum. */
function podSum({ spec: { containers, initContainers = [] } }: Pod): ResourceRequirements {
  const part = (name: 'requests' | 'limits'): ResourceList => {
    const running = containers.map(({ resources }) => resources?.[name] ?? {});
    const sum = new Map<string, Quantity>();
    for (const resource of Object.keys(running[0] ?? {})) {
      const amounts = running.map((list) => list[resource]);
      if (amounts.includes(undefined)) continue;
      sum.set(resource, amounts.map((amount) => parseQuantity(amount ?? 0)).reduce(addQuantities));
    }
    // Init containers run one at a time before the others, so the larger amount counts.
    for (const { resources } of initContainers) {
      for (const [resource, amount] of Object.entries(resources?.[name] ?? {})) {
        const asked = parseQuantity(amount);
        const known = sum.get(resource);
        if (known === undefined || compareQuantities(asked, known) > 0) sum.set(resource, asked);
      }
    }
    return Object.fromEntries([...sum].map(([resource, amount]) => [resource, formatQuantity(amount)]));
  };
  return { requests: part('requests'), limits: part('limits') };
}

function problems(item: LimitRangeItem, { requests = {}, limits = {} }: ResourceRequirements): string[] {
  const { type, min = {}, max = {}, maxLimitRequestRatio = {} } = item;
  const least = Object.keys(min).flatMap((name) =>
    bound(min, name, (enforced) => {
      const rule = `minimum ${name} usage per ${type} is ${text(enforced)}`;
      const asked = requests[name];
      if (asked === undefined) return `${rule}.  No request is specified`;
      if (isBelow(asked, enforced)) return `${rule}, but request is ${text(asked)}`;
      return (
        limits[name] !== undefined && isBelow(limits[name], enforced) && `${rule}, but limit is ${text(limits[name])}`
      );
    }),
  );
  const most = Object.keys(max).flatMap((name) =>
    bound(max, name, (enforced) => {
      const rule = `maximum ${name} usage per ${type} is ${text(enforced)}`;
      const limit = limits[name];
      if (limit === undefined) return `${rule}.  No limit is specified`;
      if (isAbove(limit, enforced)) return `${rule}, but limit is ${text(limit)}`;
      return isAbove(requests[name], enforced) && `${rule}, but request is ${text(requests[name])}`;
    }),
  );
  const ratios = Object.keys(maxLimitRequestRatio).flatMap((name) =>
    bound(maxLimitRequestRatio, name, (enforced) => {
      const rule = `${name} max limit to request ratio per ${type} is ${text(enforced)}`;
      const asked = nanos(requests[name]);
      const limit = nanos(limits[name]);
      if (asked === 0) return `${rule}, but no request is specified or request is 0`;
      if (limit === 0) return `${rule}, but no limit is specified or limit is 0`;
      return limit / asked > nanos(enforced) / 1e9 && `${rule}, but provided ratio is ${(limit / asked).toFixed(6)}`;
    }),
  );
  return [...least, ...most, ...ratios];
}

/** The problem with one bound, if any. */
function bound(list: ResourceList, name: string, problem: (enforced: string) => string | false): string[] {
  const enforced = list[name];
  const found = enforced === undefined ? false : problem(enforced);
  return found === false ? [] : [found];
}

function isBelow(amount: string | undefined, enforced: string): boolean {
  return nanos(amount) < nanos(enforced);
}

function isAbove(amount: string | undefined, enforced: string): boolean {
  return nanos(amount) > nanos(enforced);
}

function nanos(amount: string | undefined): number {
  return amount === undefined ? 0 : Number(parseQuantity(amount).nanos);
}

function text(quantity: string | undefined): string {
  return formatQuantity(parseQuantity(quantity ?? 0));
}
