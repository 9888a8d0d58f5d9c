import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type Resource, resource } from '../../../src/apis/kubernetes/object.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
} from '../../../src/apis/schema/custom-resource-definition.ts';
import type { KubeClient } from '../../../src/kube/client.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { untilSo } from '../../kubernetes/harness/until-so.ts';

export interface PublishedDefinitions {
  /** A folder of CustomResourceDefinitions. */
  readonly definitions: string;
  /** Labels that name the contract of the kinds; the published files lack them. */
  readonly contract: Readonly<Record<string, string>>;
}

/** Installs definitions as published, and resolves when all kinds are served. Without a webhook, versions are not converted. */
export async function installPublished(
  client: KubeClient,
  { definitions: folder, contract }: PublishedDefinitions,
  webhook?: { readonly url: string; readonly caBundle: string },
): Promise<void> {
  const definitions = readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => manifestsIn(join(folder, file)) as CustomResourceDefinition[]);
  const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: webhook } };
  for (const definition of definitions) {
    const converts = webhook !== undefined && definition.spec.versions.length > 1;
    const object = {
      ...definition,
      metadata: { ...definition.metadata, labels: contract },
      spec: { ...definition.spec, ...(converts && { conversion }) },
    };
    await client.create(CUSTOM_RESOURCE_DEFINITIONS as Resource, object);
  }
  const clock = new RealClock();
  for (const { spec } of definitions) {
    const version = spec.versions.find(({ storage }) => storage)?.name;
    const scope = spec.scope === 'Namespaced' ? 'namespaced' : 'cluster';
    const kind = resource(`${spec.group}/${version}`, spec.names.kind, spec.names.plural, scope);
    const missing = (): Promise<string | undefined> =>
      client.list(kind).then(
        () => undefined,
        () => `${kind.plural} are not served`,
      );
    await untilSo({ clock, withinMs: 60_000, missing });
  }
}

/** All documents of a YAML file. */
export function manifestsIn(file: string): unknown[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS());
}
