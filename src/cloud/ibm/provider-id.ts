/** The provider ID of a machine, as set on its kubelet: `ibm:///us-south/0717_<uuid>`. */
export interface MachineAddress {
  readonly region: string;
  readonly id: string;
}

export function providerIDOf({ region, id }: MachineAddress): string {
  return `ibm:///${region}/${id}`;
}

/** Undefined for machines of other clouds, and for workers of IKS. */
export function parseProviderID(providerID: string): MachineAddress | undefined {
  const [, region, id] = /^ibm:\/\/\/([a-z]{2}-[a-z]+)\/([^/]+)$/.exec(providerID) ?? [];
  return region === undefined || id === undefined ? undefined : { region, id };
}
