/** The known claims, volumes and storage classes, and their requirements for a pod's node. */
import type { NodeMatcher } from '../../apis/kubernetes/node-selector.ts';
import { compileNodeSelectorTerms } from '../../apis/kubernetes/node-selector.ts';
import { type KubeObject, keyOf, keyText } from '../../apis/kubernetes/object.ts';
import { compareQuantities, parseQuantity } from '../../apis/kubernetes/quantity.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../apis/kubernetes/volumes.ts';
import type { Refusal } from './fit-failure.ts';

/** The requirements of a pod's claims: a problem that rules out all nodes, or tests for each node. */
export type VolumeDemand =
  | { readonly problem: string }
  | {
      readonly tests: readonly { readonly matcher: NodeMatcher; readonly refusal: Refusal }[];
      readonly unbound: readonly string[];
    };

const refusal = (reason: string): Refusal => ({ reasons: [reason], resolvable: false });
const NODE_CONFLICT = refusal("node(s) didn't match PersistentVolume's node affinity");
const ZONE_CONFLICT = refusal('node(s) had no available volume zone');
const BIND_CONFLICT = refusal("node(s) didn't find available persistent volumes to bind");
const VOLUME_GONE = refusal('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)');

const NO_PROVISIONER = 'kubernetes.io/no-provisioner';
const NEVER: NodeMatcher = { matches: () => false };
const ZONE_LABELS = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
];

export class VolumeIndex {
  readonly #claims = new Map<string, PersistentVolumeClaim>();
  readonly #volumes = new Map<string, PersistentVolume>();
  readonly #storageClasses = new Map<string, StorageClass>();
  #version = 0;

  get version(): number {
    return this.#version;
  }

  setClaim(claim: PersistentVolumeClaim): void {
    this.#set(this.#claims, claim);
  }

  setVolume(volume: PersistentVolume): void {
    this.#set(this.#volumes, volume);
  }

  setStorageClass(storageClass: StorageClass): void {
    this.#set(this.#storageClasses, storageClass);
  }

  removeClaim(key: string): void {
    if (this.#claims.delete(key)) this.#version++;
  }

  removeVolume(name: string): void {
    if (this.#volumes.delete(name)) this.#version++;
  }

  removeStorageClass(name: string): void {
    if (this.#storageClasses.delete(name)) this.#version++;
  }

  /** The requirements of the pod's claims for its node. */
  demand(namespace: string, claimNames: readonly string[]): VolumeDemand {
    const tests: { matcher: NodeMatcher; refusal: Refusal }[] = [];
    const unbound: string[] = [];
    for (const name of claimNames) {
      const claim = this.#claims.get(`${namespace}/${name}`);
      if (claim === undefined) return { problem: `persistentvolumeclaim "${name}" not found` };
      if (claim.metadata.deletionTimestamp !== undefined)
        return { problem: `persistentvolumeclaim "${name}" is being deleted` };
      if (claim.spec.volumeName) {
        tests.push(...this.#boundTests(claim.spec.volumeName));
        continue;
      }
      const storageClass = this.#storageClasses.get(claim.spec.storageClassName ?? '');
      if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer') {
        return { problem: 'pod has unbound immediate PersistentVolumeClaims' };
      }
      unbound.push(name);
      tests.push({ matcher: this.#makeable(claim, storageClass), refusal: BIND_CONFLICT });
    }
    return { tests, unbound };
  }

  #set<T extends KubeObject>(map: Map<string, T>, object: T): void {
    map.set(keyText(keyOf(object)), object);
    this.#version++;
  }

  #boundTests(volumeName: string): { matcher: NodeMatcher; refusal: Refusal }[] {
    const volume = this.#volumes.get(volumeName);
    if (volume === undefined) return [{ matcher: NEVER, refusal: VOLUME_GONE }];
    const tests: { matcher: NodeMatcher; refusal: Refusal }[] = [];
    const required = volume.spec.nodeAffinity?.required;
    if (required) tests.push({ matcher: compileNodeSelectorTerms(required.nodeSelectorTerms), refusal: NODE_CONFLICT });
    for (const key of ZONE_LABELS) {
      const zones = volume.metadata.labels?.[key];
      if (zones === undefined) continue;
      const allowed = new Set(zones.split('__'));
      // A node without zone labels belongs to a cluster without zones, so it matches.
      const matcher: NodeMatcher = {
        matches: (_, labels) =>
          ZONE_LABELS.every((label) => labels?.[label] === undefined) || allowed.has(labels?.[key] ?? ''),
      };
      tests.push({ matcher, refusal: ZONE_CONFLICT });
    }
    return tests;
  }

  /** The nodes where a volume for the claim can be found or provisioned. */
  #makeable(claim: PersistentVolumeClaim, storageClass: StorageClass): NodeMatcher {
    if (storageClass.provisioner === NO_PROVISIONER) return this.#free(claim);
    const terms = storageClass.allowedTopologies ?? [];
    if (terms.length === 0) return { matches: () => true };
    return compileNodeSelectorTerms(
      terms.map((term) => ({
        matchExpressions: (term.matchLabelExpressions ?? []).map(({ key, values }) => ({
          key,
          operator: 'In',
          values,
        })),
      })),
    );
  }

  /** The nodes that can use a free, manually created volume that fits the claim. */
  #free(claim: PersistentVolumeClaim): NodeMatcher {
    const wanted = parseQuantity(claim.spec.resources?.requests?.storage ?? '0');
    const fitting = [...this.#volumes.values()].filter(
      ({ spec }) =>
        spec.claimRef === undefined &&
        spec.storageClassName === claim.spec.storageClassName &&
        compareQuantities(parseQuantity(spec.capacity?.storage ?? '0'), wanted) >= 0,
    );
    const places = fitting.map(({ spec }) => spec.nodeAffinity?.required?.nodeSelectorTerms);
    const matchers = places.map((terms) =>
      terms === undefined ? { matches: () => true } : compileNodeSelectorTerms(terms),
    );
    return { matches: (name, labels) => matchers.some((matcher) => matcher.matches(name, labels)) };
  }
}
