import { isIP, isIPv4 } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';

class Ip {
  readonly family: 4 | 6;
  readonly bits: bigint;

  constructor(family: 4 | 6, bits: bigint) {
    this.family = family;
    this.bits = bits;
  }

  toString(): string {
    if (this.family === 4) return [24n, 16n, 8n, 0n].map((shift) => (this.bits >> shift) & 255n).join('.');
    const groups = Array.from({ length: 8 }, (_, index) => (this.bits >> BigInt(112 - 16 * index)) & 0xffffn);
    return compress(groups.map((group) => group.toString(16)));
  }
}

class Cidr {
  readonly ip: Ip;
  readonly length: number;

  constructor(ip: Ip, length: number) {
    this.ip = ip;
    this.length = length;
  }

  masked(ip: Ip): bigint {
    const host = BigInt((this.ip.family === 4 ? 32 : 128) - this.length);
    return (ip.bits >> host) << host;
  }

  contains(ip: Ip): boolean {
    return ip.family === this.ip.family && this.masked(ip) === this.masked(this.ip);
  }

  toString(): string {
    return `${this.ip}/${this.length}`;
  }
}

/** Writes `::` for the first longest run of two or more zero groups, as in the canonical form. */
function compress(groups: readonly string[]): string {
  let [start, length] = [0, 0];
  for (let from = 0; from < groups.length; from++) {
    let to = from;
    while (groups[to] === '0') to++;
    if (to - from > length) [start, length] = [from, to - from];
  }
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`;
}

function parseIp(text: string): Ip | undefined {
  const family = isIP(text);
  if (family === 0 || text.includes('%')) return undefined;
  if (family === 4)
    return new Ip(
      4,
      text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n),
    );
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  // IPv4 addresses in IPv6 notation are refused, because they are ambiguous.
  if (dotted !== null && isIPv4(dotted[2] as string)) return undefined;
  const [head = '', tail] = text.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined ? left : [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return new Ip(
    6,
    groups.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n),
  );
}

function parseCidr(text: string): Cidr | undefined {
  const [address = '', length = '', ...rest] = text.split('/');
  const ip = parseIp(address);
  if (ip === undefined || rest.length > 0 || !/^(?:0|[1-9]\d{0,2})$/.test(length)) return undefined;
  return Number(length) > (ip.family === 4 ? 32 : 128) ? undefined : new Cidr(ip, Number(length));
}

function orThrow<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new Error(message);
  return value;
}

const toIp = (text: string): Ip =>
  orThrow(parseIp(text), `IP Address "${text}" parse error during conversion from string`);
const toCidr = (text: string): Cidr =>
  orThrow(parseCidr(text), `CIDR "${text}" parse error during conversion from string`);

function within(ip: Ip, ...ranges: string[]): boolean {
  return ranges.some((range) => parseCidr(range)?.contains(ip) === true);
}

function isGlobalUnicast(ip: Ip): boolean {
  return !within(
    ip,
    '0.0.0.0/32',
    '255.255.255.255/32',
    '127.0.0.0/8',
    '224.0.0.0/4',
    '169.254.0.0/16',
    '::/127',
    'ff00::/8',
    'fe80::/10',
  );
}

/** The value of the name `ip` in rules, for `ip.isCanonical`. */
class IpNamespace {}

/** `ip()`, `isIP()`, `cidr()`, `isCIDR()` and the methods of addresses and ranges. */
export function registerIps(env: Environment): void {
  env
    .registerType('net.IP', { ctor: Ip, fields: {} })
    .registerType('net.CIDR', { ctor: Cidr, fields: {} })
    .registerFunction('ip(string): net.IP', toIp)
    .registerType('IpNamespace', IpNamespace)
    .registerConstant('ip', 'IpNamespace', new IpNamespace())
    .registerFunction('IpNamespace.isCanonical(string): bool', (_, text: string) => String(toIp(text)) === text)
    .registerFunction('isIP(string): bool', (text: string) => parseIp(text) !== undefined)
    .registerFunction('net.IP.family(): int', (ip: Ip) => BigInt(ip.family))
    .registerFunction('net.IP.isUnspecified(): bool', (ip: Ip) => ip.bits === 0n)
    .registerFunction('net.IP.isLoopback(): bool', (ip: Ip) => within(ip, '127.0.0.0/8', '::1/128'))
    .registerFunction('net.IP.isLinkLocalMulticast(): bool', (ip: Ip) => within(ip, '224.0.0.0/24', 'ff02::/16'))
    .registerFunction('net.IP.isLinkLocalUnicast(): bool', (ip: Ip) => within(ip, '169.254.0.0/16', 'fe80::/10'))
    .registerFunction('net.IP.isGlobalUnicast(): bool', isGlobalUnicast)
    .registerFunction('string(net.IP): string', String)
    .registerFunction('cidr(string): net.CIDR', toCidr)
    .registerFunction('isCIDR(string): bool', (text: string) => parseCidr(text) !== undefined)
    .registerFunction('net.CIDR.containsIP(string): bool', (range: Cidr, text: string) => range.contains(toIp(text)))
    .registerFunction('net.CIDR.containsIP(net.IP): bool', (range: Cidr, ip: Ip) => range.contains(ip))
    .registerFunction('net.CIDR.containsCIDR(string): bool', (range: Cidr, text: string) => covers(range, toCidr(text)))
    .registerFunction('net.CIDR.containsCIDR(net.CIDR): bool', covers)
    .registerFunction('net.CIDR.ip(): net.IP', (range: Cidr) => range.ip)
    .registerFunction('net.CIDR.prefixLength(): int', (range: Cidr) => BigInt(range.length))
    .registerFunction(
      'net.CIDR.masked(): net.CIDR',
      (range: Cidr) => new Cidr(new Ip(range.ip.family, range.masked(range.ip)), range.length),
    )
    .registerFunction('string(net.CIDR): string', String)
    .registerOperator('net.IP == net.IP', (a: Ip, b: Ip) => a.family === b.family && a.bits === b.bits)
    .registerOperator('net.CIDR == net.CIDR', (a: Cidr, b: Cidr) => String(a) === String(b));
}

function covers(outer: Cidr, inner: Cidr): boolean {
  return inner.length >= outer.length && outer.contains(inner.ip);
}
