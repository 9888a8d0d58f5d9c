import { describe, expect, it } from 'vitest';
import { SpindriftError } from '../platform/errors.ts';
import type { Problem } from './problem.ts';
import { solve } from './solve.ts';
import { aNode, aPod, aPool, aProblem } from './testkit/builders.ts';

function refusal(problem: Problem): Record<string, unknown> {
  try {
    solve(problem, { quality: 'fast' });
  } catch (error) {
    if (error instanceof SpindriftError && error.code === 'PROBLEM_INVALID') return error.details;
    throw error;
  }
  throw new Error('was solved');
}

const [type] = aProblem({}).instanceTypes;
const manyValues = Array.from({ length: 10_000 }, (_, index) => `v${index}`);
const wanting = (operator: string, values: string[]): Problem =>
  aProblem({ pods: [aPod({ name: 'p', requirements: [[{ key: 'k', operator: operator as 'In', values }]] })] });

describe('a problem that makes no sense is refused, naming object and field', () => {
  it.each<[string, Problem, string, string]>([
    ['a negative request', aProblem({ pods: [aPod({ name: 'p', requests: { cpu: -1 } })] }), 'pod p', 'requests.cpu'],
    [
      'a request that is no number',
      aProblem({ pods: [aPod({ name: 'p', requests: { cpu: Number.NaN } })] }),
      'pod p',
      'requests.cpu',
    ],
    ['half a pod', aProblem({ pods: [aPod({ name: 'p', count: 0.5 })] }), 'pod p', 'count'],
    ['an empty catalogue', aProblem({ instanceTypes: [] }), 'problem', 'instanceTypes'],
    [
      'a price that is no number',
      aProblem({
        instanceTypes: [{ ...type!, name: 't', offerings: [{ zone: 'a', capacityType: 'spot', price: Number.NaN }] }],
      }),
      'instance type t',
      'offerings[0].price',
    ],
    ['an unknown operator', wanting('Near', ['x']), 'pod p', 'requirements[k]'],
    ['10,000 values', wanting('In', manyValues), 'pod p', 'requirements[k]'],
    ['In without values', wanting('In', []), 'pod p', 'requirements[k]'],
    ['Gt without a number', wanting('Gt', ['many']), 'pod p', 'requirements[k]'],
    ['two pools of one name', aProblem({ pools: [aPool({ name: 'x' }), aPool({ name: 'x' })] }), 'pool x', 'name'],
    ['a negative limit', aProblem({ pools: [aPool({ name: 'x', limits: { cpu: -5 } })] }), 'pool x', 'limits.cpu'],
    [
      'a bound pod on no node',
      aProblem({ boundPods: [{ node: 'gone', namespace: 'n' }] }),
      'bound pod of namespace n',
      'node',
    ],
    [
      'a daemon to come that nobody knows',
      aProblem({ nodes: [aNode({ name: 'n', daemonsToCome: [0] })] }),
      'node n',
      'daemonsToCome',
    ],
    [
      'a skew of nothing',
      aProblem({
        pods: [
          aPod({ name: 'p', topologySpread: [{ topologyKey: 'z', maxSkew: 0, whenUnsatisfiable: 'DoNotSchedule' }] }),
        ],
      }),
      'pod p',
      'topologySpread.maxSkew',
    ],
  ])('%s', (_, problem, object, field) => {
    expect(refusal(problem)).toMatchObject({ object, field });
  });
});

describe('options that make no sense', () => {
  it('are refused too', () => {
    expect(() => solve(aProblem({}), { deadlineMs: Number.NaN, elapsedMs: () => 0 })).toThrow('deadlineMs');
  });
});
