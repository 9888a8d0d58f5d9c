/** What an API server makes of an EC2NodeClass: accepted with these defaults, or refused because of these fields. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type KubeObject, resource } from '../../../src/apis/kubernetes/object.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { KubeError } from '../../../src/kube/kube-error.ts';
import { TRIED_SPECS, type TriedSpec } from './manifests.ts';

const KIND = resource<KubeObject & { spec: object }>(
  'karpenter.k8s.aws/v1',
  'EC2NodeClass',
  'ec2nodeclasses',
  'cluster',
);

export interface Verdict extends TriedSpec {
  readonly accepted: boolean;
  /** The fields that a refusal names, sorted. */
  readonly fields?: readonly string[];
  /** Fields of the spec that the server's defaults changed or added. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

export interface Verdicts {
  /** Whose CustomResourceDefinition it was. */
  readonly karpenter: string;
  readonly verdicts: readonly Verdict[];
}

export const VERDICTS_FILE = join(import.meta.dirname, '..', 'ec2-node-class-verdicts.json');

/** The verdicts of Karpenter's own definition. */
export function karpenterVerdicts(): Verdicts {
  return JSON.parse(readFileSync(VERDICTS_FILE, 'utf8')) as Verdicts;
}

/** Tries every spec on a server that serves EC2NodeClasses; nothing is kept. */
export async function tryAll(client: KubeClient, specs: readonly TriedSpec[] = TRIED_SPECS): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const { what, spec } of specs) verdicts.push(await tryOne(client, what, spec));
  return verdicts;
}

async function tryOne(client: KubeClient, what: string, spec: TriedSpec['spec']): Promise<Verdict> {
  const object = { apiVersion: 'karpenter.k8s.aws/v1', kind: 'EC2NodeClass', metadata: { name: 'tried' }, spec };
  try {
    const made = await client.create(KIND, object, { dryRun: true, fieldValidation: 'Strict' });
    return { what, spec, accepted: true, defaults: changed(spec, made.spec) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    // A server that stops at the schema adds a cause without a field for the rules it did not come to.
    const fields = (error.status.details?.causes ?? []).flatMap(({ field = '<nil>' }) =>
      field === '<nil>' ? [] : field,
    );
    return { what, spec, accepted: false, fields: [...new Set(fields)].sort() };
  }
}

function changed(before: Readonly<Record<string, unknown>>, after: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(after).filter(([key, value]) => !isDeepStrictEqual(before[key], value)));
}
