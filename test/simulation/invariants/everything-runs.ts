/** When the faults have ended, every pod that can be placed runs, and nodes and claims are consistent. */

import { conditionOf, isTrue } from '../../../src/apis/karpenter/conditions.ts';
import { TAINT_DISRUPTED } from '../../../src/apis/karpenter/labels.ts';
import type { KubeObject } from '../../../src/apis/kubernetes/object.ts';
import { ANNOTATION_OPENING } from '../../../src/apis/spindrift/annotations.ts';
import { TAG_CLAIM_UID } from '../../../src/cloud/simulated/labels.ts';
import { parseTimestamp } from '../../../src/platform/clock.ts';
import type { InvariantMaker } from '../invariant.ts';
import { whyNoPlace } from '../why-no-place.ts';

/** Younger objects may still be in progress. */
const YOUNG_MS = 20 * 60_000;

export const everythingRuns: InvariantMaker = (facts, broken) => {
  const isYoung = ({ metadata }: KubeObject): boolean =>
    facts.now - (parseTimestamp(metadata.creationTimestamp) ?? 0) < YOUNG_MS;
  const look = (): void => {
    for (const pod of facts.pods) {
      if (pod.spec.nodeName !== undefined || pod.metadata.deletionTimestamp !== undefined || isYoung(pod)) continue;
      if (whyNoPlace(facts, pod) === undefined)
        broken(
          `pod ${pod.metadata.name} has no place since ${pod.metadata.creationTimestamp}, although a pool could make one: ${facts.said(pod.metadata.name)}`,
        );
    }
    const instances = new Set(facts.instances.map(({ providerID }) => providerID));
    const claims = facts.claims.filter((claim) => claim.metadata.deletionTimestamp === undefined && !isYoung(claim));
    for (const claim of claims) {
      const { name } = claim.metadata;
      if (!instances.has(claim.status?.providerID ?? '')) broken(`claim ${name} has no machine`);
      if (!isTrue(claim, 'Ready')) broken(`claim ${name} is not ready: ${conditionOf(claim, 'Ready')?.message}`);
    }
    const known = new Set(facts.claims.map(({ status }) => status?.providerID));
    // Some clouds name a machine only after it has run for a while: until then its claim does not either.
    const unnamed = facts.claims.filter((claim) => claim.status?.providerID === undefined && isYoung(claim));
    const waiting = new Set(unnamed.map(({ metadata }) => metadata.uid));
    for (const { providerID, tags } of facts.instances) {
      if (waiting.has(tags[TAG_CLAIM_UID])) known.add(providerID);
      if (!known.has(providerID)) broken(`machine ${providerID} has no claim`);
    }
    for (const node of facts.nodes) {
      const { name, annotations, deletionTimestamp } = node.metadata;
      if (!known.has(node.spec?.providerID)) broken(`node ${name} has no claim`);
      if (deletionTimestamp !== undefined || isYoung(node)) continue;
      if (annotations?.[ANNOTATION_OPENING] !== undefined) broken(`node ${name} was never opened`);
      const closed = node.spec?.taints?.some(({ key }) => key === TAINT_DISRUPTED.key);
      const goes = facts.claimOn(name)?.metadata;
      const wanted = Object.keys(goes?.annotations ?? {}).some(
        (key) => key.startsWith('spindrift.dev/disruption') || key.startsWith('spindrift.dev/interruption'),
      );
      if (closed && !wanted && goes?.deletionTimestamp === undefined)
        broken(`node ${name} is closed, and nobody takes it away`);
    }
  };
  return { mended: look, rested: look };
};
