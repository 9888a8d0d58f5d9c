/** What a MachineDeployment offers: type, zone, capacity type, price and capacity of its machines, or why it offers nothing. */
import type { MachineDeployment } from '../../apis/cluster-api/machine-deployment.ts';
import { ANNOTATION_MAX_SIZE, LABEL_TOPOLOGY_OWNED } from '../../apis/cluster-api/names.ts';
import { referred } from '../../apis/cluster-api/reference.ts';
import {
  LABEL_ARCH,
  LABEL_CAPACITY_TYPE,
  LABEL_INSTANCE_TYPE,
  LABEL_OS,
  LABEL_REGION,
  LABEL_ZONE,
} from '../../apis/karpenter/labels.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import { milliValue, wholeValue } from '../../apis/kubernetes/quantity.ts';
import type { Labels, Resources, Taint } from '../../engine/problem.ts';
import type { MachineShape } from '../machine-shape.ts';
import { describedCapacity } from './capacity-annotations.ts';
import { isPaused } from './census.ts';
import {
  type MachineSettings,
  machineSettings,
  type Provider,
  type RawSpec,
} from './infrastructure/machine-settings.ts';
import type { FindShape } from './known-shapes.ts';
import { ANNOTATION_PRICE } from './own-names.ts';

/** An infrastructure template as far as offerings are concerned. */
export interface InfrastructureTemplate {
  readonly spec?: { readonly template?: { readonly spec?: RawSpec } };
  readonly status?: {
    readonly capacity?: Readonly<Record<string, string | number>>;
    readonly nodeInfo?: { readonly architecture?: string; readonly operatingSystem?: string };
  };
}

/** A MachineDeployment as an offering. */
export interface DescribedDeployment {
  /** `namespace/name`. */
  readonly key: string;
  readonly provider?: Provider;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: 'spot' | 'on-demand';
  readonly price: number;
  readonly capacity: Resources;
  readonly overhead: Resources;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly replicas: number;
  readonly max?: number;
  readonly settings: MachineSettings;
  /** Why nothing is launched from it, and how to change that. */
  readonly problem?: string;
  /** What does not stop launches, and people should know. */
  readonly warnings: readonly string[];
}

/** The zone of machines whose template names none; the provider chooses one then. */
export const ANY_ZONE = 'unknown';

const MIB = 1024 * 1024;
/** A kubelet evicts below this, and it is not for pods. */
const EVICTION_MIB = 100;
/** What hypervisors and firmware keep of the memory that is advertised. */
const USABLE_MEMORY = 0.925;
const DEFAULT_PODS = 110;
/** Rates for a machine of unknown price: near the middle of all price lists. */
const GUESS = { usdPerVcpu: 0.035, usdPerGib: 0.0045, spotShare: 0.35 };
/** Labels of machines in these domains are copied to Nodes. */
const COPIED =
  /^(node-role\.kubernetes\.io\/|([a-z0-9.-]+\.)?node-restriction\.kubernetes\.io\/|([a-z0-9.-]+\.)?node\.cluster\.x-k8s\.io\/)/;

export function describeDeployment(
  deployment: MachineDeployment,
  template: InfrastructureTemplate | undefined,
  findShape: FindShape,
): DescribedDeployment {
  const { spec, metadata } = deployment;
  const reference = referred(spec?.template?.spec?.infrastructureRef);
  const settings = machineSettings(reference?.kind ?? '', template?.spec?.template?.spec ?? {});
  const described = describedCapacity(metadata.annotations);
  const said = described.labels;
  const zone = spec?.template?.spec?.failureDomain ?? said[LABEL_ZONE] ?? settings.zone ?? ANY_ZONE;
  const instanceType = settings.instanceType ?? said[LABEL_INSTANCE_TYPE] ?? `${metadata.name}`;
  const region = said[LABEL_REGION] ?? regionOf(settings.provider, zone);
  const shape = settings.provider === undefined ? undefined : findShape(settings.provider, instanceType, region);
  const capacity = capacityOf(shape, described.capacity, template);
  const isSpot = settings.spot !== undefined || said[LABEL_CAPACITY_TYPE] === 'spot';
  const max = metadata.annotations?.[ANNOTATION_MAX_SIZE];
  const arch = shape?.arch ?? template?.status?.nodeInfo?.architecture ?? 'amd64';
  const problem = problemOf(deployment, reference?.name, template, settings, capacity);
  return {
    key: keyText(keyOf(deployment)),
    ...(settings.provider !== undefined && { provider: settings.provider }),
    instanceType,
    zone,
    capacityType: isSpot ? 'spot' : 'on-demand',
    price: priceOf(metadata.annotations?.[ANNOTATION_PRICE], shape, capacity, isSpot),
    capacity,
    overhead: { memory: EVICTION_MIB * MIB },
    labels: {
      [LABEL_ARCH]: arch,
      [LABEL_OS]: template?.status?.nodeInfo?.operatingSystem ?? 'linux',
      ...(region !== undefined && { [LABEL_REGION]: region }),
      ...Object.fromEntries(Object.entries(spec?.template?.metadata?.labels ?? {}).filter(([key]) => COPIED.test(key))),
      ...without(said, [LABEL_ZONE, LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE]),
    },
    taints: [...described.taints, ...(spec?.template?.spec?.taints ?? [])].map(({ key, value, effect }) => ({
      ...{ key, effect },
      ...(value !== undefined && { value }),
    })),
    replicas: spec?.replicas ?? 0,
    ...(max !== undefined && /^\d+$/.test(max) && { max: Number(max) }),
    settings,
    ...(problem !== undefined && { problem }),
    warnings: [
      ...described.problems,
      ...settings.problems
        .filter(({ severity }) => severity === 'warning')
        .map(({ field, message }) => `${field}: ${message}`),
      ...(metadata.labels?.[LABEL_TOPOLOGY_OWNED] !== undefined
        ? ['a Cluster with a topology owns it: leave replicas unset in spec.topology.workers, else they are reset']
        : []),
    ],
  };
}

function problemOf(
  deployment: MachineDeployment,
  templateName: string | undefined,
  template: InfrastructureTemplate | undefined,
  settings: MachineSettings,
  capacity: Resources,
): string | undefined {
  if (deployment.metadata.deletionTimestamp !== undefined) return 'it is being deleted';
  if (isPaused(deployment)) return 'it is paused: remove spec.paused and the paused annotation';
  if (template === undefined) return `its infrastructure template ${templateName ?? ''} was not found`;
  const refused = settings.problems.find(({ severity }) => severity === 'refused');
  if (refused !== undefined) return `${refused.field} of its infrastructure template ${refused.message}`;
  if (capacity.cpu === undefined || capacity.memory === undefined) {
    return 'its machines are of unknown size: set the annotations capacity.cluster-autoscaler.kubernetes.io/cpu and /memory';
  }
  return undefined;
}

/** Our own tables first, then annotations, then the status of the template. */
function capacityOf(
  shape: MachineShape | undefined,
  described: Resources,
  template: InfrastructureTemplate | undefined,
): Resources {
  const found = Object.fromEntries(
    Object.entries(template?.status?.capacity ?? {}).map(([name, amount]) => [
      name,
      Number(name === 'cpu' ? milliValue(amount) : wholeValue(amount)),
    ]),
  );
  const known: Resources =
    shape === undefined
      ? {}
      : {
          cpu: shape.vcpus * 1000,
          memory: Math.floor(shape.memoryMib * USABLE_MEMORY) * MIB,
          ...(shape.accelerator && { [shape.accelerator.resource]: shape.accelerator.count }),
        };
  return { pods: DEFAULT_PODS, ...found, ...described, ...known };
}

function priceOf(
  written: string | undefined,
  shape: MachineShape | undefined,
  { cpu = 0, memory = 0 }: Resources,
  isSpot: boolean,
): number {
  if (written !== undefined && /^\d+(\.\d+)?$/.test(written)) return Number(written);
  if (shape !== undefined) return isSpot ? shape.spot : shape.onDemand;
  const onDemand = (cpu / 1000) * GUESS.usdPerVcpu + (memory / MIB / 1024) * GUESS.usdPerGib;
  return Math.round(onDemand * (isSpot ? GUESS.spotShare : 1) * 1e5) / 1e5;
}

/** The region of a zone, where its name says it: `us-east-1` of `us-east-1a` and of the local zone `us-east-1-bos-1a`. */
function regionOf(provider: Provider | undefined, zone: string): string | undefined {
  if (provider === 'aws') return /^([a-z]+(?:-[a-z]+)+-\d+)(?:-[a-z]+-\d+)?[a-z]$/.exec(zone)?.[1];
  return provider === 'gcp' ? /^([a-z]+-[a-z]+\d+)-[a-z]$/.exec(zone)?.[1] : undefined;
}

function without(labels: Labels, keys: readonly string[]): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !keys.includes(key)));
}
