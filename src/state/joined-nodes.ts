/**
 * Joins nodes and their claims by provider ID, and updates the result as either changes: joining a whole large cluster on every read would
 * be too slow.
 */
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Node } from '../apis/kubernetes/node.ts';
import { BY_PROVIDER_ID, type ClusterInformers } from './cluster-informers.ts';
import { CLAIM_PREFIX, type StateNode } from './state-node.ts';

export class JoinedNodes {
  readonly #informers: Pick<ClusterInformers, 'nodes' | 'nodeClaims'>;
  readonly #isOurs: (claim: NodeClaim) => boolean;
  /** By name. */
  readonly #nodes = new Map<string, StateNode>();
  /** Claims without a node, by name. */
  readonly #waiting = new Map<string, StateNode>();
  /** The joined list, until something changes. */
  #all: readonly StateNode[] | undefined;

  constructor(informers: Pick<ClusterInformers, 'nodes' | 'nodeClaims'>, isOurs: (claim: NodeClaim) => boolean) {
    this.#informers = informers;
    this.#isOurs = isOurs;
    informers.nodeClaims.addHandler({
      added: (claim) => this.#claimChanged(claim),
      updated: (claim, old) => this.#claimChanged(claim, old),
      deleted: (claim) => {
        this.#waiting.delete(nameOf(claim));
        this.#join(claim.status?.providerID);
      },
    });
    informers.nodes.addHandler({
      added: (node) => this.#nodeChanged(node),
      updated: (node, old) => this.#nodeChanged(node, old),
      deleted: (node) => {
        this.#nodes.delete(nameOf(node));
        this.#join(node.spec?.providerID);
      },
    });
  }

  /** Every node, with its claim, and every claim that has no node. */
  list(): readonly StateNode[] {
    this.#all ??= [...this.#nodes.values(), ...this.#waiting.values()];
    return this.#all;
  }

  /** Adds a claim that the informer does not show yet. */
  expect(claim: NodeClaim): void {
    this.#claimChanged(claim);
  }

  #claimChanged(claim: NodeClaim, old?: NodeClaim): void {
    this.#waiting.set(nameOf(claim), this.#withoutNode(claim));
    if (old?.status?.providerID !== claim.status?.providerID) this.#join(old?.status?.providerID);
    this.#join(claim.status?.providerID);
  }

  #nodeChanged(node: Node, old?: Node): void {
    this.#nodes.set(nameOf(node), { name: nameOf(node), node });
    if (old?.spec?.providerID !== node.spec?.providerID) this.#join(old?.spec?.providerID);
    this.#join(node.spec?.providerID);
  }

  /** Joins the node and the claim with that provider ID. */
  #join(providerID: string | undefined): void {
    this.#all = undefined;
    if (!providerID) return;
    const claims = this.#informers.nodeClaims.byIndex(BY_PROVIDER_ID, providerID);
    const nodes = this.#informers.nodes.byIndex(BY_PROVIDER_ID, providerID);
    const claim = claims.at(-1);
    for (const node of nodes) {
      const name = nameOf(node);
      if (claim === undefined) this.#nodes.set(name, { name, node });
      else this.#nodes.set(name, this.#isOurs(claim) ? { name, node, claim } : { name, node, foreign: true });
    }
    for (const each of claims) {
      const name = nameOf(each);
      if (nodes.length > 0) this.#waiting.delete(name);
      else this.#waiting.set(name, this.#withoutNode(each));
    }
  }

  #withoutNode(claim: NodeClaim): StateNode {
    const name = `${CLAIM_PREFIX}${nameOf(claim)}`;
    return this.#isOurs(claim) ? { name, claim } : { name, claim, foreign: true };
  }
}

function nameOf({ metadata }: Node | NodeClaim): string {
  return metadata.name ?? '';
}
