/**
 * Fleets to consolidate: nodes of many types that are 40 to 70 % used, about 30 pods on each, of services with and without
 * topology rules and PodDisruptionBudgets, and a few pods that must not be disturbed.
 */
import type { Fleet, FleetDisruptionBudget, FleetNode, FleetPod } from '../../src/engine/consolidation/fleet.ts';
import type { InstanceType, PodGroup, Resources } from '../../src/engine/problem.ts';
import type { Random } from '../../src/platform/random.ts';
import { toProblem } from '../format/to-problem.ts';
import { CMR_ON_DEMAND, cloudCatalogue } from './catalogues.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOSTNAME = 'kubernetes.io/hostname';
const CAPACITY_TYPE = 'karpenter.sh/capacity-type';
const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
const MIB = 1024 * 1024;

interface Service {
  readonly group: PodGroup;
  readonly kind: 'plain' | 'apart' | 'spread';
  readonly onNode: Set<string>;
  readonly byZone: Map<string, number>;
  replicas: number;
}

/**
 * A fleet of `nodeCount` nodes in one pool. PodDisruptionBudgets mostly let half of the replicas go (`half`), so that one plan cannot
 * do all there is to do, or any number (`open`).
 */
export function consolidationFleet(nodeCount: number, random: Random, budgets: 'half' | 'open' = 'half'): Fleet {
  const { instanceTypes } = toProblem({ InstanceTypes: cloudCatalogue({ ...CMR_ON_DEMAND, maxVcpus: 32 }), Pods: [] });
  const draw = random.split(`fleet-${nodeCount}`);
  const large = instanceTypes.filter(({ capacity }) => (capacity.cpu ?? 0) >= 8000);
  const zones = [...new Set(instanceTypes.flatMap((type) => type.offerings.map(({ zone }) => zone)))];
  const services = Array.from({ length: Math.max(20, nodeCount) }, (_, index) => makeService(index, draw));
  const nodes = Array.from({ length: nodeCount }, (_, index) => makeNode(index, draw.pick(large), draw));
  const pods: FleetPod[] = [];
  for (const node of nodes) fill(node, services, zones, pods, draw);
  const { list, ofService } = disruptionBudgets(services, draw);
  return {
    nodes,
    groups: services.map(({ group }) => group),
    pods: pods.map((pod) => {
      const budget = ofService.get(pod.group);
      return {
        ...pod,
        ...(budget === undefined ? {} : { disruptionBudgets: [budget] }),
        ...(draw.next() < 0.001 ? { doNotDisrupt: true } : {}),
      };
    }),
    disruptionBudgets: budgets === 'open' ? list.map((one) => ({ ...one, allowed: pods.length })) : list,
    poolDisruption: [{ pool: 'default' }],
    pools: [{ name: 'default' }],
    instanceTypes,
  };
}

function makeService(index: number, draw: Random): Service {
  const app = `app-${index}`;
  const cpu = draw.pick([100, 100, 150, 200, 250, 300, 400, 800]);
  const chance = draw.next();
  const kind = chance < 0.7 ? 'plain' : chance < 0.85 ? 'apart' : 'spread';
  const selector = { matchLabels: { app } };
  return {
    kind,
    replicas: 0,
    onNode: new Set(),
    byZone: new Map(),
    group: {
      name: `default/${app}`,
      namespace: 'default',
      labels: { app },
      requests: { cpu, memory: Math.round(cpu * draw.between(1.5, 6)) * MIB },
      ...(kind === 'apart' ? { podAntiAffinity: [{ topologyKey: HOSTNAME, selector }] } : {}),
      ...(kind === 'spread'
        ? { topologySpread: [{ topologyKey: ZONE, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' as const, selector }] }
        : {}),
    },
  };
}

function makeNode(index: number, type: InstanceType, draw: Random): FleetNode {
  const offering = draw.pick(type.offerings);
  const allocatable: Record<string, number> = {};
  for (const resource in type.capacity) {
    allocatable[resource] = (type.capacity[resource] ?? 0) - (type.overhead?.[resource] ?? 0);
  }
  const name = `node-${index}`;
  return {
    name,
    pool: 'default',
    labels: {
      ...type.labels,
      [ZONE]: offering.zone,
      [CAPACITY_TYPE]: offering.capacityType,
      [INSTANCE_TYPE]: type.name,
      [HOSTNAME]: name,
    },
    instanceType: type.name,
    zone: offering.zone,
    capacityType: offering.capacityType,
    price: offering.price,
    allocatable,
  };
}

/** Puts pods of random services on a node until it is used as much as it should be. */
function fill(
  { name: node, zone, allocatable }: FleetNode,
  services: readonly Service[],
  zones: readonly string[],
  pods: FleetPod[],
  draw: Random,
): void {
  const share = draw.between(0.4, 0.7);
  const left: Record<string, number> = {};
  for (const resource in allocatable) left[resource] = (allocatable[resource] ?? 0) * share;
  for (let misses = 0; misses < 12; ) {
    const group = draw.below(services.length);
    const service = services[group] as Service;
    const requests: Resources = { ...service.group.requests, pods: 1 };
    const fits = Object.entries(requests).every(([resource, amount]) => amount <= (left[resource] ?? 0));
    if (!fits || !admits(service, node, zone, zones)) {
      misses++;
      continue;
    }
    for (const resource in requests) left[resource] = (left[resource] ?? 0) - (requests[resource] ?? 0);
    service.onNode.add(node);
    service.byZone.set(zone, (service.byZone.get(zone) ?? 0) + 1);
    pods.push({ name: `${service.group.name}-${service.replicas++}`, group, node });
  }
}

function admits({ kind, onNode, byZone }: Service, node: string, zone: string, zones: readonly string[]): boolean {
  if (kind === 'apart') return !onNode.has(node);
  if (kind === 'plain') return true;
  const least = Math.min(...zones.map((other) => byZone.get(other) ?? 0));
  return (byZone.get(zone) ?? 0) === least;
}

/** One service in five has a budget: half of its replicas may be away, for some a quarter, for a few none. */
function disruptionBudgets(
  services: readonly Service[],
  draw: Random,
): { list: FleetDisruptionBudget[]; ofService: Map<number, number> } {
  const list: FleetDisruptionBudget[] = [];
  const ofService = new Map<number, number>();
  services.forEach(({ group, replicas }, index) => {
    if (draw.next() >= 0.2) return;
    const chance = draw.next();
    const allowed = chance < 0.02 ? 0 : Math.ceil(replicas * (chance < 0.3 ? 0.25 : 0.5));
    ofService.set(index, list.length);
    list.push({ name: group.name, allowed });
  });
  return { list, ofService };
}
