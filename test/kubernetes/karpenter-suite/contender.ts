/** The autoscalers that can be put to the suite: what each needs in the cluster, and how it is started. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Kubectl } from '../harness/kubectl.ts';
import type { KarpenterBinaries } from '../peers/karpenter.ts';

export const CONTENDERS = ['spindrift', 'karpenter'] as const;
export type ContenderName = (typeof CONTENDERS)[number];

/** A program with its arguments. */
export interface Program {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Where a contender finds its cluster. */
export interface ContenderPlace {
  readonly kubeconfig: string;
  readonly metricsPort: number;
  readonly healthPort: number;
}

export interface Contender {
  readonly name: ContenderName;
  install(kubectl: Kubectl): Promise<void>;
  program(place: ContenderPlace): Program;
  /** Further options of the suite for a spec; files go into the folder. */
  suiteOptions(directory: string, spec: string): readonly string[];
}

/**
 * The specs of capacity buffers count nodes, and have Karpenter's kwok provider launch machines of two cores and 4 GiB only, by their names there. This
 * is the suite's own pool with the same restriction in words of the simulated cloud.
 */
const TWO_CORES = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'default' },
  spec: {
    disruption: {
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      consolidateAfter: 'Never',
      budgets: [{ nodes: '100%' }],
    },
    limits: { cpu: 10000, memory: '8000Gi' },
    template: {
      spec: {
        expireAfter: 'Never',
        requirements: [
          { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
          { key: 'spindrift.dev/instance-cpu', operator: 'In', values: ['2'] },
          { key: 'spindrift.dev/instance-category', operator: 'In', values: ['c'] },
        ],
        nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' },
      },
    },
  },
};

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The contender of that name. */
export function contender(name: ContenderName, karpenter: KarpenterBinaries): Contender {
  return name === 'spindrift' ? spindrift(karpenter) : asPublished(karpenter);
}

/** `spindrift run` on a simulated cloud whose machines join at once and whose prices stand still. */
function spindrift({ crds }: KarpenterBinaries): Contender {
  const own = join(ROOT, 'charts', 'spindrift-crd', 'templates');
  // The suite cleans kinds of its own up after every spec, whether it has used them or not.
  const others = crds.filter(
    (file) => !/_(nodepools|nodeclaims|nodeoverlays|capacitybuffers|kwoknodeclasses)\.yaml$/.test(file),
  );
  return {
    name: 'spindrift',
    install: (kubectl) => installAll(kubectl, [own, ...others]),
    program: ({ kubeconfig, metricsPort, healthPort }) => ({
      command: process.execPath,
      arguments: [
        join(ROOT, 'bin', 'spindrift.js'),
        'run',
        `--kubeconfig=${kubeconfig}`,
        `--metrics-port=${metricsPort}`,
        `--health-probe-port=${healthPort}`,
        '--disable-leader-election',
        // A sickness counts from the creation of the node at the earliest; the suite only says that it began long before.
        '--simulated-repair-toleration=1s',
      ],
    }),
    suiteOptions: (directory, spec) => {
      const write = (name: string, object: object): string => {
        const file = join(directory, name);
        writeFileSync(file, stringify(object));
        return file;
      };
      const nodeClass = write('node-class.yaml', {
        apiVersion: 'spindrift.dev/v1alpha1',
        kind: 'SimulatedNodeClass',
        metadata: { name: 'default' },
        spec: { registrationDelay: '0s', spotMarket: { volatility: 0 } },
      });
      const options = [`--default-nodeclass=${nodeClass}`];
      if (!spec.startsWith('CapacityBuffer')) return options;
      return [...options, `--default-nodepool=${write('node-pool.yaml', TWO_CORES)}`];
    },
  };
}

/** Karpenter with its kwok provider and the gates with which its own tests run; the suite knows its node class. */
function asPublished({ crds, controller }: KarpenterBinaries): Contender {
  return {
    name: 'karpenter',
    install: (kubectl) => installAll(kubectl, crds),
    program: ({ kubeconfig, metricsPort, healthPort }) => ({
      command: controller,
      arguments: [],
      environment: {
        KUBECONFIG: kubeconfig,
        METRICS_PORT: String(metricsPort),
        HEALTH_PROBE_PORT: String(healthPort),
        DISABLE_LEADER_ELECTION: 'true',
        FEATURE_GATES: 'NodeRepair=true,StaticCapacity=true,CapacityBuffer=true',
      },
    }),
    suiteOptions: () => [],
  };
}

async function installAll(kubectl: Kubectl, files: readonly string[]): Promise<void> {
  await kubectl.run(['apply', '--server-side', ...files.map((file) => `--filename=${file}`)]);
  await kubectl.run(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']);
}
