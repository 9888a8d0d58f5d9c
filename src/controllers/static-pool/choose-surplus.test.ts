import { expect, it } from 'vitest';
import { aStateNode, ON_DEMAND, SPOT } from '../../state/testkit/a-state-node.ts';
import { DEFAULT_SPOT_SETTINGS } from '../spot-policy/spot-settings.ts';
import { chooseSurplus } from './choose-surplus.ts';

const onDemand = (name: string) => aStateNode({ name, launched: ON_DEMAND });
const spot = (name: string) => aStateNode({ name, launched: SPOT });
const policies = (onDemandBase: number) => ({
  for: () => ({ ...DEFAULT_SPOT_SETTINGS, limits: { ...DEFAULT_SPOT_SETTINGS.limits, onDemandBase } }),
});
const names = (nodes: readonly { readonly name: string }[]) => nodes.map(({ name }) => name);

it('takes the first nodes where no policy asks for on-demand nodes', () => {
  const ordered = [onDemand('od1'), onDemand('od2'), spot('s1'), spot('s2')];
  expect(names(chooseSurplus(ordered, 2, policies(0)))).toEqual(['od1', 'od2']);
});

it('passes on-demand nodes over that a policy asks for, while others are left', () => {
  const ordered = [onDemand('od1'), onDemand('od2'), spot('s1'), spot('s2')];
  expect(names(chooseSurplus(ordered, 2, policies(1)))).toEqual(['od1', 's1']);
  expect(names(chooseSurplus(ordered, 2, policies(2)))).toEqual(['s1', 's2']);
  expect(chooseSurplus(ordered, 4, policies(2))).toHaveLength(4);
});
