/** How the results of Karpenter's suite are read and shown. */
import { describe, expect, it } from 'vitest';
import { readOptions } from '../../kubernetes/karpenter-suite/options.ts';
import { resultTable } from '../../kubernetes/karpenter-suite/result-table.ts';
import { resultOf } from '../../kubernetes/karpenter-suite/run-spec.ts';
import type { SpecResult } from '../../kubernetes/karpenter-suite/spec.ts';
import { SpecQueue } from '../../kubernetes/karpenter-suite/spec-queue.ts';
import { excuseOf, limitMsOf, readSpecRules } from '../../kubernetes/karpenter-suite/spec-rules.ts';

const report = (...specs: object[]): string => JSON.stringify([{ SpecReports: specs }]);
const it_ = (State: string, more: object = {}): object => ({ LeafNodeType: 'It', State, ...more });

describe('the report of a spec', () => {
  it('says that it passed, beside all those that were not asked for', () => {
    const text = report({ LeafNodeType: 'BeforeSuite', State: 'passed' }, it_('skipped'), it_('passed'));
    expect(resultOf('a', text, 12)).toEqual({ spec: 'a', outcome: 'passed', seconds: 12 });
  });

  it('says what failed, in the spec or around it', () => {
    const failed = it_('failed', { Failure: { Message: 'expected 1\n  to equal 2' } });
    expect(resultOf('a', report(failed), 1)).toMatchObject({ outcome: 'failed', message: 'expected 1\n  to equal 2' });
    const setUp = { LeafNodeType: 'BeforeSuite', State: 'panicked', Failure: { Message: 'no cluster' } };
    expect(resultOf('a', report(setUp, it_('skipped')), 1)).toMatchObject({ outcome: 'failed', message: 'no cluster' });
  });

  it('says where a spec was still waiting when its time was over', () => {
    const Stack = [
      { Filename: 'gomega/async.go', Line: 5 },
      { Filename: 'x/drift_test.go', Line: 7, Highlight: true },
    ];
    const Failure = {
      Message: 'A suite timeout occurred',
      ProgressReport: { Goroutines: [{ IsSpecGoroutine: true, Stack }] },
    };
    expect(resultOf('a', report(it_('timedout', { Failure })), 1)).toMatchObject({
      outcome: 'timed out',
      message: 'still waiting at drift_test.go:7',
    });
  });

  it('of a spec that leaves itself out is not a success', () => {
    expect(resultOf('a', report(it_('skipped')), 1)).toMatchObject({ outcome: 'skipped' });
  });
});

describe('the table', () => {
  const specs = ['Drift a', 'Drift b', 'Chaos c'].map((name) => ({ name, group: name.split(' ')[0] as string }));

  it('counts by group, and names what did not pass with its reason', () => {
    const results: Record<string, SpecResult> = {
      'Drift a': { spec: 'Drift a', outcome: 'passed', seconds: 1 },
      'Drift b': { spec: 'Drift b', outcome: 'failed', seconds: 1, message: 'wrong\nlines' },
    };
    const excuses: Record<string, string> = { 'Chaos c': 'not there yet' };
    const column = {
      title: 'us',
      resultOf: (spec: string) => results[spec],
      excuseOf: (spec: string) => excuses[spec],
    };
    expect(resultTable(specs, [column]).split('\n')).toEqual([
      '| specs | number | us |',
      '| --- | --: | --- |',
      '| Chaos | 1 | 1 excused |',
      '| Drift | 2 | 1 passed, 1 failed |',
      '| **all** | 3 | 1 passed, 1 failed, 1 excused |',
      '',
      'us: specs that did not pass',
      '',
      '- failed: Drift b (wrong)',
      '- excused: Chaos c (not there yet)',
    ]);
  });

  it('names specs of a group together that share a reason', () => {
    const column = { title: 'us', resultOf: () => undefined, excuseOf: () => 'not there yet' };
    expect(resultTable(specs, [column])).toContain('- excused: 2 specs of Drift (not there yet)\n- excused: Chaos c (');
  });

  it('shows an excused spec that passes as passed', () => {
    const passed = { spec: 'Chaos c', outcome: 'passed', seconds: 1 } as const;
    const column = { title: 'us', resultOf: () => passed, excuseOf: () => 'not there yet' };
    expect(resultTable(specs.slice(2), [column])).toContain('| Chaos | 1 | 1 passed |');
  });
});

describe('the rules of specs', () => {
  const rules = readSpecRules();

  it('excuse each contender and each ground by themselves', () => {
    const own = { ...rules, excused: [{ spec: 'A', contender: 'spindrift', on: 'real', reason: 'why' }] as const };
    expect(excuseOf(own, 'A b', 'spindrift', 'real')).toBe('why');
    expect(excuseOf(own, 'A b', 'karpenter', 'real')).toBeUndefined();
    expect(excuseOf(own, 'A b', 'spindrift', 'embedded')).toBeUndefined();
  });

  it('give every excuse and every slow spec a reason', () => {
    for (const { reason } of [...rules.excused, ...rules.slow, ...rules.ci]) expect(reason.length).toBeGreaterThan(3);
  });

  it('keep what CI runs short', () => {
    for (const { spec } of rules.ci) expect(limitMsOf(rules, spec)).toBeLessThanOrEqual(240_000);
  });
});

describe('the queue', () => {
  it('hands out only one at a time of those that cannot run side by side', () => {
    const specs = ['Chaos a', 'Chaos b', 'Drift c'].map((name) => ({ name, group: '' }));
    const queue = new SpecQueue(specs, (spec) => spec.startsWith('Chaos'));
    expect([queue.take()?.name, queue.take()?.name, queue.take()?.name]).toEqual(['Chaos a', 'Drift c', undefined]);
    queue.done('Drift c');
    expect(queue.take()).toBeUndefined();
    queue.done('Chaos a');
    expect(queue.take()?.name).toBe('Chaos b');
  });
});

describe('the options', () => {
  it('have defaults, and say what is wrong with others', () => {
    expect(readOptions([])).toMatchObject({ contender: 'spindrift', on: 'real', part: 'all', clusters: 2 });
    expect(readOptions(['--on', 'mars'])).toBe('--on is mars, but it must be real or embedded');
    expect(readOptions(['--contender', 'x'])).toContain('spindrift or karpenter');
    expect(readOptions(['--clusters', '99'])).toContain('from 1 to 8');
    expect(readOptions(['--nonsense'])).toContain('nonsense');
  });
});
