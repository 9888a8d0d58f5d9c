/** The simulated cloud, put together with what it needs of a cluster. */
import { SIMULATED_NODE_CLASSES, type SimulatedNodeClass } from '../apis/spindrift/simulated-node-class.ts';
import type { CloudProvider } from '../cloud/provider.ts';
import { Reservations } from '../cloud/reservations.ts';
import { Machines } from '../cloud/simulated/machines.ts';
import { NodeClassAccounts } from '../cloud/simulated/node-class-accounts.ts';
import { NodeClassController } from '../cloud/simulated/node-class-controller.ts';
import { SimulatedCloud } from '../cloud/simulated/simulated-cloud.ts';
import { SimulatedProvider } from '../cloud/simulated/simulated-provider.ts';
import type { UnavailableOfferings } from '../cloud/unavailable-offerings.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Informer } from '../kube/informer.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';
import type { ClusterInformers } from '../state/cluster-informers.ts';

export interface SimulatedCloudPartsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly informers: ClusterInformers;
  /** The name of the cluster, which its machines carry. */
  readonly cluster: string;
  readonly unavailable: UnavailableOfferings;
  /** Called when the machine of a node has lost its power. */
  readonly powerOff?: (nodeName: string) => void;
}

/** Parts run until their signal aborts. */
export interface CloudParts {
  readonly provider: CloudProvider;
  readonly parts: readonly { run(signal: AbortSignal): Promise<void> }[];
}

export function simulatedCloud(options: SimulatedCloudPartsOptions): CloudParts {
  const { client, clock, random, logger, informers, cluster, unavailable, powerOff } = options;
  const cloud = new SimulatedCloud({ clock, random });
  const accounts = new NodeClassAccounts({ cloud });
  const provider = new SimulatedProvider({
    clock,
    cloud,
    cluster,
    unavailable,
    reservations: new Reservations({ clock }),
    readiness: (name) => accounts.readiness(name),
  });
  const key = `${SIMULATED_NODE_CLASSES.group}/${SIMULATED_NODE_CLASSES.kind}`;
  const nodeClasses = informers.nodeClasses.get(key) as unknown as Informer<SimulatedNodeClass>;
  const machines = new Machines({
    client,
    clock,
    cloud,
    nodes: informers.nodes,
    claims: informers.nodeClaims,
    cluster,
    logger,
    ...(powerOff && { powerOff }),
  });
  return {
    provider,
    parts: [machines, new NodeClassController({ client, clock, cloud, accounts, nodeClasses, logger })],
  };
}
