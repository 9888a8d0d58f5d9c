/** Global Tagging and the Resource Manager: what hangs on the account and not on a region. */
import { resourceGroup } from './network-on-wire.ts';
import type { RegionWorld } from './region-world.ts';
import type { WireAnswer, WireRequest } from './wire-request.ts';

export function answerAccount(world: RegionWorld, request: WireRequest): WireAnswer | undefined {
  const { method, path, query } = request;
  if (method === 'POST' && path === '/v3/tags/attach') {
    const { resources, tag_names: names } = JSON.parse(request.body) as {
      resources: readonly { resource_id: string }[];
      tag_names: readonly string[];
    };
    for (const { resource_id: crn } of resources) {
      const tags = world.tags.get(crn) ?? new Set();
      for (const name of names) tags.add(name);
      world.tags.set(crn, tags);
    }
    return { status: 200, body: { results: resources.map(({ resource_id }) => ({ resource_id, is_error: false })) } };
  }
  if (method === 'GET' && path === '/v3/tags') {
    const items = [...(world.tags.get(query.get('attached_to') ?? '') ?? [])].map((name) => ({ name }));
    return { status: 200, body: { total_count: items.length, offset: 0, limit: 100, items } };
  }
  if (method === 'GET' && path === '/v2/resource_groups') {
    const name = query.get('name');
    const resources = world.resourceGroups.filter((one) => name === null || one.name === name);
    return {
      status: 200,
      body: { resources: resources.map((one) => ({ ...resourceGroup(world, one.id), state: 'ACTIVE' })) },
    };
  }
  return undefined;
}
