import type { SimulatedNodeClass } from '../../apis/spindrift/simulated-node-class.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Cloud } from '../cloud.ts';
import type { CloudWorld } from '../cloud-module.ts';
import { PartSweeper } from './dialects/part-sweeper.ts';
import { Machines } from './machines.ts';
import type { SimulatedCloudSettings } from './module.ts';
import { NodeClassAccounts } from './node-class-accounts.ts';
import { NodeClassController } from './node-class-controller.ts';
import { SimulatedCloud } from './simulated-cloud.ts';
import { SimulatedDriver } from './simulated-driver.ts';

/** Assembles the simulated cloud for a cluster. */
export function openSimulatedCloud(world: CloudWorld, settings: SimulatedCloudSettings): Cloud {
  const { powerOff, cloud: given, longestSicknessMs } = settings;
  const { client, clock, random, logger, cluster, informers } = world;
  const cloud = given?.(world) ?? new SimulatedCloud({ clock, random });
  const accounts = new NodeClassAccounts({ cloud });
  const nodeClasses = informers.nodeClasses as unknown as Informer<SimulatedNodeClass>;
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
  return new SimulatedDriver({
    clock,
    cloud,
    cluster,
    ...(longestSicknessMs !== undefined && { longestSicknessMs }),
    ensureAccount: (nodeClass) => void accounts.apply(nodeClass),
    controllers: [
      machines,
      new NodeClassController({ client, clock, cloud, accounts, nodeClasses, logger }),
      new PartSweeper({ cloud, clock, logger }),
    ],
  });
}
