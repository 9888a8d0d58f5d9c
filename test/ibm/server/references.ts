/** Identifiers and references as the VPC API writes them: href, crn, and an id with the prefix of its zone or region. */
import type { Random } from '../../../src/platform/random.ts';

export const ACCOUNT = '3f2a7c4b9d0e4d1f8a6b5c4d3e2f1a0b';

export interface Reference {
  readonly crn: string;
  readonly href: string;
  readonly id: string;
  readonly name: string;
}

export interface TypedReference extends Reference {
  readonly resource_type: string;
}

/** Makes identifiers and addresses of one region. */
export class References {
  readonly region: string;
  readonly base: string;
  readonly #random: Random;

  constructor(options: { region: string; base: string; random: Random }) {
    this.region = options.region;
    this.base = options.base;
    this.#random = options.random;
  }

  /** `0717_<uuid>`: instances have an underscore after the prefix of the zone, all else has a hyphen. */
  zonalId(zone: string, separator: '_' | '-'): string {
    return `${zonePrefix(zone)}${separator}${this.#random.uuid()}`;
  }

  regionalId(): string {
    return `r006-${this.#random.uuid()}`;
  }

  uuid(): string {
    return this.#random.uuid();
  }

  href(path: string): string {
    return `${this.base}${path}`;
  }

  crn(kind: string, id: string, place = this.region): string {
    return `crn:v1:bluemix:public:is:${place}:a/${ACCOUNT}::${kind}:${id}`;
  }

  reference(kind: string, plural: string, id: string, name: string, place?: string): Reference {
    return { crn: this.crn(kind, id, place), href: this.href(`/${plural}/${id}`), id, name };
  }

  typed(kind: string, plural: string, id: string, name: string, type: string, place?: string): TypedReference {
    return { ...this.reference(kind, plural, id, name, place), resource_type: type };
  }

  zone(name: string): { href: string; name: string } {
    return { href: this.href(`/regions/${this.region}/zones/${name}`), name };
  }
}

/** Zones of a region have prefixes that follow from their number: us-south-1 is 0717, the next 0727, ... */
export function zonePrefix(zone: string): string {
  return `07${Number(zone.at(-1)) || 0}7`;
}
