/** What a test sees of a fleet: instances, claims, nodes and pods, all at one moment. */
import type { Condition, KubeObject } from '../../../src/apis/kubernetes/object.ts';
import type { Pod } from '../../../src/apis/kubernetes/pod.ts';
import { notAllRun, untilSo } from '../../kubernetes/harness/until-so.ts';
import type { Machine } from '../aws-ground-types.ts';
import type { Autoscaler } from './autoscaler.ts';
import type { AwsCluster } from './aws-cluster.ts';

export interface Claim extends KubeObject {
  readonly status?: {
    readonly providerID?: string;
    readonly nodeName?: string;
    readonly conditions?: readonly Condition[];
  };
}

export interface Fleet {
  readonly machines: readonly Machine[];
  readonly claims: readonly Claim[];
  readonly nodes: readonly KubeObject[];
  readonly pods: readonly Pod[];
}

/** Everything there is now. */
export async function fleetOf(cluster: AwsCluster): Promise<Fleet> {
  const [machines, claims, nodes, pods] = await Promise.all([
    cluster.ground.instances(),
    cluster.kubectl.get<{ items: Claim[] }>('nodeclaims'),
    cluster.kubectl.get<{ items: KubeObject[] }>('nodes'),
    cluster.kubectl.get<{ items: Pod[] }>('pods', '--namespace=default'),
  ]);
  return { machines, claims: claims.items, nodes: nodes.items, pods: pods.items };
}

/** What a change of autoscalers must leave alone, for comparing two moments. */
export function lasting({ machines, claims, nodes, pods }: Fleet): object {
  const byName = (objects: readonly KubeObject[]): object =>
    Object.fromEntries(objects.map(({ metadata }) => [metadata.name, metadata.uid]).sort());
  return {
    machines: machines.map(({ id }) => id).sort(),
    claims: byName(claims),
    nodes: byName(nodes),
    pods: Object.fromEntries(pods.map(({ metadata, spec }) => [metadata.uid, spec.nodeName]).sort()),
    drifted: claims.filter((claim) => isTrue(claim, 'Drifted')).map(({ metadata }) => metadata.name),
    leaving: [...claims, ...nodes, ...pods]
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .map(({ metadata }) => metadata.name),
  };
}

export function isTrue(claim: Claim, condition: string): boolean {
  return claim.status?.conditions?.some(({ type, status }) => type === condition && status === 'True') ?? false;
}

/** Waits until so many pods of a deployment run; the error says why they do not, as far as it can be seen. */
export async function untilRunning(
  cluster: AwsCluster,
  autoscaler: Autoscaler,
  app: string,
  wanted: number,
  withinMs = 120_000,
): Promise<void> {
  await untilSo({
    clock: cluster.clock,
    withinMs,
    missing: async () => {
      if (autoscaler.failure !== undefined) throw autoscaler.failure;
      const { items } = await cluster.kubectl.get<{ items: Pod[] }>('pods', '--selector', `app=${app}`);
      const missing = notAllRun(items, wanted);
      if (missing === undefined) return undefined;
      const failures = [...cluster.room.failures].map(([id, why]) => `${id}: ${why}`);
      return failures.length === 0 ? missing : `${missing}; machines that did not join: ${failures.join('; ')}`;
    },
  });
}

/** Waits until something said of the fleet is so. */
export async function untilFleet(
  cluster: AwsCluster,
  autoscaler: Autoscaler,
  missing: (fleet: Fleet) => string | undefined,
  withinMs = 120_000,
): Promise<Fleet> {
  let fleet: Fleet | undefined;
  await untilSo({
    clock: cluster.clock,
    withinMs,
    missing: async () => {
      if (autoscaler.failure !== undefined) throw autoscaler.failure;
      fleet = await fleetOf(cluster);
      return missing(fleet);
    },
  });
  if (fleet === undefined) throw new Error('the fleet was never looked at');
  return fleet;
}
