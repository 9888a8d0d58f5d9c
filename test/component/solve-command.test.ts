import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'solve-'));
afterAll(() => rmSync(folder, { recursive: true }));

const type = {
  Name: 'm.large',
  Arch: 'amd64',
  CPUm: 2000,
  MemMi: 8192,
  Pods: 29,
  OvCPUm: 70,
  OvMi: 500,
  Offerings: [
    { Zone: 'a', CT: 'on-demand', Price: 0.1 },
    { Zone: 'b', CT: 'spot', Price: 0.04 },
  ],
};
const pods = [{ Count: 3, CPUm: 900, MemMi: 512, Labels: { app: 'web' } }];

function write(name: string, content: unknown): string {
  const path = join(folder, name);
  const text = JSON.stringify(content);
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/solve.ts', ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('the solve command', () => {
  it.each(['problem.json', 'problem.json.gz'])('prints one line of figures for %s', (name) => {
    const { status, stdout } = run(write(name, { InstanceTypes: [type], Pods: pods }), '--quality', 'fast');
    expect(status).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    const figures = JSON.parse(stdout);
    expect(figures).toMatchObject({ pods: 3, placed: 3, nodes: 2, cost: 0.08, verified: true });
    expect(Object.keys(figures)).toEqual([
      'pods',
      'placed',
      'nodes',
      'cost',
      'lowerBound',
      'solveMs',
      'podsPerSecond',
      'peakRssMb',
      'verified',
      'warm',
    ]);
  });

  it('warms the engine up first, unless it should not', () => {
    const path = write('p.json', { InstanceTypes: [type], Pods: pods });
    expect(JSON.parse(run(path).stdout)).toMatchObject({ warm: true });
    expect(JSON.parse(run(path, '--cold').stdout)).toMatchObject({ warm: false });
  });

  it('writes the plan, with an order in which it can be bound', () => {
    const out = join(folder, 'solution.json');
    run(write('p.json', { InstanceTypes: [type], Pods: pods }), '--out', out);
    const plan = JSON.parse(readFileSync(out, 'utf8'));
    expect(plan.nodes[0]).toMatchObject({ instanceType: 'm.large', zone: 'b', capacityType: 'spot', price: 0.04 });
    expect(plan.nodes.flatMap((node: { pods: number[] }) => node.pods).sort()).toEqual([0, 1, 2]);
    expect([...plan.order].sort()).toEqual([0, 1, 2]);
    expect(plan.unscheduled).toEqual([]);
  });

  it('keeps pods that fit nowhere apart', () => {
    const Pods = [...pods, { Count: 1, CPUm: 5000, MemMi: 1 }];
    const { stdout } = run(write('p.json', { InstanceTypes: [type], Pods }));
    expect(JSON.parse(stdout)).toMatchObject({ pods: 4, placed: 3, verified: true });
  });

  it.each([
    ['no problem', [], 'name exactly one problem file'],
    ['a quality that is none', ['p.json', '--quality', 'best'], '--quality is best, but it must be fast or balanced'],
    ['no time', ['p.json', '--deadline-ms', '0'], '--deadline-ms is 0, but it must be a number above 0'],
    ['half a run', ['p.json', '--runs', '0.5'], '--runs is 0.5, but it must be a whole number above 0'],
    ['a file that is not there', ['nowhere.json'], 'nowhere.json: cannot be read'],
  ])('refuses %s in one sentence', (_, args, sentence) => {
    const { status, stdout, stderr } = run(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr.trim()).toContain(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it.each([
    ['the problem: InstanceTypes must not be empty', { InstanceTypes: [], Pods: pods }],
    [
      'instance type m.large: CPUm must be a whole number of at least 0, not -1',
      { InstanceTypes: [{ ...type, CPUm: -1 }], Pods: pods },
    ],
    ['instance type m.large: Name must be unique in the file', { InstanceTypes: [type, type], Pods: pods }],
    [
      'instance type m.large, Offerings[0]: Price must be a price of at least 0, not "free"',
      { InstanceTypes: [{ ...type, Offerings: [{ Zone: 'a', CT: 'spot', Price: 'free' }] }], Pods: pods },
    ],
    [
      'instance type m.large, Offerings[0]: CT must be on-demand or spot, not "lease"',
      { InstanceTypes: [{ ...type, Offerings: [{ Zone: 'a', CT: 'lease', Price: 1 }] }], Pods: pods },
    ],
    ['Pods[0]: Count must be a whole number of at least 0, not 1.5', { InstanceTypes: [type], Pods: [{ Count: 1.5 }] }],
    ['Pods[0]: AffZone.app must be a text, not 7', { InstanceTypes: [type], Pods: [{ AffZone: { app: 7 } }] }],
    ['the problem: itself must be an object, not [1]', [1]],
  ])('says what is wrong in a problem: %s', (sentence, problem) => {
    const { status, stderr } = run(write('wrong.json', problem));
    expect(status).toBe(1);
    expect(stderr.trim()).toBe(sentence);
  });
});
