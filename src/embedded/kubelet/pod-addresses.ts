/** Addresses of one node and its pods, from private ranges by the node's number. */
export class PodAddresses {
  readonly hostIP: string;
  readonly podCIDR: string;
  readonly #prefix: string;
  readonly #free: number[] = [];
  #next = 2;

  constructor(nodeNumber: number) {
    const high = Math.floor(nodeNumber / 256) % 64;
    const low = nodeNumber % 256;
    this.hostIP = `172.${16 + (high % 16)}.${low}.${10 + Math.floor(high / 16)}`;
    this.#prefix = `10.${128 + high}.${low}`;
    this.podCIDR = `${this.#prefix}.0/24`;
  }

  /** An address that no other pod of the node has. If the range is used up, pods share the last address. */
  take(): string {
    const host = this.#free.pop() ?? Math.min(this.#next++, 254);
    return `${this.#prefix}.${host}`;
  }

  giveBack(address: string): void {
    if (address.startsWith(`${this.#prefix}.`)) this.#free.push(Number(address.slice(this.#prefix.length + 1)));
  }
}
