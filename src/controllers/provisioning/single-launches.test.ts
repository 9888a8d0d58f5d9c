import { expect, it } from 'vitest';
import type { NewNode } from '../../engine/solution.ts';
import { type Launch, singleLaunches } from './single-launches.ts';

function launch(pool: string, attempts: Record<string, number>): Launch {
  const node: NewNode = { pool, requirements: [], offerings: [], price: 1, pods: [], requests: {} };
  return { node, attempts: new Map(Object.entries({ '*': 2, ...attempts })) };
}

function numbers(launches: readonly Launch[], onTrial: readonly string[] = []): number[] {
  const allowed = singleLaunches(launches, (pool) => onTrial.includes(pool));
  return [...launches.keys()].filter((index) => allowed.has(launches[index]!.node));
}

it('lets the first two launches for a demand have as many nodes as they need', () => {
  expect(
    numbers([launch('a', { web: 1 }), launch('a', { web: 1 }), launch('a', { db: 2 }), launch('a', { db: 2 })]),
  ).toEqual([0, 1, 2, 3]);
});

it('gives a demand one node from the third launch on, and the others what they need', () => {
  const launches = [launch('a', { web: 3 }), launch('a', { web: 3 }), launch('b', { web: 3 }), launch('a', { db: 1 })];
  expect(numbers(launches)).toEqual([0, 3]);
});

it('does not hold back a node that also others need', () => {
  expect(numbers([launch('a', { web: 3 }), launch('a', { web: 3, db: 1 })])).toEqual([0, 1]);
});

it('gives a pool whose nodes do not join one node, whoever it is for', () => {
  expect(numbers([launch('a', { web: 1 }), launch('a', { db: 1 }), launch('b', { db: 1 })], ['a'])).toEqual([0, 2]);
});
