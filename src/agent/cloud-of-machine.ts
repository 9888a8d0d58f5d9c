/** Detects the cloud of a machine, without credentials and without calling a cloud. */

import { NODES } from '../apis/kubernetes/node.ts';
import type { KubeClient } from '../kube/client.ts';

export const AGENT_CLOUDS = ['aws', 'gcp', 'azure', 'none'] as const;
export type AgentCloud = (typeof AGENT_CLOUDS)[number];

const SCHEMES: Readonly<Record<string, AgentCloud>> = { aws: 'aws', gce: 'gcp', azure: 'azure' };
/** The chassis asset tag of Azure VMs, whatever the vendor is called. */
const AZURE_ASSET_TAG = '7783-7084-3265-9085-8269-3286-77';
const FIRMWARE = ['sys_vendor', 'board_vendor', 'product_name', 'bios_vendor', 'chassis_asset_tag'];

/** By the scheme of a provider ID; undefined when there is none. */
export function cloudOfProviderID(providerID: string | undefined): AgentCloud | undefined {
  const scheme = /^([a-z]+):\/\//.exec(providerID ?? '')?.[1];
  return scheme === undefined ? undefined : (SCHEMES[scheme] ?? 'none');
}

/** By the firmware; `read` returns the text of a file, or undefined. */
export async function cloudOfFirmware(read: (file: string) => Promise<string | undefined>): Promise<AgentCloud> {
  const texts = await Promise.all(FIRMWARE.map((name) => read(`/sys/class/dmi/id/${name}`)));
  const all = texts.join('\n');
  if (all.includes('Amazon')) return 'aws';
  if (all.includes('Google')) return 'gcp';
  return all.includes(AZURE_ASSET_TAG) ? 'azure' : 'none';
}

/** The cloud of a node: by its provider ID where the API server gives it, else by the firmware. */
export async function cloudOfMachine(
  client: KubeClient | undefined,
  nodeName: string,
  read: (file: string) => Promise<string | undefined>,
  signal: AbortSignal,
): Promise<{ readonly cloud: AgentCloud; readonly providerID?: string }> {
  const node = await client?.get(NODES, { name: nodeName }, { signal, timeoutMs: 10_000 }).catch(() => undefined);
  signal.throwIfAborted();
  const providerID = node?.spec?.providerID;
  const cloud = cloudOfProviderID(providerID) ?? (await cloudOfFirmware(read));
  return { cloud, ...(providerID !== undefined && { providerID }) };
}
