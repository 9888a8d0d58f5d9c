import { CORE_DEFINITIONS } from '../apis/core-definitions.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../apis/schema/custom-resource-definition.ts';
import type { LoadedCloud } from '../cloud/cloud-module.ts';
import type { KubeClient } from '../kube/client.ts';

/** Applies the definitions of our kinds, and of these clouds' node classes, and waits until each is served. */
export async function installDefinitions(
  client: KubeClient,
  clouds: readonly LoadedCloud[],
  signal: AbortSignal,
): Promise<void> {
  for (const definition of [...CORE_DEFINITIONS, ...clouds.map(({ nodeClass }) => nodeClass.definition)]) {
    const name = definition.metadata.name ?? '';
    const patch = { type: 'apply', body: definition, force: true } as const;
    await client.patch(CUSTOM_RESOURCE_DEFINITIONS, { name }, patch, { fieldManager: 'spindrift', signal });
    const query = { fieldSelector: `metadata.name=${name}` };
    for await (const event of client.watch(CUSTOM_RESOURCE_DEFINITIONS, query, { signal })) {
      if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
      // A real API server writes null before it writes the first condition.
      const conditions = (event.object as Conditioned).status?.conditions ?? [];
      if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) break;
    }
  }
}

interface Conditioned {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null };
}
