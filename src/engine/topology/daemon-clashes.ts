/**
 * Daemons that pods must not share a node or domain with. On a new node the daemons do not run yet when pods are planned
 * for it. A plan that ignores their labels launches a node on which kube-scheduler then refuses the pods.
 */
import { HOSTNAME } from '../compile/well-known.ts';
import { HOST, type TopologyRule } from './rules.ts';

/** A daemon that pods must not share a domain with, because one has anti-affinity to the other. */
export interface DaemonClash {
  /** Its index in the problem. */
  readonly daemon: number;
  readonly topologyKey: string;
  readonly avoidedBy: 'pod' | 'daemon';
}

const NONE: readonly DaemonClash[] = [];

/** The clashes of pods with the daemons of a problem, by the rules of the pods. */
export class DaemonClashes {
  readonly #byGroup = new Map<number, number[]>();
  readonly #topologyKeys: readonly string[];

  /** `counted` are the groups that would count a pod of each daemon. */
  constructor(counted: readonly Int32Array[], topologyKeys: readonly string[]) {
    this.#topologyKeys = topologyKeys;
    for (const [daemon, groups] of counted.entries()) {
      for (const group of groups) {
        const others = this.#byGroup.get(group);
        if (others === undefined) this.#byGroup.set(group, [daemon]);
        else others.push(daemon);
      }
    }
  }

  of(rules: readonly TopologyRule[]): readonly DaemonClash[] {
    if (this.#byGroup.size === 0) return NONE;
    const clashes: DaemonClash[] = [];
    for (const { kind, group, key } of rules) {
      if (kind !== 'anti' && kind !== 'inverse') continue;
      const topologyKey = key === HOST ? HOSTNAME : (this.#topologyKeys[key] as string);
      const avoidedBy = kind === 'anti' ? 'pod' : 'daemon';
      for (const daemon of this.#byGroup.get(group) ?? []) clashes.push({ daemon, topologyKey, avoidedBy });
    }
    return clashes.length === 0 ? NONE : clashes;
  }
}
