/** The two that are compared: what each needs in the cluster, and how it is started. */
import { join } from 'node:path';
import type { Kubectl } from '../../test/kubernetes/harness/kubectl.ts';
import { PRODUCT_FLAGS } from '../in-its-own-process.ts';

/** Where an autoscaler finds its cluster and may put its things. */
export interface Place {
  readonly kubeconfig: string;
  readonly metricsPort: number;
  readonly healthPort: number;
  /** For files. */
  readonly directory: string;
}

/** A program with its arguments. */
export interface Program {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Autoscaler {
  readonly name: 'spindrift' | 'karpenter';
  /** Its definitions, unless it brings them itself, and the node class of the pool. */
  install(kubectl: Kubectl): Promise<void>;
  /** What the pool refers to. */
  readonly nodeClass: { readonly group: string; readonly kind: string; readonly name: string };
  /** The label of nodes that says how many CPUs they have. */
  readonly cpuLabel: string;
  program(place: Place): Program;
}

/** The pool both are given. */
export function nodePool({ nodeClass, cpuLabel }: Autoscaler, largestCpu: number | undefined): object {
  const capped = largestCpu === undefined ? [] : [{ key: cpuLabel, operator: 'Lt', values: [String(largestCpu + 1)] }];
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: {
      template: {
        spec: {
          nodeClassRef: nodeClass,
          requirements: [
            { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'on-demand'] },
            ...capped,
          ],
        },
      },
      disruption: {
        consolidationPolicy: 'WhenEmptyOrUnderutilized',
        consolidateAfter: '15s',
        budgets: [{ nodes: '100%' }],
      },
    },
  };
}

/** Karpenter as it is published, with spot-to-spot consolidation, which is off by default. */
export function karpenter(source: string, command: string): Autoscaler {
  const nodeClass = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
  const definitions = [join(source, 'pkg', 'apis', 'crds'), join(source, 'kwok', 'apis', 'crds')];
  return {
    name: 'karpenter',
    nodeClass,
    cpuLabel: 'karpenter.kwok.sh/instance-cpu',
    install: async (kubectl) => {
      for (const folder of definitions) await kubectl.run(['apply', '--server-side', `--filename=${folder}`]);
      await kubectl.run(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']);
      await kubectl.apply({
        apiVersion: `${nodeClass.group}/v1alpha1`,
        kind: nodeClass.kind,
        metadata: { name: 'default' },
      });
    },
    program: ({ kubeconfig, metricsPort, healthPort }) => ({
      command,
      arguments: [],
      environment: {
        KUBECONFIG: kubeconfig,
        METRICS_PORT: String(metricsPort),
        HEALTH_PROBE_PORT: String(healthPort),
        DISABLE_LEADER_ELECTION: 'true',
        FEATURE_GATES: 'SpotToSpotConsolidation=true',
      },
    }),
  };
}

const SPINDRIFT = join(import.meta.dirname, '..', '..', 'bin', 'spindrift.js');

/** Spindrift as `spindrift run`, on a cloud that sells the instance types of a file. */
export function spindrift(catalogFile: string, nodeOptions: readonly string[] = []): Autoscaler {
  const nodeClass = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  return {
    name: 'spindrift',
    nodeClass,
    cpuLabel: 'spindrift.dev/instance-cpu',
    install: async (kubectl) => {
      const folder = join(import.meta.dirname, '..', '..', 'charts', 'spindrift-crd', 'templates');
      await kubectl.run(['apply', '--server-side', `--filename=${folder}`]);
      await kubectl.run(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']);
      await kubectl.apply({
        apiVersion: `${nodeClass.group}/v1alpha1`,
        kind: nodeClass.kind,
        metadata: { name: 'default' },
        // A machine joins as soon as it is launched and prices stand still, as on the cloud that Karpenter has.
        spec: { catalogFile, registrationDelay: '0s', spotMarket: { volatility: 0 } },
      });
    },
    program: ({ kubeconfig, metricsPort, healthPort }) => ({
      command: process.execPath,
      arguments: [
        // As the command itself and the scripts of the package start it.
        ...PRODUCT_FLAGS,
        ...nodeOptions,
        SPINDRIFT,
        'run',
        `--kubeconfig=${kubeconfig}`,
        `--metrics-port=${metricsPort}`,
        `--health-probe-port=${healthPort}`,
        '--disable-leader-election',
      ],
    }),
  };
}
