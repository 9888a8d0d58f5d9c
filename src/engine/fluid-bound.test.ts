import { describe, expect, it } from 'vitest';
import { compileModel } from './compile/model.ts';
import { fluidBound } from './fluid-bound.ts';
import type { Problem } from './problem.ts';
import { aPod, aProblem, aType, GIB, onDemand, oneOf } from './testkit/builders.ts';

function boundOf(problem: Problem): number {
  const model = compileModel(problem, { preferences: false, preferenceSlack: 0 });
  return fluidBound(
    model,
    Int32Array.from(model.classes, ({ pods }) => pods.length),
  );
}

const shaped = (name: string, cpu: number, gib: number, price: number) =>
  aType({ name, capacity: { cpu, memory: gib * GIB, pods: 1000 }, offerings: onDemand(price, 'a') });

describe('the price of pods that can be cut', () => {
  it('is that of the cheapest mix of machines', () => {
    const instanceTypes = [shaped('cores', 4000, 8, 1), shaped('memory', 2000, 16, 1.2)];
    const pods = [aPod({ count: 6, requests: { cpu: 1000, memory: 4 * GIB } })];
    expect(boundOf(aProblem({ pods, instanceTypes }))).toBeCloseTo(2.2, 6);
  });

  it('counts only what the pods may run on', () => {
    const arch = 'kubernetes.io/arch';
    const types = [
      { ...shaped('amd', 4000, 8, 1), labels: { [arch]: 'amd64' } },
      { ...shaped('arm', 4000, 8, 0.5), labels: { [arch]: 'arm64' } },
    ];
    const pod = (value: string) =>
      aPod({ name: value, count: 4, requests: { cpu: 1000, memory: GIB }, requirements: [[oneOf(arch, value)]] });
    expect(boundOf(aProblem({ pods: [pod('amd64'), pod('arm64')], instanceTypes: types }))).toBeCloseTo(1.5, 6);
    const free = aPod({ name: 'any', count: 4, requests: { cpu: 1000, memory: GIB } });
    expect(boundOf(aProblem({ pods: [pod('amd64'), free], instanceTypes: types }))).toBeCloseTo(1, 6);
  });

  it('gives slots of reservations away', () => {
    const offerings = [
      { zone: 'a', capacityType: 'reserved' as const, price: 0, reservationId: 'r', slots: 1 },
      ...onDemand(1, 'a'),
    ];
    const pods = [aPod({ count: 8, requests: { cpu: 1000, memory: GIB } })];
    expect(boundOf(aProblem({ pods, instanceTypes: [aType({ offerings })] }))).toBeCloseTo(1, 6);
  });
});
