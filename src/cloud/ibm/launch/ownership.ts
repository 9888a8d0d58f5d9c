/**
 * Finds the claim that a machine was launched for. The machine's name has the claim's UID; the rest is known from the launch, from the
 * claim while it exists, or from the tags of the boot volume, which are set at creation.
 */
import { LABEL_NODE_POOL } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { VpcClient } from '../api/vpc-client.ts';
import type { VpcInstance } from '../api/vpc-types.ts';
import { bootVolumeName, machineName, machinePrefix } from './machine-name.ts';

export interface Owner {
  readonly uid: string;
  readonly claim: string;
  readonly pool: string;
  readonly nodeClass: string;
}

export interface OwnershipOptions {
  readonly cluster: string;
  readonly claims: () => readonly NodeClaim[];
}

const TAGS = {
  uid: 'karpenter.sh/nodeclaim-uid',
  claim: 'karpenter.sh/nodeclaim',
  pool: 'karpenter.sh/nodepool',
  nodeClass: 'karpenter-ibm.sh/ibmnodeclass',
} as const;
const TAG_CLUSTER = 'karpenter.sh/cluster';
const MOST_REMEMBERED = 20_000;
const ASK_ONE_BY_ONE = 10;

export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #prefix: string;
  /** By the name of the machine. */
  readonly #known = new Map<string, Owner>();

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#prefix = machinePrefix(options.cluster);
  }

  /** Whether a machine belongs to this cluster. */
  isOurs({ name }: { readonly name: string }): boolean {
    return name.startsWith(this.#prefix);
  }

  nameOf(claimUID: string): string {
    return machineName(this.#options.cluster, claimUID);
  }

  /** Remembers the owner of a machine that is about to be launched. */
  remember(claim: NodeClaim): Owner {
    const { uid = '', name = '', labels = {} } = claim.metadata;
    const owner = { uid, claim: name, pool: labels[LABEL_NODE_POOL] ?? '', nodeClass: claim.spec.nodeClassRef.name };
    this.#put(this.nameOf(uid), owner);
    return owner;
  }

  /** The tags that identify an owner: on the boot volume, and on the machine in Global Tagging. */
  tagsOf(owner: Owner): readonly string[] {
    const own = Object.entries(TAGS).map(([field, tag]) => `${tag}:${owner[field as keyof Owner]}`);
    return [`${TAG_CLUSTER}:${this.#options.cluster}`, ...own].map((tag) => tag.slice(0, 128));
  }

  /** The owners of machines, by machine name. Unknown ones are looked up in the cloud. */
  async ownersOf(
    instances: readonly VpcInstance[],
    vpc: VpcClient,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Owner>> {
    if (instances.some(({ name }) => !this.#known.has(name)))
      for (const claim of this.#options.claims()) this.remember(claim);
    const unknown = instances.filter(({ name }) => !this.#known.has(name));
    // For many machines, listing all volumes is cheaper than one query each.
    const volumes = unknown.length > ASK_ONE_BY_ONE ? await vpc.volumesNamed(undefined, signal) : undefined;
    const byName = new Map(volumes?.map((volume) => [volume.name, volume]));
    for (const { name } of unknown) {
      const part = bootVolumeName(name);
      const volume = volumes === undefined ? (await vpc.volumesNamed(part, signal))[0] : byName.get(part);
      this.#put(name, readTags(volume?.user_tags ?? [], name.slice(this.#prefix.length)));
    }
    return new Map(instances.flatMap(({ name }) => [[name, this.#known.get(name) as Owner] as const]));
  }

  /** The claim of one of our machines, while it exists. */
  claimOf(name: string): NodeClaim | undefined {
    return this.#options.claims().find(({ metadata }) => this.nameOf(metadata.uid ?? '') === name);
  }

  #put(name: string, owner: Owner): void {
    this.#known.delete(name);
    this.#known.set(name, owner);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** Reads the owner from tags. The UID is also in the name, if it is a UUID. */
function readTags(tags: readonly string[], digits: string): Owner {
  const read = (tag: string): string | undefined =>
    tags.find((one) => one.startsWith(`${tag}:`))?.slice(tag.length + 1);
  const uuid = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return {
    uid: read(TAGS.uid) ?? uuid,
    claim: read(TAGS.claim) ?? '',
    pool: read(TAGS.pool) ?? '',
    nodeClass: read(TAGS.nodeClass) ?? '',
  };
}
