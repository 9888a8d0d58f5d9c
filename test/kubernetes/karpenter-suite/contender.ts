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
  /** Further options of the suite; files go into the folder. */
  suiteOptions(directory: string): readonly string[];
}

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The contender of that name. */
export function contender(name: ContenderName, karpenter: KarpenterBinaries): Contender {
  return name === 'spindrift' ? spindrift(karpenter) : asPublished(karpenter);
}

/** `spindrift run` on a simulated cloud whose machines join at once and whose prices stand still. */
function spindrift({ crds }: KarpenterBinaries): Contender {
  const own = join(ROOT, 'charts', 'spindrift-crd', 'templates');
  // The suite cleans these kinds up after every spec, whether it has used them or not.
  const others = crds.filter((file) => !/_(nodepools|nodeclaims|kwoknodeclasses)\.yaml$/.test(file));
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
    suiteOptions: (directory) => {
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
      return [`--default-nodeclass=${nodeClass}`];
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
