/** Plans for manifests: the nodes they need, their price, and the pods that are unschedulable. */
import { isStaticPool } from '../../apis/karpenter/is-static-pool.ts';
import { NODE_OVERLAYS } from '../../apis/karpenter/node-overlay.ts';
import { NODE_POOLS } from '../../apis/karpenter/node-pool.ts';
import { describeProblems, nodePoolDoubts } from '../../apis/karpenter/validate-node-pool.ts';
import { NAMESPACES } from '../../apis/kubernetes/core.ts';
import { admittedSpec, LIMIT_RANGES } from '../../apis/kubernetes/limit-range.ts';
import { type KubeObject, keyOf, keyText } from '../../apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../apis/kubernetes/pod.ts';
import {
  CRON_JOBS,
  DAEMON_SETS,
  type DaemonSet,
  DEPLOYMENTS,
  JOBS,
  REPLICA_SETS,
  STATEFUL_SETS,
} from '../../apis/kubernetes/workloads.ts';
import { OPEN_MODELS, type OpenModel } from '../../apis/llmaz/open-model.ts';
import { SPOT_POLICIES, type SpotPolicy } from '../../apis/spindrift/spot-policy.ts';
import { DEFAULT_NODE_POOL } from '../../app/default-pool.ts';
import type { NodeClass } from '../../cloud/node-class-kind.ts';
import { withFlavorLimits } from '../../controllers/provisioning/with-flavor-limits.ts';
import { poolsToSpread } from '../../controllers/spot-policy/pools-to-spread.ts';
import { DEFAULT_SPOT_SETTINGS, settingsFor } from '../../controllers/spot-policy/spot-settings.ts';
import { byUse } from '../../controllers/usable-pools.ts';
import { reasonSentence } from '../../engine/explain/sentence.ts';
import type { SolveOptions } from '../../engine/problem.ts';
import type { NewNode, Solution } from '../../engine/solution.ts';
import { solve } from '../../engine/solve.ts';
import { spreadOverSpotPools } from '../../engine/spot/spread-over-spot-pools.ts';
import type { EpochMs } from '../../platform/clock.ts';
import { SpindriftError } from '../../platform/errors.ts';
import { type BuiltProblem, buildProblem } from '../../state/build-problem.ts';
import { flavorRankingOf } from '../../state/flavor-order.ts';
import { GpuNames } from '../../state/gpu-names.ts';
import { type ModelLookup, modelName } from '../../state/model-flavors.ts';
import { overlaid } from '../../state/node-overlays.ts';
import { nothingAllowed } from '../../state/nothing-allowed.ts';
import type { UsablePool } from '../../state/usable-pool.ts';
import { dollars, perMonth } from '../money.ts';
import { KnownClouds } from '../offline-clouds.ts';
import { adviceText } from '../why/advice.ts';
import { asWritten } from './as-written.ts';
import { bufferPods } from './buffer-pods.ts';
import { ImaginedCluster } from './imagined-cluster.ts';
import type { PlannedNode, PlanReport, PodsWithoutPlace } from './plan-report.ts';
import { plannedStorage } from './planned-storage.ts';
import { playgroundsAsWorkloads } from './playground-workload.ts';
import type { ReadManifests } from './read-manifests.ts';
import { staticPoolNote } from './static-pool-notes.ts';
import { oneRun, podOf, podsLike, type Workload } from './workload-pods.ts';

/** Inputs of a plan beside the manifests. */
export interface PlanOptions {
  readonly now: EpochMs;
  readonly catalogFile?: string;
  /** The region of clouds whose node classes name none. */
  readonly region?: string;
  readonly solve?: SolveOptions;
}

/** Plans for manifests; MANIFESTS_INVALID with a line for each problem when some of them are wrong. */
export async function makePlan(
  { manifests: read, problems }: ReadManifests,
  options: PlanOptions,
): Promise<PlanReport> {
  const cluster = await ImaginedCluster.create();
  const { manifests: given, madeByOthers, priorityClasses } = asWritten(read);
  const { manifests, problems: ofPlaygrounds } = playgroundsAsWorkloads(given);
  for (const name of priorityClasses) await cluster.apply({ source: '', object: aPriorityClass(name) });
  // Pods are validated against these, so that they must exist first.
  const first = manifests.filter(({ object }) => object.kind === 'PriorityClass' || object.kind === 'LimitRange');
  for (const manifest of new Set([...first, ...manifests])) await cluster.apply(manifest);
  const workloads = await workloadsOf(cluster);
  const pods = await podsOf(cluster, workloads);
  const found = [...problems, ...ofPlaygrounds, ...cluster.problems];
  if (found.length > 0) throw new SpindriftError('MANIFESTS_INVALID', { problems: found.join('\n') });
  const notes = cluster.unknownKinds.map((kind) => `kind ${kind} is unknown and was ignored`);
  if (madeByOthers > 0)
    notes.push(`ignored ${madeByOthers} objects that controllers or kubelets create from the others`);
  for (const name of priorityClasses) notes.push(`PriorityClass ${name} is not given: planned as priority 0`);
  for (const cron of await cluster.list(CRON_JOBS)) {
    const how =
      cron.spec.suspend === true ? 'without pods: it is suspended' : 'as one run at the same time as all other pods';
    notes.push(`CronJob ${keyText(keyOf(cron))} is planned ${how}`);
  }
  const { forPods: pools, withReplicas } = byUse(await usablePools(cluster, options, notes));
  const around = {
    daemonSets: await daemonSetsOf(cluster),
    namespaces: await cluster.list(NAMESPACES),
    storage: await plannedStorage(cluster, workloads, pods),
  };
  for (const usable of withReplicas) notes.push(staticPoolNote(usable, around, options.solve));
  const built = buildProblem(
    withFlavorLimits({
      ...around,
      pending: [...pods, ...(await bufferPods(cluster, notes))],
      nodes: [],
      podsOn: () => [],
      pools,
      models: {
        ...modelsOf(await cluster.list(OPEN_MODELS), pods, notes),
        ranking: flavorRankingOf(await cluster.list(SPOT_POLICIES)),
      },
    }),
  );
  const solution = solve(built.problem, options.solve);
  const newNodes = withinPolicies(solution.newNodes, built, pools, await cluster.list(SPOT_POLICIES), notes);
  return report(built, { ...solution, newNodes }, notes);
}

/** The models among the manifests. Without any, pods that name a model are planned as other pods, with a note. */
function modelsOf(models: readonly OpenModel[], pods: readonly Pod[], notes: string[]): ModelLookup {
  const byName = new Map(models.map((model) => [model.metadata.name, model]));
  const named = new Set(pods.flatMap((pod) => modelName(pod) ?? []));
  if (models.length === 0 && named.size > 0)
    notes.push(`no OpenModel is given (${[...named].sort().join(', ')}): pods are planned without their flavors`);
  return {
    presence: models.length === 0 ? 'missing' : 'read',
    model: (name) => byName.get(name),
    gpuNames: new GpuNames(),
  };
}

function aPriorityClass(name: string): KubeObject {
  const priorityClass = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value: 0 };
  return priorityClass;
}

/** Applies the SpotPolicies among the manifests to the planned nodes. */
function withinPolicies(
  planned: readonly NewNode[],
  { problem, cloudName }: BuiltProblem,
  pools: readonly UsablePool[],
  policies: readonly SpotPolicy[],
  notes: string[],
): readonly NewNode[] {
  const settings = new Map(pools.map(({ pool }) => [pool.metadata.name, settingsFor(pool, policies)]));
  const { newNodes, changes, gaps } = spreadOverSpotPools(
    planned,
    poolsToSpread({
      policies: { for: (name) => settings.get(name) ?? DEFAULT_SPOT_SETTINGS },
      pools: pools.map(({ pool }) => pool),
      nodes: [],
      instanceTypes: problem.instanceTypes,
      cloudName,
    }),
  );
  const extra = changes.reduce((sum, { from, to }) => sum + to.price - from.price, 0);
  if (changes.length > 0)
    notes.push(`SpotPolicies change the offering of ${changes.length} nodes, for ${dollars(extra)} more an hour`);
  notes.push(...gaps.map(({ sentence }) => sentence));
  return newNodes;
}

async function workloadsOf(cluster: ImaginedCluster): Promise<Workload[]> {
  return [
    ...(await cluster.list(DEPLOYMENTS)),
    ...(await cluster.list(REPLICA_SETS)),
    ...(await cluster.list(STATEFUL_SETS)),
    ...(await cluster.list(JOBS)),
    ...(await cluster.list(CRON_JOBS)).flatMap((cron) => oneRun(cron) ?? []),
  ];
}

/** DaemonSets whose templates carry the defaulted requests of their pods. */
async function daemonSetsOf(cluster: ImaginedCluster): Promise<DaemonSet[]> {
  const ranges = Map.groupBy(await cluster.list(LIMIT_RANGES), ({ metadata }) => metadata.namespace);
  return (await cluster.list(DAEMON_SETS)).map((daemonSet) => {
    const { template } = daemonSet.spec;
    const spec = admittedSpec(template.spec, ranges.get(daemonSet.metadata.namespace));
    return { ...daemonSet, spec: { ...daemonSet.spec, template: { ...template, spec } } };
  });
}

async function podsOf(cluster: ImaginedCluster, workloads: readonly Workload[]): Promise<Pod[]> {
  const written = (await cluster.list(PODS)).filter(({ spec }) => !spec.nodeName);
  const made: Pod[] = [];
  for (const workload of workloads) {
    const pod = await cluster.admitted(podOf(workload), workload);
    if (pod !== undefined) made.push(...podsLike(pod, workload));
  }
  return [...written, ...made];
}

/** The pools to plan with; missing pools and node classes are those of `spindrift up`. */
async function usablePools(cluster: ImaginedCluster, options: PlanOptions, notes: string[]): Promise<UsablePool[]> {
  const written = await cluster.list(NODE_POOLS);
  const isGiven = written.some((pool) => !isStaticPool(pool));
  const pools = isGiven ? written : [...written, DEFAULT_NODE_POOL];
  const which = written.length === 0 ? 'no NodePool' : 'no NodePool without replicas';
  if (!isGiven) notes.push(`${which} is given: planned with the default NodePool of spindrift up`);
  const clouds = await KnownClouds.load(pools.map(({ spec }) => spec.template.spec.nodeClassRef));
  const nodeClasses: NodeClass[] = [];
  for (const { nodeClass } of clouds.list()) nodeClasses.push(...(await cluster.list(nodeClass.resource)));
  for (const pool of pools) {
    const { nodeClassRef } = pool.spec.template.spec;
    const { kind, name } = nodeClassRef;
    if (nodeClasses.some((each) => each.kind === kind && each.metadata.name === name)) continue;
    const standIn = clouds.of(nodeClassRef)?.standIn?.(name);
    if (standIn === undefined) continue;
    if (written.length > 0)
      notes.push(`${kind} ${name} is not given: planned with one that allows every instance type`);
    nodeClasses.push(standIn);
  }
  const { now, catalogFile, region } = options;
  const market = clouds.market({
    now,
    nodeClasses,
    ...(catalogFile === undefined ? {} : { catalogFile }),
    ...(region === undefined ? {} : { region }),
  });
  const sold = pools.map((pool) => {
    const { nodeClassRef } = pool.spec.template.spec;
    const types = market.instanceTypes(nodeClassRef);
    if ('problem' in types) {
      const problems = `node class ${nodeClassRef.name} of NodePool ${pool.metadata.name}: ${types.problem}`;
      throw new SpindriftError('MANIFESTS_INVALID', { problems });
    }
    return { pool, types };
  });
  const { types, conflicts } = overlaid(sold, await cluster.list(NODE_OVERLAYS));
  for (const [name, other] of conflicts)
    notes.push(`NodeOverlay ${name} is ignored: it has the same weight as ${other} and matches the same offerings`);
  return pools.map((pool, index) => {
    const instanceTypes = types[index] ?? [];
    const problem = nothingAllowed(pool, instanceTypes);
    if (problem !== undefined) notes.push(`NodePool ${pool.metadata.name} launches no nodes: ${problem}`);
    for (const doubt of nodePoolDoubts(pool)) notes.push(describeProblems(pool, [doubt]));
    return { pool, instanceTypes };
  });
}

function report(built: BuiltProblem, solution: Solution, notes: readonly string[]): PlanReport {
  const named = (numbers: readonly number[]): string[] =>
    numbers.flatMap((number) => {
      const pod = built.pods[number];
      return pod === undefined ? [] : [keyText(keyOf(pod))];
    });
  const nodes = solution.newNodes.map((node): PlannedNode => {
    const [first] = node.offerings;
    return {
      pool: node.pool,
      instanceType: built.cloudName(first?.instanceType ?? ''),
      zone: first?.zone ?? '',
      capacityType: first?.capacityType ?? '',
      ...(first?.reservationId === undefined ? {} : { reservationId: first.reservationId }),
      price: node.price,
      alternatives: node.offerings.length - 1,
      requests: node.requests,
      pods: named(node.pods),
    };
  });
  // Pods that are alike are groups of their own in the problem, and share one reason.
  const byReason = Map.groupBy(solution.unplaced, ({ reason }) => reason);
  const unplaced = [...byReason].map(([reason, groups]): PodsWithoutPlace => {
    const advice = reason.nearest === undefined ? {} : { advice: adviceText(reason.nearest) };
    return { pods: groups.flatMap(({ pods }) => named(pods)), why: reasonSentence(reason), ...advice, reason };
  });
  const held = built.held.map(({ pod, problem }) => ({ pods: [keyText(keyOf(pod))], why: problem }));
  // The engine gives reserved machines a small price to rank them; they cost nothing more.
  const bought = nodes.filter(({ capacityType }) => capacityType !== 'reserved');
  const perHour = bought.reduce((sum, { price }) => sum + price, 0);
  const lowerBound = Math.min(perHour, solution.lowerBound);
  return {
    nodes,
    price: { perHour, perMonth: perMonth(perHour) },
    lowerBound,
    gap: perHour === 0 ? 0 : (perHour - lowerBound) / perHour,
    podsPlaced: nodes.reduce((sum, { pods }) => sum + pods.length, 0),
    withoutPlace: [...unplaced, ...held],
    notes,
  };
}
