/** The Scheduled Events endpoint of an Azure VM, as documented: its header, its versions, and an incarnation that counts changes. */
import type { AskMetadata } from '../metadata/ask-metadata.ts';

export interface AzureEvent {
  readonly EventId: string;
  readonly EventType: 'Freeze' | 'Reboot' | 'Redeploy' | 'Preempt' | 'Terminate';
  readonly Resources: readonly string[];
  readonly EventStatus?: 'Scheduled' | 'Started';
  readonly NotBefore: string;
  readonly ResourceType?: string;
}

export class AzureMetadata {
  readonly vmName: string;
  requests = 0;
  /** Requests that would have approved an event. */
  approvals = 0;
  #incarnation = 0;
  #events: readonly AzureEvent[] = [];

  constructor(vmName: string) {
    this.vmName = vmName;
  }

  set(events: readonly AzureEvent[]): void {
    this.#events = events;
    this.#incarnation++;
  }

  readonly ask: AskMetadata = async ({ method, path, headers }) => {
    this.requests++;
    const url = new URL(path, 'http://metadata');
    const bad = (body: string) => ({ status: 400, headers: {}, body: JSON.stringify({ error: body }) });
    if (method !== 'GET') this.approvals++;
    if ((headers.Metadata ?? headers.metadata) !== 'true')
      return bad('Bad request. Required metadata header not specified');
    if (headers['X-Forwarded-For'] !== undefined) return bad('Bad request. X-Forwarded-For is not supported');
    if (url.searchParams.get('api-version') === null) return bad('Bad request. api-version was not specified');
    if (url.pathname === '/metadata/instance/compute')
      return { status: 200, headers: {}, body: JSON.stringify({ name: this.vmName, provider: 'Microsoft.Compute' }) };
    if (url.pathname !== '/metadata/scheduledevents') return { status: 404, headers: {}, body: '' };
    const Events = this.#events.map((event) => ({
      EventStatus: 'Scheduled',
      ResourceType: 'VirtualMachine',
      Description: '',
      EventSource: 'Platform',
      DurationInSeconds: -1,
      ...event,
    }));
    return { status: 200, headers: {}, body: JSON.stringify({ DocumentIncarnation: this.#incarnation, Events }) };
  };
}
