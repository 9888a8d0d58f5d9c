/** APIs of the account rather than of a region: tags, resource groups, and the Global Catalog. */
import type { Clock } from '../../../platform/clock.ts';
import type { HttpService } from './http-service.ts';
import { IbmApi } from './ibm-api.ts';

export interface AccountClientOptions {
  readonly clock: Clock;
  readonly tagging: HttpService;
  readonly resourceManager: HttpService;
}

/** An ID of a resource group has 32 hexadecimal digits; anything else is a name. */
const RESOURCE_GROUP_ID = /^[0-9a-f]{32}$/;

export class AccountClient {
  readonly #tagging: IbmApi;
  readonly #resources: IbmApi;

  constructor({ clock, tagging, resourceManager }: AccountClientOptions) {
    this.#tagging = new IbmApi({ service: tagging, clock });
    this.#resources = new IbmApi({ service: resourceManager, clock });
  }

  /** Attaches user tags to a resource; existing tags stay. */
  async attachTags(crn: string, tags: readonly string[], signal: AbortSignal): Promise<void> {
    const body = { resources: [{ resource_id: crn }], tag_names: tags };
    const call = { method: 'POST', path: '/v3/tags/attach', query: { tag_type: 'user' }, body } as const;
    await this.#tagging.call('AttachTag', call, signal);
  }

  async tagsOf(crn: string, signal: AbortSignal): Promise<readonly string[]> {
    const call = { method: 'GET', path: '/v3/tags', query: { attached_to: crn, limit: 100 } } as const;
    const { items } = await this.#tagging.call<{ items: readonly { name: string }[] }>('ListTags', call, signal);
    return items.map(({ name }) => name);
  }

  /** The ID of a resource group given by ID or name; undefined if there is none of that name. */
  async resourceGroupId(idOrName: string, signal: AbortSignal): Promise<string | undefined> {
    if (RESOURCE_GROUP_ID.test(idOrName)) return idOrName;
    const call = { method: 'GET', path: '/v2/resource_groups', query: { name: idOrName } } as const;
    const { resources } = await this.#resources.call<{ resources: readonly { id: string; name: string }[] }>(
      'ListResourceGroups',
      call,
      signal,
    );
    return resources.find(({ name }) => name === idOrName)?.id;
  }
}
