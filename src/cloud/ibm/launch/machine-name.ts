/**
 * The name of a claim's machine, derived from the cluster and the claim's UID alone. Names are unique in a region, and they are the only
 * way to repeat a create safely on IBM Cloud.
 */
import { createHash } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const CLUSTER_DIGITS = 10;
const CLAIM_DIGITS = 32;

/** The prefix of the names of a cluster's machines. No two clusters in one account share it. */
export function machinePrefix(cluster: string): string {
  return `karp-${digits(cluster, CLUSTER_DIGITS)}-`;
}

/** 48 characters, so that `-boot` and `-vni` still fit into 63. */
export function machineName(cluster: string, claimUID: string): string {
  return `${machinePrefix(cluster)}${UUID.test(claimUID) ? claimUID.replaceAll('-', '') : digits(claimUID, CLAIM_DIGITS)}`;
}

/** The names of the volume and the network interface created with a machine. */
export function bootVolumeName(name: string): string {
  return `${name}-boot`;
}
export function interfaceName(name: string): string {
  return `${name}-vni`;
}

/** The machine that a volume or interface of this name was created with. Undefined if the name has another form. */
export function machineOfPart(part: string): string | undefined {
  return /^(karp-[0-9a-f]{10}-[0-9a-f]{32})-(?:boot|vni|data-\d+)$/.exec(part)?.[1];
}

function digits(text: string, count: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, count);
}
