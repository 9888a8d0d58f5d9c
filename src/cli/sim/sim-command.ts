/** Runs `spindrift sim`: writes the wanted trouble on Nodes and SimulatedNodeClasses, where the simulated cloud reads it. */
import { NODES } from '../../apis/kubernetes/node.ts';
import { ANNOTATION_INTERRUPT } from '../../apis/spindrift/annotations.ts';
import { SIMULATED_NODE_CLASSES, type SimulatedNodeClass } from '../../apis/spindrift/simulated-node-class.ts';
import { ANNOTATION_INSTANCE } from '../../cloud/simulated/labels.ts';
import { SimulatedMarket } from '../../cloud/simulated/offline.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../platform/errors.ts';
import { hint } from '../../platform/nearest.ts';
import { type ClusterChoice, type ConnectedCluster, withCluster } from '../live-cluster.ts';
import { type OfferingPattern, parsePattern, patternText } from './offering-pattern.ts';
import { type Override, overridden, remaining, restored } from './overrides.ts';

/** The trouble to make. */
export type SimAction =
  | { readonly kind: 'interrupt'; readonly nodes: readonly string[]; readonly noticeMs: number }
  | { readonly kind: 'exhaust'; readonly offerings: readonly string[] }
  | { readonly kind: 'restore'; readonly offerings: readonly string[] }
  | { readonly kind: 'price'; readonly offerings: readonly string[]; readonly factor: number };

/** The cluster and node class to act on. */
export interface SimOptions extends ClusterChoice {
  /** The SimulatedNodeClass to change; optional while there is only one. */
  readonly nodeClass?: string | undefined;
}

/** Performs the action and returns the text to print. */
export function sim(action: SimAction, options: SimOptions): Promise<string> {
  return withCluster(options, (cluster) =>
    action.kind === 'interrupt'
      ? interrupt(cluster.client, action.nodes, action.noticeMs)
      : change(cluster, action, options.nodeClass),
  );
}

/** Annotates the nodes so that the simulated cloud interrupts their machines. */
export async function interrupt(client: KubeClient, names: readonly string[], noticeMs: number): Promise<string> {
  const nodes = (await client.list(NODES)).items;
  const lines: string[] = [];
  for (const word of names) {
    const name = word.replace(/^nodes?\//, '');
    const node = nodes.find(({ metadata }) => metadata.name === name);
    if (node === undefined) {
      const simulated = nodes.filter(({ metadata }) => metadata.annotations?.[ANNOTATION_INSTANCE] !== undefined);
      const known = simulated.map(({ metadata }) => metadata.name ?? '');
      throw new SpindriftError('OBJECT_UNKNOWN', { object: `node ${name}`, hint: hint(name, known) });
    }
    if (node.metadata.annotations?.[ANNOTATION_INSTANCE] === undefined) {
      const problem = `node ${name} is not a machine of the simulated cloud: name a node that a NodePool launched`;
      throw new SpindriftError('ARGUMENT_INVALID', { command: 'spindrift sim interrupt', problem });
    }
    const annotations = { [ANNOTATION_INTERRUPT]: noticeMs % 1000 === 0 ? `${noticeMs / 1000}s` : `${noticeMs}ms` };
    await client.patch(NODES, { name }, { type: 'merge', body: { metadata: { annotations } } });
    lines.push(`node ${name} is taken back ${noticeMs === 0 ? 'at once' : `in ${noticeMs / 1000} s`}`);
  }
  return `${lines.join('\n')}\n`;
}

async function change(
  { client, clock }: ConnectedCluster,
  action: Exclude<SimAction, { kind: 'interrupt' }>,
  wanted: string | undefined,
): Promise<string> {
  const patterns = action.offerings.map(parsePattern);
  const changed = await changeOverrides(client, wanted, (overrides, nodeClass) => {
    // A mistaken entry can still be restored.
    if (action.kind !== 'restore') checkNames(patterns, nodeClass, clock.now());
    return patterns.reduce((list, pattern) => applied(list, pattern, action), overrides);
  });
  const { name = '' } = changed.metadata;
  return `${patterns.map((pattern) => sentence(pattern, action, name, changed.spec.overrides ?? [])).join('\n')}\n`;
}

function applied(
  overrides: readonly Override[],
  pattern: OfferingPattern,
  action: Exclude<SimAction, { kind: 'interrupt' }>,
): readonly Override[] {
  switch (action.kind) {
    case 'restore':
      return restored(overrides, pattern);
    case 'exhaust':
      return overridden(overrides, pattern, { capacity: 0 });
    case 'price':
      return overridden(overrides, pattern, { priceFactor: action.factor });
  }
}

/** Reads, changes and writes; retries on a conflict. */
export async function changeOverrides(
  client: KubeClient,
  wanted: string | undefined,
  update: (overrides: readonly Override[], nodeClass: SimulatedNodeClass) => readonly Override[],
): Promise<SimulatedNodeClass> {
  for (;;) {
    const nodeClass = await findNodeClass(client, wanted);
    const { name = '', resourceVersion } = nodeClass.metadata;
    const overrides = update(nodeClass.spec.overrides ?? [], nodeClass);
    const body = { metadata: { resourceVersion }, spec: { overrides } };
    try {
      return await client.patch(SIMULATED_NODE_CLASSES, { name }, { type: 'merge', body });
    } catch (error) {
      if (!hasCode(error, 'KUBE_CONFLICT')) throw error;
    }
  }
}

/** Refuses names that match no offering, as they would silently change nothing. */
function checkNames(patterns: readonly OfferingPattern[], nodeClass: SimulatedNodeClass, now: EpochMs): void {
  const { name = '' } = nodeClass.metadata;
  const types = new SimulatedMarket({ now, nodeClasses: [nodeClass] }).instanceTypes(name);
  // The catalogue may be a file on another machine.
  if ('problem' in types) return;
  const zones = new Set(types.flatMap(({ offerings }) => offerings.map(({ zone }) => zone)));
  const check = (what: string, word: string, known: readonly string[]): void => {
    if (word === '*' || known.includes(word)) return;
    throw new SpindriftError('OBJECT_UNKNOWN', {
      object: `${what} ${word} in SimulatedNodeClass ${name}`,
      hint: hint(word, known),
    });
  };
  for (const { instanceType, zone } of patterns) {
    check(
      'instance type',
      instanceType,
      types.map((type) => type.name),
    );
    check('zone', zone, [...zones].sort());
  }
}

async function findNodeClass(client: KubeClient, wanted: string | undefined): Promise<SimulatedNodeClass> {
  const { items } = await client.list(SIMULATED_NODE_CLASSES);
  const names = items.map(({ metadata }) => metadata.name ?? '');
  const found = wanted === undefined && items.length === 1 ? items[0] : items.find((_, at) => names[at] === wanted);
  if (found !== undefined) return found;
  if (wanted !== undefined || items.length === 0) {
    const object = `SimulatedNodeClass ${wanted ?? ''}`.trim();
    throw new SpindriftError('OBJECT_UNKNOWN', { object, hint: hint(wanted ?? '', names) });
  }
  const problem = `there are several SimulatedNodeClasses (${names.join(', ')}): name one with --node-class`;
  throw new SpindriftError('ARGUMENT_INVALID', { command: 'spindrift sim', problem });
}

function sentence(
  pattern: OfferingPattern,
  action: Exclude<SimAction, { kind: 'interrupt' }>,
  nodeClass: string,
  overrides: readonly Override[],
): string {
  const what = `${patternText(pattern)} of ${nodeClass}`;
  switch (action.kind) {
    case 'exhaust':
      return `${what} has no capacity now`;
    case 'price':
      return `${what} costs ${action.factor} times its price`;
    case 'restore': {
      const still = remaining(overrides, pattern).map(patternText);
      return still.length === 0 ? `${what} is restored` : `${what}: ${still.join(', ')} still changes some of it`;
    }
  }
}
