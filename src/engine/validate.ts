/** Rejects inconsistent problems, naming the object and the field, before they lead to a wrong plan. */
import { SpindriftError } from '../platform/errors.ts';
import type { Slices } from './packing/work.ts';
import type {
  Alternatives,
  InstanceType,
  Labels,
  Offering,
  PodAffinityTerm,
  PodGroup,
  Pool,
  Problem,
  Requirement,
  SolveOptions,
} from './problem.ts';

/** More values or labels than this on one object are a mistake or an attack. */
const MAX_VALUES = 4096;
const OPERATORS: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte']);
const SELECTOR_OPERATORS: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist']);
const NONE: readonly never[] = [];
const INTEGER = /^[+-]?\d{1,15}$/;

/** Throws a PROBLEM_INVALID for the first error. */
export function* validateProblem(problem: Problem): Slices<void> {
  if (problem.pools.length > 0 && problem.instanceTypes.length === 0) fail('problem', 'instanceTypes', 'is empty');
  const checked = new Set<Alternatives>();
  for (let index = 0; index < problem.pods.length; index++) {
    validatePod(problem.pods[index] as PodGroup, checked);
    if ((index & 2047) === 2047) yield;
  }
  unique('pool', problem.pools);
  problem.pools.forEach(validatePool);
  unique('instance type', problem.instanceTypes);
  problem.instanceTypes.forEach(validateType);
  for (const daemon of problem.daemons ?? []) {
    const object = `daemon ${daemon.name}`;
    amounts(object, 'requests', daemon.requests);
    alternatives(object, 'requirements', daemon.requirements, checked);
    if (daemon.labels !== undefined) labels(object, 'labels', daemon.labels);
    for (const term of daemon.podAntiAffinity ?? []) affinityTerm(object, 'podAntiAffinity', term);
  }
  unique('node', problem.nodes ?? []);
  const nodes = new Set<string>();
  for (const node of problem.nodes ?? []) {
    nodes.add(node.name);
    labels(`node ${node.name}`, 'labels', node.labels);
    for (const [resource, amount] of Object.entries(node.free)) {
      if (!Number.isFinite(amount)) fail(`node ${node.name}`, `free.${resource}`, `is ${amount}, but must be a number`);
    }
    for (const number of node.daemonsToCome ?? []) {
      if (problem.daemons?.[number] === undefined)
        fail(`node ${node.name}`, 'daemonsToCome', `names ${number}, which is not a daemon of the problem`);
    }
  }
  for (const bound of problem.boundPods ?? []) {
    const object = `bound pod of namespace ${bound.namespace}`;
    if (!nodes.has(bound.node)) fail(object, 'node', `is ${bound.node}, which is not a node of the problem`);
    count(object, 'count', bound.count ?? 1, 0);
    for (const term of bound.podAntiAffinity ?? []) affinityTerm(object, 'podAntiAffinity', term);
  }
}

/** Throws a PROBLEM_INVALID for invalid options. */
export function validateOptions(options: SolveOptions): void {
  const { deadlineMs, maxSteps, preferenceSlack, quality } = options;
  if (deadlineMs !== undefined && !(deadlineMs >= 0)) fail('options', 'deadlineMs', `is ${deadlineMs}`);
  if (maxSteps !== undefined && !(maxSteps >= 0)) fail('options', 'maxSteps', `is ${maxSteps}`);
  if (preferenceSlack !== undefined && !(preferenceSlack >= 0))
    fail('options', 'preferenceSlack', `is ${preferenceSlack}`);
  if (quality !== undefined && quality !== 'fast' && quality !== 'balanced')
    fail('options', 'quality', `is ${quality}`);
}

function validatePod(pod: PodGroup, checked: Set<Alternatives>): void {
  const object = `pod ${pod.name}`;
  if (pod.count !== undefined) count(object, 'count', pod.count, 0);
  amounts(object, 'requests', pod.requests);
  const stepped = pod.stepSizes?.reduce(
    (sum, size) => sum + (Number.isInteger(size) && size > 0 ? size : Number.NaN),
    0,
  );
  if (stepped !== undefined && stepped !== (pod.requirements ?? NONE).length)
    fail(object, 'stepSizes', `are ${pod.stepSizes?.join(', ')}, which is not the number of its requirements`);
  if (pod.labels !== undefined) labels(object, 'labels', pod.labels);
  if (pod.priority !== undefined && !Number.isFinite(pod.priority)) fail(object, 'priority', `is ${pod.priority}`);
  alternatives(object, 'requirements', pod.requirements, checked);
  alternatives(object, 'volumeRequirements', pod.volumeRequirements, checked);
  alternatives(object, 'preferredNodes', pod.preferredNodes, checked);
  if (pod.volumeAttachments !== undefined) amounts(object, 'volumeAttachments', pod.volumeAttachments);
  for (const { term, weight } of pod.preferredNodeAffinity ?? NONE) {
    if (!Number.isFinite(weight)) fail(object, 'preferredNodeAffinity', `has the weight ${weight}`);
    requirements(object, 'preferredNodeAffinity', term);
  }
  for (const spread of pod.topologySpread ?? NONE) {
    if (spread.topologyKey === '') fail(object, 'topologySpread.topologyKey', 'is empty');
    count(object, 'topologySpread.maxSkew', spread.maxSkew, 1);
    if (spread.minDomains !== undefined) count(object, 'topologySpread.minDomains', spread.minDomains, 1);
    selector(object, 'topologySpread.selector', spread.selector);
  }
  for (const term of pod.podAffinity ?? NONE) affinityTerm(object, 'podAffinity', term);
  for (const term of pod.podAntiAffinity ?? NONE) affinityTerm(object, 'podAntiAffinity', term);
  for (const { term } of pod.preferredPodAffinity ?? NONE) affinityTerm(object, 'preferredPodAffinity', term);
  for (const { term } of pod.preferredPodAntiAffinity ?? NONE) affinityTerm(object, 'preferredPodAntiAffinity', term);
  for (const { port } of pod.hostPorts ?? NONE) count(object, 'hostPorts', port, 1);
}

function validatePool(pool: Pool): void {
  const object = `pool ${pool.name}`;
  requirements(object, 'requirements', pool.requirements ?? []);
  for (const { minValues } of pool.requirements ?? []) {
    if (minValues !== undefined) count(object, 'requirements.minValues', minValues, 1);
  }
  if (pool.labels !== undefined) labels(object, 'labels', pool.labels);
  if (pool.limits !== undefined) amounts(object, 'limits', pool.limits);
  if (pool.usage !== undefined) amounts(object, 'usage', pool.usage);
  if (pool.weight !== undefined && !Number.isFinite(pool.weight)) fail(object, 'weight', `is ${pool.weight}`);
}

function validateType(type: InstanceType): void {
  const object = `instance type ${type.name}`;
  amounts(object, 'capacity', type.capacity);
  if (type.overhead !== undefined) amounts(object, 'overhead', type.overhead);
  if (type.labels !== undefined) labels(object, 'labels', type.labels);
  requirements(object, 'requirements', type.requirements ?? NONE);
  for (let index = 0; index < type.offerings.length; index++) {
    const { price, slots } = type.offerings[index] as Offering;
    if (!(price >= 0 && Number.isFinite(price))) fail(object, `offerings[${index}].price`, `is ${price}`);
    if (slots !== undefined) count(object, `offerings[${index}].slots`, slots, 0);
  }
}

function alternatives(
  object: string,
  field: string,
  lists: Alternatives | undefined,
  checked: Set<Alternatives>,
): void {
  if (lists === undefined || checked.has(lists)) return;
  checked.add(lists);
  for (const list of lists) requirements(object, field, list);
}

function requirements(object: string, field: string, list: readonly Requirement[]): void {
  for (const { key, operator, values } of list) {
    const where = `${field}[${key}]`;
    if (!OPERATORS.has(operator)) fail(object, where, `has the operator ${operator}, which does not exist`);
    if (values.length > MAX_VALUES)
      fail(object, where, `has ${values.length} values, at most ${MAX_VALUES} are allowed`);
    if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
      fail(object, where, `has no values for ${operator}`);
    if (operator.startsWith('G') || operator.startsWith('L')) {
      if (values.length !== 1 || !INTEGER.test(values[0] as string)) {
        fail(
          object,
          where,
          `must have one integer for ${operator}, but has ${values.slice(0, 3).join(', ') || 'nothing'}`,
        );
      }
    }
  }
}

function affinityTerm(object: string, field: string, term: PodAffinityTerm): void {
  if (term.topologyKey === '') fail(object, `${field}.topologyKey`, 'is empty');
  selector(object, `${field}.selector`, term.selector);
  selector(object, `${field}.namespaceSelector`, term.namespaceSelector);
}

function selector(object: string, field: string, given: PodAffinityTerm['selector']): void {
  for (const { key, operator, values = NONE } of given?.matchExpressions ?? NONE) {
    if (!SELECTOR_OPERATORS.has(operator))
      fail(object, `${field}[${key}]`, `has the operator ${operator}, which does not exist`);
    if (values.length > MAX_VALUES)
      fail(object, `${field}[${key}]`, `has ${values.length} values, at most ${MAX_VALUES} are allowed`);
  }
}

function labels(object: string, field: string, given: Labels): void {
  let size = 0;
  for (const _ in given) size++;
  if (size > MAX_VALUES) fail(object, field, `has ${size} entries, at most ${MAX_VALUES} are allowed`);
}

function amounts(object: string, field: string, given: Readonly<Record<string, number>>): void {
  for (const name in given) {
    const amount = given[name] as number;
    if (!(amount >= 0 && amount <= Number.MAX_SAFE_INTEGER)) {
      fail(object, `${field}.${name}`, `is ${amount}, but must be a number from 0 to 2^53`);
    }
  }
}

function count(object: string, field: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    fail(object, field, `is ${value}, but must be an integer from ${least} on`);
}

function unique(kind: string, objects: readonly { readonly name: string }[]): void {
  const seen = new Set<string>();
  for (const { name } of objects) {
    if (name === '') fail(kind, 'name', 'is empty');
    if (seen.has(name)) fail(`${kind} ${name}`, 'name', 'is used twice');
    seen.add(name);
  }
}

function fail(object: string, field: string, problem: string): never {
  throw new SpindriftError('PROBLEM_INVALID', { object, field, problem });
}
