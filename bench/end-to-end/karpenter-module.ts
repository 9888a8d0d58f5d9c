/** Karpenter with the cloud it is tried out on, from the Go module proxy: its source and its instance types. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { InstanceTypeEntry, OfferingEntry } from '../../src/cloud/simulated/instance-type-entries.ts';
import { INSTANCE_CPU } from '../../src/cloud/simulated/labels.ts';
import { readJson } from '../../src/cloud/simulated/read-instance-types.ts';
import { KARPENTER_VERSION } from '../../test/kubernetes/peers/karpenter.ts';

const MODULE = `sigs.k8s.io/karpenter@v${KARPENTER_VERSION}`;

/** What that cloud keeps of every machine for the node itself. */
const OVERHEAD = { OvCPUm: 100, OvMi: 10 } as const;

const UNITS: Readonly<Record<string, number>> = { Mi: 1, Gi: 1024, Ti: 1024 * 1024 };

/** The folder of Karpenter's source, downloaded unless it is there already. */
export function karpenterSource(): string {
  const answer = execFileSync('go', ['mod', 'download', '-json', MODULE], { encoding: 'utf8' });
  return (JSON.parse(answer) as { Dir: string }).Dir;
}

/** The instance types of that cloud, in the exchange format. */
export function karpenterTypes(source: string): InstanceTypeEntry[] {
  const types = readJson(join(source, 'kwok', 'cloudprovider', 'instance_types.json')) as readonly KwokType[];
  return types.map(({ name, architecture, operatingSystems, resources, offerings }) => ({
    Name: name,
    Arch: architecture,
    CPUm: Number(resources.cpu) * 1000,
    MemMi: mebibytes(resources.memory),
    Pods: Number(resources.pods),
    GPU: 0,
    ...OVERHEAD,
    Labels: { 'kubernetes.io/os': operatingSystems[0] ?? 'linux', [INSTANCE_CPU]: resources.cpu },
    Offerings: offerings.map(toOffering),
  }));
}

interface KwokType {
  readonly name: string;
  readonly architecture: string;
  readonly operatingSystems: readonly string[];
  readonly resources: { readonly cpu: string; readonly memory: string; readonly pods: string };
  readonly offerings: readonly KwokOffering[];
}

interface KwokOffering {
  readonly Price: number;
  readonly Requirements: readonly { readonly key: string; readonly values: readonly string[] }[];
}

function toOffering({ Price, Requirements }: KwokOffering): OfferingEntry {
  const value = (key: string): string => Requirements.find((one) => one.key === key)?.values[0] ?? '';
  const capacityType = value('karpenter.sh/capacity-type') === 'spot' ? 'spot' : 'on-demand';
  return { Zone: value('topology.kubernetes.io/zone'), CT: capacityType, Price };
}

function mebibytes(quantity: string): number {
  const [, number = '', unit = ''] = /^(\d+)(Mi|Gi|Ti)$/.exec(quantity) ?? [];
  const factor = UNITS[unit];
  if (factor === undefined) throw new Error(`${quantity} is not an amount of memory that is known here`);
  return Number(number) * factor;
}
