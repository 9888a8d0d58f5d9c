/** One autoscaler that runs a load on the AWS ground, on a cluster of its own. */
import { DEPLOYMENTS } from '../../src/apis/kubernetes/workloads.ts';
import type { Machine, SoldType } from '../../test/aws/aws-ground-types.ts';
import type { Autoscaler } from '../../test/aws/kubernetes/autoscaler.ts';
import { AwsCluster } from '../../test/aws/kubernetes/aws-cluster.ts';
import { KarpenterProcess } from '../../test/aws/kubernetes/karpenter-process.ts';
import { nodeClass, nodePool } from '../../test/aws/kubernetes/objects.ts';
import { SpindriftProcess } from '../../test/aws/kubernetes/spindrift-process.ts';
import { untilSo } from '../../test/kubernetes/harness/until-so.ts';
import { ClusterView } from '../end-to-end/cluster-view.ts';
import { deployments, type Load } from '../end-to-end/load.ts';
import { usageOf } from '../end-to-end/process-usage.ts';
import { awsBound } from './aws-bound.ts';

const READY_LIMIT_MS = 180_000;
const RUNNING_LIMIT_MS = 900_000;

export interface AwsOutcome {
  readonly autoscaler: string;
  readonly pods: number;
  /** From its start until the node class is ready: catalogue, prices, images and dry runs. */
  readonly readySeconds: number;
  /** From the first pod until the last runs. */
  readonly seconds: number;
  readonly nodes: number;
  readonly usdPerHour: number;
  readonly lowerBound: number;
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
  /** While the load came. */
  readonly fleetCalls: number;
  readonly awsCalls: number;
  /** From its start until ready. */
  readonly startCalls: number;
}

/** Measures once; nothing is left running. */
export async function measureAws(name: Autoscaler['name'], load: Load): Promise<AwsOutcome> {
  const cluster = new AwsCluster('bench');
  const autoscaler = name === 'karpenter' ? new KarpenterProcess(cluster) : new SpindriftProcess(cluster);
  let passed = false;
  try {
    await cluster.start();
    const outcome = await take(cluster, autoscaler, load);
    passed = true;
    return outcome;
  } finally {
    await autoscaler.stop();
    await cluster.stop(passed);
  }
}

async function take(cluster: AwsCluster, autoscaler: Autoscaler, load: Load): Promise<AwsOutcome> {
  const { clock, ground, client, kubectl } = cluster;
  const types = await ground.types(cluster.account.zones);
  const requirements = [
    { key: 'karpenter.k8s.aws/instance-category', operator: 'In', values: ['c', 'm', 'r'] },
    { key: 'karpenter.k8s.aws/instance-generation', operator: 'Gt', values: ['2'] },
  ];
  await kubectl.apply(nodeClass(cluster.name));
  await ground.calls({ reset: true });
  const startedAt = clock.elapsed();
  await autoscaler.start();
  await kubectl.apply(nodePool({ name: 'default', capacityTypes: ['spot', 'on-demand'], requirements }));
  await untilSo({ clock, withinMs: READY_LIMIT_MS, missing: () => notReady(cluster, autoscaler) });
  const readySeconds = (clock.elapsed() - startedAt) / 1000;
  const startCalls = total((await ground.calls({ reset: true })).calls);

  const pid = autoscaler.pid ?? 0;
  const before = usageOf(pid);
  const view = new ClusterView(client, []);
  const loadedAt = clock.elapsed();
  await Promise.all(deployments(load.pods).map((deployment) => client.create(DEPLOYMENTS, deployment)));
  const limit = clock.deadline(RUNNING_LIMIT_MS);
  await view.untilRun(load.pods, limit.signal);
  limit.cancel();
  const seconds = (clock.elapsed() - loadedAt) / 1000;
  const after = usageOf(pid);
  const { calls, dryRuns } = await ground.calls();
  const machines = await ground.instances();
  const overfull = await view.overfull();
  if (overfull.length > 0) throw new Error(`these nodes have more pods than they can hold: ${overfull.join(', ')}`);
  return {
    autoscaler: autoscaler.name,
    pods: load.pods,
    readySeconds,
    seconds,
    nodes: machines.length,
    usdPerHour: machines.reduce((sum, machine) => sum + priceOf(machine, types), 0),
    lowerBound: awsBound(load, types),
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    peakRssMb: after.peakRssMb,
    fleetCalls: (calls['ec2:CreateFleet'] ?? 0) - (dryRuns['ec2:CreateFleet'] ?? 0),
    awsCalls: total(calls),
    startCalls,
  };
}

async function notReady(cluster: AwsCluster, autoscaler: Autoscaler): Promise<string | undefined> {
  if (autoscaler.failure !== undefined) throw autoscaler.failure;
  type Conditioned = { status?: { conditions?: { type: string; status: string; message?: string }[] } };
  const { status } = await cluster.kubectl.get<Conditioned>('nodepool', 'default');
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? undefined : `the pool is not ready: ${ready?.message ?? 'nothing is said of it'}`;
}

function priceOf({ type, zone, capacityType }: Machine, types: readonly SoldType[]): number {
  const sold = types.find(({ name }) => name === type);
  const price = (capacityType === 'spot' ? sold?.spot : sold?.onDemand)?.[zone];
  if (price === undefined) throw new Error(`${type} in ${zone} is not sold as ${capacityType}`);
  return price;
}

function total(calls: Readonly<Record<string, number>>): number {
  return Object.values(calls).reduce((sum, count) => sum + count, 0);
}
