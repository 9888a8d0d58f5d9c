/**
 * The cluster as the scheduler sees it: nodes, their usage, and counts of pods, all updated incrementally. It has no
 * client and no clock; the same updates give the same snapshot.
 */

import type { Labels } from '../../apis/kubernetes/label-requirement.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { resourceAmounts } from '../../apis/kubernetes/pod-requests.ts';
import { type NodeEntry, type PlacedPod, take } from './node-entry.ts';
import { makePodClass, type PodClass, podClassKey } from './pod-class.ts';
import { PodCounter } from './pod-counter.ts';
import { type PodTerm, termMatches } from './pod-terms.ts';
import { ResourceColumns } from './resource-columns.ts';
import { TopologyDomains } from './topology-domains.ts';
import { VolumeIndex } from './volume-index.ts';

/** Above this number of classes, unused ones are dropped. */
const MOST_CLASSES = 4096;
/** Above this number, all counters are dropped and rebuilt on demand. Each one is updated for every placed pod. */
const MOST_COUNTERS = 1024;

export class ClusterSnapshot {
  readonly columns = new ResourceColumns();
  readonly volumes = new VolumeIndex();
  readonly #entries = new Map<string, NodeEntry>();
  readonly #nodes: NodeEntry[] = [];
  readonly #placed = new Map<string, PlacedPod>();
  readonly #classes = new Map<string, PodClass>();
  readonly #counters = new Map<string, PodCounter<PlacedPod>>();
  readonly #ownerCounters = new Map<string, PodCounter<PlacedPod>>();
  readonly #antiTerms = new Map<string, { readonly term: PodTerm; readonly counter: PodCounter<PlacedPod> }>();
  readonly #domains = new Map<string, TopologyDomains>();
  readonly #namespaces = new Map<string, Labels>();
  readonly #freeSlots: number[] = [];
  #slots = 0;
  #generation = 0;
  #version = 0;
  #relief = 0;

  /** Changes with every update. */
  get version(): number {
    return this.#version + this.volumes.version;
  }

  /** Changes only with updates that may help a pod: of nodes, namespaces or volumes, or a removed pod. */
  get relief(): number {
    return this.#relief + this.volumes.version;
  }

  /** The existing nodes. */
  get nodes(): readonly NodeEntry[] {
    return this.#nodes;
  }

  get placedCount(): number {
    return this.#placed.size;
  }

  entry(name: string): NodeEntry | undefined {
    const entry = this.#entries.get(name);
    return entry?.node === undefined ? undefined : entry;
  }

  placed(podKey: string): PlacedPod | undefined {
    return this.#placed.get(podKey);
  }

  setNode(node: Node): void {
    const name = node.metadata.name ?? '';
    const entry = this.#entryFor(name);
    if (entry.node === undefined) this.#nodes.push(entry);
    entry.node = node;
    entry.generation = ++this.#generation;
    const amounts = resourceAmounts(node.status?.allocatable ?? node.status?.capacity);
    entry.allocatable = [];
    for (const [resource, amount] of Object.entries(amounts)) {
      entry.allocatable[this.columns.column(resource)] = Number(amount);
    }
    entry.maxPods = Number(amounts.pods ?? 0n);
    this.#version++;
    this.#relief++;
  }

  removeNode(name: string): void {
    const entry = this.#entries.get(name);
    if (entry?.node === undefined) return;
    entry.node = undefined;
    this.#nodes.splice(this.#nodes.indexOf(entry), 1);
    this.#version++;
    this.#relief++;
    this.#dropIfUnused(entry);
  }

  setNamespace(name: string, labels: Labels): void {
    this.#namespaces.set(name, labels);
    this.#forgetCounts();
  }

  removeNamespace(name: string): void {
    this.#namespaces.delete(name);
    this.#forgetCounts();
  }

  namespaceLabels(name: string): Labels | undefined {
    return this.#namespaces.get(name);
  }

  /** Places a pod on a node, and removes it from its previous one. */
  place(pod: Pod, nodeName: string): void {
    const key = keyText(keyOf(pod));
    const before = this.#placed.get(key);
    if (before !== undefined) {
      if (before.entry.name === nodeName && countsTheSame(before.pod, pod)) return;
      this.#remove(key, before);
    }
    const placed: PlacedPod = { pod, podClass: this.classOf(pod), entry: this.#entryFor(nodeName) };
    this.#placed.set(key, placed);
    placed.entry.pods.set(key, placed);
    take(placed.entry, placed.podClass, 1);
    this.#count(placed, 1);
    this.#version++;
  }

  removePod(key: string): void {
    const placed = this.#placed.get(key);
    if (placed === undefined) return;
    this.#remove(key, placed);
    this.#relief++;
    this.#dropIfUnused(placed.entry);
  }

  classOf(pod: Pod): PodClass {
    const key = podClassKey(pod);
    let podClass = this.#classes.get(key);
    if (podClass === undefined) {
      if (this.#classes.size >= MOST_CLASSES) this.#dropUnusedClasses();
      podClass = makePodClass(pod, this.columns);
      this.#classes.set(key, podClass);
    }
    return podClass;
  }

  domains(topologyKey: string): TopologyDomains {
    let domains = this.#domains.get(topologyKey);
    if (domains === undefined) {
      domains = new TopologyDomains(topologyKey);
      this.#domains.set(topologyKey, domains);
    }
    return domains;
  }

  /** Counts the placed pods that match all terms; terminating pods only if asked for. */
  counter(terms: readonly PodTerm[], options: { readonly terminating: boolean }): PodCounter<PlacedPod> {
    const key = `${options.terminating ? 'all' : 'staying'} ${terms.map((term) => term.key).join(' ')}`;
    return this.#counter(key, ({ pod }) => {
      if (!options.terminating && pod.metadata.deletionTimestamp !== undefined) return false;
      return terms.every((term) => this.#meant(term, pod));
    });
  }

  /** Counts the placed pods of a controller; undefined if it has none. */
  ownerCounter(uid: string): PodCounter<PlacedPod> | undefined {
    return this.#ownerCounters.get(uid);
  }

  /** The anti-affinity terms of placed pods, with counters of these pods. */
  antiTerms(): Iterable<{ readonly term: PodTerm; readonly counter: PodCounter<PlacedPod> }> {
    return this.#antiTerms.values();
  }

  #meant(term: PodTerm, pod: Pod): boolean {
    const namespace = pod.metadata.namespace ?? '';
    return termMatches(term, namespace, pod.metadata.labels, this.#namespaces.get(namespace));
  }

  #counter(key: string, counts: (placed: PlacedPod) => boolean): PodCounter<PlacedPod> {
    let counter = this.#counters.get(key);
    if (counter === undefined) {
      if (this.#counters.size >= MOST_COUNTERS) this.#counters.clear();
      counter = new PodCounter(counts);
      for (const placed of this.#placed.values()) counter.note(placed, placed.entry.slot, 1);
      this.#counters.set(key, counter);
    }
    return counter;
  }

  #count(placed: PlacedPod, sign: 1 | -1): void {
    const { slot } = placed.entry;
    for (const counter of this.#counters.values()) counter.note(placed, slot, sign);
    const { ownerUid, antiAffinity } = placed.podClass;
    if (ownerUid !== undefined) {
      const counter = this.#ownerCounters.get(ownerUid) ?? new PodCounter<PlacedPod>(() => true);
      counter.note(placed, slot, sign);
      if (counter.total === 0) this.#ownerCounters.delete(ownerUid);
      else this.#ownerCounters.set(ownerUid, counter);
    }
    for (const term of antiAffinity) {
      const anti = this.#antiTerms.get(term.key) ?? { term, counter: new PodCounter<PlacedPod>(() => true) };
      anti.counter.note(placed, slot, sign);
      if (anti.counter.total === 0) this.#antiTerms.delete(term.key);
      else this.#antiTerms.set(term.key, anti);
    }
  }

  #remove(key: string, placed: PlacedPod): void {
    this.#placed.delete(key);
    placed.entry.pods.delete(key);
    take(placed.entry, placed.podClass, -1);
    this.#count(placed, -1);
    this.#version++;
  }

  #entryFor(name: string): NodeEntry {
    let entry = this.#entries.get(name);
    if (entry === undefined) {
      entry = {
        name,
        slot: this.#freeSlots.pop() ?? this.#slots++,
        node: undefined,
        generation: ++this.#generation,
        allocatable: [],
        requested: [],
        assumedCpu: 0,
        assumedMemory: 0,
        maxPods: 0,
        hostPorts: new Map(),
        pods: new Map(),
      };
      this.#entries.set(name, entry);
    }
    return entry;
  }

  #dropIfUnused(entry: NodeEntry): void {
    if (entry.node !== undefined || entry.pods.size > 0) return;
    this.#entries.delete(entry.name);
    this.#freeSlots.push(entry.slot);
  }

  /** Some counters depend on namespaces. */
  #forgetCounts(): void {
    this.#counters.clear();
    this.#version++;
    this.#relief++;
  }

  /** Counters belong to classes, so they are dropped too, and rebuilt on demand. */
  #dropUnusedClasses(): void {
    const used = new Set([...this.#placed.values()].map((placed) => placed.podClass));
    for (const [key, podClass] of this.#classes) if (!used.has(podClass)) this.#classes.delete(key);
    this.#counters.clear();
  }
}

/** Whether a placed pod changed only in ways that are not counted, such as its status. */
function countsTheSame(a: Pod, b: Pod): boolean {
  if (a === b) return true;
  const { metadata: old } = a;
  const { metadata: fresh } = b;
  if (old.uid !== fresh.uid || old.generation === undefined) return false;
  // The generation rises with each change of the spec. A binding is such a change, but affects nothing that is counted.
  const binding = !a.spec.nodeName && b.spec.nodeName ? 1 : 0;
  const sameSpec = old.generation + binding === fresh.generation;
  return (
    sameSpec && old.deletionTimestamp === fresh.deletionTimestamp && sameLabels(old.labels ?? {}, fresh.labels ?? {})
  );
}

function sameLabels(a: Labels, b: Labels): boolean {
  const keys = Object.keys(a);
  return a === b || (keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]));
}
