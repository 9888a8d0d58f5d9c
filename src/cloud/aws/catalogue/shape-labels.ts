/** The labels of nodes of a shape. A label without a value is left out, so that a pool that requires it does not match. */
import {
  LABEL_ACCELERATOR_COUNT,
  LABEL_ACCELERATOR_MANUFACTURER,
  LABEL_ACCELERATOR_NAME,
  LABEL_CATEGORY,
  LABEL_CPU,
  LABEL_CPU_CLOCK,
  LABEL_CPU_MANUFACTURER,
  LABEL_EBS_BANDWIDTH,
  LABEL_ENCRYPTION_IN_TRANSIT,
  LABEL_FAMILY,
  LABEL_FLEX,
  LABEL_GENERATION,
  LABEL_GPU_COUNT,
  LABEL_GPU_MANUFACTURER,
  LABEL_GPU_MEMORY,
  LABEL_GPU_NAME,
  LABEL_HYPERVISOR,
  LABEL_LOCAL_NVME,
  LABEL_MEMORY,
  LABEL_NETWORK_BANDWIDTH,
  LABEL_SIZE,
} from '../../../apis/aws/labels.ts';
import { LABEL_ARCH, LABEL_INSTANCE_TYPE } from '../../../apis/karpenter/labels.ts';
import type { Labels } from '../../../engine/problem.ts';
import type { Accelerator, Shape } from './shape.ts';

export function shapeLabels(shape: Shape): Labels {
  const [family = shape.name, size = ''] = shape.name.split('.');
  const [, category, generation] = /^([a-z]+)(?:-[0-9]+tb)?([0-9]+).*\./.exec(shape.name) ?? [];
  return written({
    [LABEL_INSTANCE_TYPE]: shape.name,
    [LABEL_ARCH]: shape.arch,
    [LABEL_CATEGORY]: category,
    [LABEL_GENERATION]: generation,
    [LABEL_FAMILY]: family,
    [LABEL_SIZE]: size,
    [LABEL_FLEX]: family.includes('-flex'),
    [LABEL_CPU]: shape.vcpus,
    [LABEL_CPU_MANUFACTURER]: kebab(shape.cpuManufacturer),
    [LABEL_CPU_CLOCK]: shape.clockMhz,
    [LABEL_MEMORY]: shape.memoryMib,
    [LABEL_EBS_BANDWIDTH]: shape.ebsMbps,
    [LABEL_NETWORK_BANDWIDTH]: shape.networkMbps,
    [LABEL_LOCAL_NVME]: shape.localNvme === true ? shape.localGb : undefined,
    [LABEL_HYPERVISOR]: shape.hypervisor,
    [LABEL_ENCRYPTION_IN_TRANSIT]: shape.encryptionInTransit,
    ...gpuLabels(shape.gpus),
    ...acceleratorLabels(shape),
  });
}

type Written = Readonly<Record<string, string | number | boolean | undefined>>;

/** A machine with two kinds of GPU gets no GPU name. */
function gpuLabels(gpus: readonly Accelerator[] = []): Written {
  const [gpu] = gpus;
  if (gpu === undefined || gpus.length !== 1) return {};
  return {
    [LABEL_GPU_NAME]: kebab(gpu.name),
    [LABEL_GPU_MANUFACTURER]: kebab(gpu.manufacturer),
    [LABEL_GPU_COUNT]: gpu.count,
    [LABEL_GPU_MEMORY]: gpu.memoryMib,
  };
}

function acceleratorLabels({ inference = [], neurons = [] }: Shape): Written {
  const devices = neurons.length > 0 ? neurons : inference;
  const [device] = devices;
  if (device === undefined || devices.length !== 1) return {};
  return {
    [LABEL_ACCELERATOR_NAME]: kebab(device.name),
    [LABEL_ACCELERATOR_MANUFACTURER]: kebab(device.manufacturer),
    [LABEL_ACCELERATOR_COUNT]: device.count,
  };
}

function kebab(text: string | undefined): string | undefined {
  return text?.toLowerCase().replaceAll(' ', '-');
}

function written(labels: Written): Labels {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
  );
}
