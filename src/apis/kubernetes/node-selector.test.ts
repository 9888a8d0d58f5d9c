import { describe, expect, it } from 'vitest';
import { compileNodeSelectorTerms, requiredNodes } from './node-selector.ts';
import type { NodeSelectorTerm } from './pod.ts';

const LABELS = { zone: 'a', cores: '8' };
const affinity = (...nodeSelectorTerms: NodeSelectorTerm[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

describe('what a pod requires of its node', () => {
  it('is nothing when it has neither a selector nor affinity', () => {
    expect(requiredNodes({}).matches('n1', undefined)).toBe(true);
  });

  it('is every label of its node selector', () => {
    expect(requiredNodes({ nodeSelector: { zone: 'a' } }).matches('n1', LABELS)).toBe(true);
    expect(requiredNodes({ nodeSelector: { zone: 'a', disk: 'ssd' } }).matches('n1', LABELS)).toBe(false);
  });

  it.each<[string, string[] | undefined, boolean]>([
    ['In', ['8', '16'], true],
    ['NotIn', ['8'], false],
    ['Exists', undefined, true],
    ['DoesNotExist', undefined, false],
    ['Gt', ['7'], true],
    ['Lt', ['8'], false],
    ['Gt', ['many'], false],
    ['In', [], false],
    ['Like', ['8'], false],
  ])('cores %s %j on a node with 8 gives %s', (operator, values, expected) => {
    const matcher = requiredNodes(
      affinity({ matchExpressions: [{ key: 'cores', operator, ...(values && { values }) }] }),
    );
    expect(matcher.matches('n1', LABELS)).toBe(expected);
  });

  it('is one of the terms, and the node selector as well', () => {
    const terms = affinity(
      { matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] },
      { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] },
    );
    expect(requiredNodes(terms).matches('n1', LABELS)).toBe(true);
    expect(requiredNodes(terms).matches('n2', LABELS)).toBe(false);
    expect(requiredNodes({ ...terms, nodeSelector: { zone: 'c' } }).matches('n1', LABELS)).toBe(false);
  });

  it('cannot be met by an empty term or by no term', () => {
    expect(requiredNodes(affinity({})).matches('n1', LABELS)).toBe(false);
    expect(requiredNodes(affinity()).matches('n1', LABELS)).toBe(false);
    expect(compileNodeSelectorTerms(undefined).matches('n1', LABELS)).toBe(false);
  });

  it('may exclude a node by name', () => {
    const matcher = requiredNodes(
      affinity({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n1'] }] }),
    );
    expect(matcher.matches('n1', LABELS)).toBe(false);
    expect(matcher.matches('n2', LABELS)).toBe(true);
  });
});
