/**
 * The number of branch interfaces of a machine, which limits the pods with their own security groups. No API returns it. AWS publishes a
 * table; the numbers here are the lowest in it for each size, so that no more is promised than is there.
 */
import type { Shape } from './shape.ts';

/** Families without trunk interfaces. */
const WITHOUT = /^(c1|c3|c4|d2|f1|h1|i2|m1|m2|m3|m4|p3|r3|r4|t\d\w*|u-6tb1|x1|x1e)$/;

const BY_SIZE: Readonly<Record<string, number>> = {
  medium: 4,
  large: 8,
  xlarge: 18,
  '2xlarge': 38,
  '4xlarge': 54,
  '8xlarge': 52,
  '9xlarge': 50,
  '12xlarge': 50,
  '16xlarge': 106,
  '18xlarge': 98,
  '24xlarge': 98,
  '32xlarge': 98,
  '48xlarge': 98,
  metal: 98,
};
const BY_SIZE_OF_FLEX: Readonly<Record<string, number>> = {
  medium: 1,
  large: 3,
  xlarge: 8,
  '2xlarge': 18,
  '4xlarge': 34,
};
const EXCEPTIONS: Readonly<Record<string, number>> = {
  'g5.xlarge': 4,
  'g5.2xlarge': 17,
  'i3en.large': 5,
  'p4d.24xlarge': 62,
};

export function branchInterfaces({ name, hypervisor }: Shape): number {
  const [family = '', size = ''] = name.split('.');
  if (hypervisor === 'xen' || WITHOUT.test(family)) return 0;
  if (/^(g4dn|g5|i3en|i4i|d3|p4d|p5)/.test(family)) return EXCEPTIONS[name] ?? 0;
  const sizes = family.includes('-flex') ? BY_SIZE_OF_FLEX : BY_SIZE;
  return sizes[size.replace(/^metal-.*/, 'metal')] ?? 0;
}
