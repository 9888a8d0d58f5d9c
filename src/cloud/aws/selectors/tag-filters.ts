import type { Filter } from '@aws-sdk/client-ec2';

/** Filters for tags; the value `*` asks for the key only. */
export function tagFilters(tags: Readonly<Record<string, string>> = {}): Filter[] {
  return Object.entries(tags).map(([key, value]) =>
    value === '*' ? { Name: 'tag-key', Values: [key] } : { Name: `tag:${key}`, Values: [value] },
  );
}

/** A selector as a person would write it, for sentences that say that it found nothing. */
export function selectorText(terms: readonly unknown[]): string {
  return JSON.stringify(terms);
}
