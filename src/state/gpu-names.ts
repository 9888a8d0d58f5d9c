/**
 * Maps GPU names between clouds, so that one OpenModel works on all of them. A name of another cloud is an alternative only if every GPU it
 * may mean is also meant by the first. For example `a100` on AWS has 40 or 80 GB, and `nvidia-a100-80gb` on GCP has 80 GB: the latter is an
 * alternative for the former, but not the reverse.
 */

/** A label of a node. */
export interface NodeLabel {
  readonly key: string;
  readonly value: string;
}

/** For each label key and value: the GPUs it may mean, as chip and memory in GB. */
export type GpuTable = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** AWS's names. IBM's and those of simulated machines are similar. */
const SHORT = {
  k80: ['k80-12'],
  m60: ['m60-8'],
  t4: ['t4-16'],
  t4g: ['t4g-16'],
  v100: ['v100-16', 'v100-32'],
  a10g: ['a10g-24'],
  l4: ['l4-24'],
  l40s: ['l40s-48'],
  a100: ['a100-40', 'a100-80'],
  h100: ['h100-80'],
  h200: ['h200-141'],
} as const;

const GOOGLE = {
  'nvidia-tesla-p4': ['p4-8'],
  'nvidia-tesla-p100': ['p100-16'],
  'nvidia-tesla-t4': ['t4-16'],
  'nvidia-tesla-v100': ['v100-16'],
  'nvidia-l4': ['l4-24'],
  'nvidia-tesla-a100': ['a100-40'],
  'nvidia-a100-80gb': ['a100-80'],
  'nvidia-h100-80gb': ['h100-80'],
  'nvidia-h100-mega-80gb': ['h100-80'],
  'nvidia-h200-141gb': ['h200-141'],
} as const;

/** The built-in names. */
export const KNOWN_GPUS: GpuTable = {
  'karpenter.k8s.aws/instance-gpu-name': SHORT,
  'karpenter.k8s.gcp/instance-gpu-name': GOOGLE,
  'cloud.google.com/gke-accelerator': GOOGLE,
  'karpenter.azure.com/sku-gpu-name': {
    T4: ['t4-16'],
    V100: ['v100-16', 'v100-32'],
    A10: ['a10-24'],
    A100: ['a100-40', 'a100-80'],
    H100: ['h100-80'],
    H200: ['h200-141'],
  },
  'karpenter-ibm.sh/instance-gpu-name': SHORT,
  'spindrift.dev/instance-gpu-name': { ...SHORT, a100: ['a100-40'], 'a100-80g': ['a100-80'] },
};

export class GpuNames {
  readonly #table: GpuTable;
  readonly #answers = new Map<string, readonly NodeLabel[]>();

  constructor(table: GpuTable = KNOWN_GPUS) {
    this.#table = table;
  }

  /** The label itself, and the labels of other clouds that mean the same GPUs. */
  alternatives(key: string, value: string): readonly NodeLabel[] {
    const id = JSON.stringify([key, value]);
    const known = this.#answers.get(id);
    if (known !== undefined) return known;
    const meant = this.#table[key]?.[value] ?? [];
    const others = Object.entries(this.#table).flatMap(([other, values]) =>
      other === key
        ? []
        : Object.entries(values).flatMap(([name, gpus]) =>
            gpus.length > 0 && gpus.every((gpu) => meant.includes(gpu)) ? [{ key: other, value: name }] : [],
          ),
    );
    const answer = [{ key, value }, ...others];
    this.#answers.set(id, answer);
    return answer;
  }
}
