import { expect, it } from 'vitest';
import { hasFormat } from './formats.ts';

const EXAMPLES: readonly (readonly [format: string, good: readonly string[], bad: readonly string[]])[] = [
  ['date', ['2024-02-29'], ['2023-02-29', '2024-13-01', '2024-1-1']],
  ['date-time', ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00.5+02:00'], ['2020-01-01', '2020-01-01T24:00:00Z', 'x']],
  ['ipv4', ['1.2.3.4'], ['1.2.3', '::1']],
  ['ipv6', ['::1'], ['1.2.3.4']],
  ['cidr', ['10.0.0.0/8', 'fd00::/8'], ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/8/8']],
  ['mac', ['00:11:22:33:44:55', '0011.2233.4455'], ['00:11:22:33:44', 'x']],
  ['uuid', ['123e4567-e89b-12d3-a456-426614174000'], ['123e4567']],
  ['uuid4', ['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-12d3-a456-426614174000']],
  ['hostname', ['a.b-c.example'], ['-a', 'a..b']],
  ['byte', ['aGk='], ['aGk', '***']],
  ['k8s-short-name', ['my-name'], ['My', '-a', 'a'.repeat(64)]],
  ['k8s-long-name', ['a.b-c'], ['a..b']],
  ['some-remark', ['anything'], []],
];

it.each(EXAMPLES)('%s takes what is of it and nothing else', (format, good, bad) => {
  expect(good.filter((text) => !hasFormat(text, format))).toEqual([]);
  expect(bad.filter((text) => hasFormat(text, format))).toEqual([]);
});
