import type { Filter } from '@aws-sdk/client-ec2';

/** Filters for tags; the value `*` matches any value of the key. */
export function tagFilters(tags: Readonly<Record<string, string>> = {}): Filter[] {
  return Object.entries(tags).map(([key, value]) =>
    value === '*' ? { Name: 'tag-key', Values: [key] } : { Name: `tag:${key}`, Values: [value] },
  );
}

/** The selector as text, for messages that it found nothing. */
export function selectorText(terms: readonly unknown[]): string {
  return JSON.stringify(terms);
}
