/** Provider IDs of AWS: `aws:///us-east-1a/i-0123`. */

export interface ParsedProviderID {
  readonly zone: string;
  readonly instanceId: string;
}

export function providerIDOf(zone: string, instanceId: string): string {
  return `aws:///${zone}/${instanceId}`;
}

/** Zone and instance; undefined for the provider ID of another cloud. */
export function parseProviderID(providerID: string): ParsedProviderID | undefined {
  const [, zone, instanceId] = /^aws:\/\/\/([^/]*)\/([^/]+)$/.exec(providerID) ?? [];
  return zone === undefined || instanceId === undefined ? undefined : { zone, instanceId };
}
